type ErrorDetails = Record<string, unknown>

/** An error that the caller may see. It is sent as the error envelope (specification, "Errors"). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: ErrorDetails
  /** Sent as `Retry-After`. */
  retryAfterSeconds: number | undefined

  constructor(status: number, code: string, message: string, details: ErrorDetails = {}) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }

  retryAfter(seconds: number): this {
    this.retryAfterSeconds = seconds
    return this
  }

  causedBy(cause: unknown): this {
    this.cause = cause
    return this
  }
}

/** `path` is a JSON pointer (RFC 6901) into the request that starts with body, query or path. */
export type FieldError = { path: string; message: string }

export function invalidRequest(errors: FieldError[]): ApiError {
  const first = errors[0]
  const message = first ? `${first.path}: ${first.message}` : 'The request is not valid.'
  return new ApiError(400, 'invalid_request', message, { errors })
}

export function invalidField(path: string, message: string): ApiError {
  return invalidRequest([{ path, message }])
}

/** Escapes `~` and `/` (RFC 6901 §3). */
export function pointerToken(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A text that is not an id of `what`, where ids are UUIDs. */
export function invalidId(id: string, what: string): ApiError {
  return new ApiError(400, 'invalid_request', `"${id.slice(0, 80)}" is not a ${what} id (a UUID)`)
}

export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `The ${what} does not exist.`)
}

/** A limit that resets at `resetAt`. `reason` is shown in the error's details. */
type ReachedLimit = { limit: number; resetAt: Date; now: Date; reason?: string }

const UNAVAILABLE_RETRY_SECONDS = 5

export function rateLimited(message: string, { limit, resetAt, now, ...details }: ReachedLimit): ApiError {
  const seconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
  const shown = { limit, resetAt: resetAt.toISOString(), ...details }
  return new ApiError(429, 'rate_limited', message, shown).retryAfter(seconds)
}

export function unavailable(cause: unknown): ApiError {
  const message = 'The database or the object store is unreachable. Try again later.'
  return new ApiError(503, 'unavailable', message).retryAfter(UNAVAILABLE_RETRY_SECONDS).causedBy(cause)
}

/** A rejection before the plan is checked. Its body does not tell the reason (decisions §2). */
export class GatewayRejection extends Error {
  readonly status: 401 | 403

  constructor(status: 401 | 403) {
    super(status === 401 ? 'Unauthorized' : 'Forbidden')
    this.status = status
  }
}
