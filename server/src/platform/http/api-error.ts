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

/** A rejection before the plan is checked. Its body does not tell the reason (decisions §2). */
export class GatewayRejection extends Error {
  readonly status: 401 | 403

  constructor(status: 401 | 403) {
    super(status === 401 ? 'Unauthorized' : 'Forbidden')
    this.status = status
  }
}

/** A code, and what its row in docs/errors.md says: Markdown, in sentences. */
export type ErrorDescription = {
  status: number
  code: string
  cause: string
  remedy: string
}

/** Builds the error of one code: `throw policyInUse(gates)`. */
type ErrorKind<Params extends unknown[]> = ((...params: Params) => ApiError) & ErrorDescription

type FixedError = ErrorDescription & { message: string }
type DescribedError<Params extends unknown[]> = ErrorDescription & {
  message: (...params: Params) => string
  details?: (...params: Params) => ErrorDetails
}

/**
 * Declares the only error with this code and status. Without a message, whoever throws it says what
 * happened: `throw trustConflict('…')`.
 */
export function defineError(declared: FixedError): ErrorKind<[]>
export function defineError<Params extends unknown[]>(declared: DescribedError<Params>): ErrorKind<Params>
export function defineError(declared: ErrorDescription): ErrorKind<[message: string, details?: ErrorDetails]>
export function defineError<Params extends unknown[]>(
  declared: ErrorDescription & { message?: string | DescribedError<Params>['message']; details?: unknown },
): ErrorKind<Params> {
  const { status, code, cause, remedy, message } = declared
  const build = (...params: Params): ApiError => {
    if (message === undefined) return new ApiError(status, code, ...(params as unknown as [string, ErrorDetails]))
    if (typeof message === 'string') return new ApiError(status, code, message)
    const { details } = declared as DescribedError<Params>
    return new ApiError(status, code, message(...params), details?.(...params))
  }
  return Object.assign(build, { status, code, cause, remedy })
}
