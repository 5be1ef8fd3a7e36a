export type ErrorDetails = Record<string, unknown>

/** What a caller may know about a failure: it becomes the error envelope as it is (specification, "Errors"). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: ErrorDetails
  /** Seconds until it makes sense to ask again; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    details: ErrorDetails = {},
    retryAfterSeconds?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Where in the request the mistake is, as a JSON pointer (RFC 6901) that starts with body, query or path. */
export type FieldError = { path: string; message: string }

export function invalidRequest(errors: FieldError[]): ApiError {
  const first = errors[0]
  const message = first ? `${first.path}: ${first.message}` : 'The request is not valid.'
  return new ApiError(400, 'invalid_request', message, { errors })
}

export function invalidField(path: string, message: string): ApiError {
  return invalidRequest([{ path, message }])
}

/** RFC 6901 §3: `~` and `/` are escaped inside a token. */
export function pointerToken(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}

export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `No such ${what}.`)
}

/** A limit was reached that opens again at `resetAt`. */
export function rateLimited(message: string, limit: number, resetAt: Date, now: Date, details: ErrorDetails = {}) {
  const seconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
  return new ApiError(429, 'rate_limited', message, { limit, resetAt: resetAt.toISOString(), ...details }, seconds)
}

export function unavailable(cause: unknown): ApiError {
  const message = 'The database or the object store cannot be reached. Try again.'
  return new ApiError(503, 'unavailable', message, {}, 5, { cause })
}

/** A rejection before any plan is looked at: its body says nothing about the reason (decisions §2). */
export class GatewayRejection extends Error {
  readonly status: 401 | 403

  constructor(status: 401 | 403) {
    super(status === 401 ? 'Unauthorized' : 'Forbidden')
    this.status = status
  }
}
