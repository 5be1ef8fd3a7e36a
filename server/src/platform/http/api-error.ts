export type ErrorDetails = Record<string, unknown>

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
