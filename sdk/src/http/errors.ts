/** What a server said about a request that it refused. */
export type Refusal = {
  status: number
  code: string
  message: string
  details?: Record<string, unknown>
  retryable?: boolean
  requestId?: string | null
  retryAfterMs?: number | null
}

/** An answer of a server with a status of 400 or more, or one that is not an answer of the API. */
export class ShiplockError extends Error {
  override readonly name = 'ShiplockError'
  readonly status: number
  /**
   * The code of the API, such as `not_found` or `rate_limited`. `unauthorized` and `forbidden` are
   * rejections of the credential.
   */
  readonly code: string
  readonly details: Record<string, unknown>
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** The value of `x-request-id`. */
  readonly requestId: string | null
  /** The time of `Retry-After`, if the server sent one. */
  readonly retryAfterMs: number | null

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.status = refusal.status
    this.code = refusal.code
    this.details = refusal.details ?? {}
    this.retryable = refusal.retryable ?? false
    this.requestId = refusal.requestId ?? null
    this.retryAfterMs = refusal.retryAfterMs ?? null
  }
}

/** No answer came: the server cannot be reached, closed the connection, or was too slow. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

/** The error for a failed connection. `url` is shown without its query, which may hold a secret. */
export function unreachable(url: string, cause: unknown): NetworkError {
  return new NetworkError(`The server at ${shown(url)} cannot be reached (${reasonOf(cause)})`, { cause })
}

export function timedOut(url: string, timeoutMs: number): NetworkError {
  return new NetworkError(`The server at ${shown(url)} did not answer within ${timeoutMs / 1000} seconds`)
}

/** A certificate stays invalid and a proxy locked, so these errors are not worth another try. */
export function isLasting({ cause }: NetworkError): boolean {
  return explanationOf(cause)?.isFinal ?? /CERT|UNABLE_TO_(?:GET|VERIFY)/.test(reasonOf(cause))
}

/** What `packages/network` says about a connection, told by its name: browsers do without it. */
function explanationOf(cause: unknown): (Error & { isFinal?: boolean }) | null {
  return cause instanceof Error && cause.name === 'ConnectionError' ? cause : null
}

function shown(url: string): string {
  return new URL(url).origin
}

/**
 * `fetch` wraps the error of the connection. The innermost system code (ECONNREFUSED) says most;
 * without one, the innermost message does.
 */
function reasonOf(error: unknown): string {
  const explanation = explanationOf(error)
  if (explanation !== null) return explanation.message
  let reason = String(error)
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && !at.code.startsWith('UND_')) return at.code
    if (at.message) reason = at.message
  }
  return reason
}
