/** An error response of the application's API (`{ error: { code, message, details } }`). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown>
  /** Seconds to wait before the next try, of a 429 or 503. Null if the response does not say. */
  readonly retryAfter: number | null

  constructor(status: number, body: ErrorBody, retryAfter: number | null) {
    super(body.message)
    this.name = 'ApiError'
    this.status = status
    this.code = body.code
    this.details = body.details ?? {}
    this.retryAfter = retryAfter
  }
}

/** A request that got no response: the server or the network is away. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

type ErrorBody = { code: string; message: string; details?: Record<string, unknown> }

/** Reads an error response. A response of something else, such as a proxy, has no error body. */
export async function readApiError(response: Response): Promise<ApiError> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error?: ErrorBody; message?: string } | null
  const unknown = { code: 'unexpected_response', message: `The server responded with status ${response.status}.` }
  const retryAfter = Number(response.headers.get('retry-after'))
  return new ApiError(response.status, body?.error ?? unknown, retryAfter > 0 ? retryAfter : null)
}

/** The API error that a failed query or mutation ended with. Null if no response arrived. */
export function asApiError(error: unknown): ApiError | null {
  return error instanceof ApiError ? error : null
}
