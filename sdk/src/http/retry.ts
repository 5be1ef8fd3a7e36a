import { type Deadline, sleep } from './deadline.ts'
import { isLasting, NetworkError, ShiplockError } from './errors.ts'

/** How often and how long requests are tried. */
export type RetryPolicy = {
  /** How often a JSON request is sent in all. */
  attempts: number
  /** The pause before the second attempt. Each further one is twice as long. */
  firstDelayMs: number
  delayMsMax: number
  /** A request is not repeated if the server asks for a longer pause with `Retry-After`. */
  retryAfterMsMax: number
  /** The time for one JSON request. */
  timeoutMs: number
  /** How often a file is sent in all. */
  putAttempts: number
  /** The time for sending one file once. */
  putTimeoutMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  attempts: 6,
  firstDelayMs: 2_000,
  delayMsMax: 20_000,
  retryAfterMsMax: 300_000,
  timeoutMs: 30_000,
  putAttempts: 2,
  putTimeoutMs: 600_000,
}

/** A request that failed and is about to be repeated. */
export type Retry = {
  method: string
  /** The URL without its query, which may hold a secret. */
  url: string
  /** The number of the attempt that failed. The first is 1. */
  attempt: number
  attempts: number
  delayMs: number
  error: ShiplockError | NetworkError
}

type Repeated = {
  method: string
  url: string
  policy: RetryPolicy
  attempts: number
  isRetryable(error: ShiplockError): boolean
  onRetry: ((retry: Retry) => void) | undefined
  signals: Deadline['signals']
}

/** Calls `attempt` until it succeeds, fails for good, or has failed too often. */
export async function withRetries<T>(request: Repeated, attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt()
    } catch (error) {
      const retry = number < request.attempts ? retryOf(request, number, error) : null
      if (retry === null) throw error
      request.onRetry?.(retry)
      await sleep(retry.delayMs, request.signals)
    }
  }
}

function retryOf({ method, url, policy, attempts, isRetryable }: Repeated, number: number, error: unknown) {
  const isFinal =
    error instanceof ShiplockError
      ? !isRetryable(error) || (error.retryAfterMs ?? 0) > policy.retryAfterMsMax
      : !(error instanceof NetworkError) || isLasting(error)
  if (isFinal) return null
  const doubled = Math.min(policy.firstDelayMs * 2 ** (number - 1), policy.delayMsMax)
  const delayMs = (error instanceof ShiplockError ? error.retryAfterMs : null) ?? doubled
  const { origin, pathname } = new URL(url)
  return { method, url: origin + pathname, attempt: number, attempts, delayMs, error: error as Retry['error'] }
}
