import { networkFetch } from '#fetch'
import { type Deadline, withDeadline } from '../http/deadline.ts'
import { errorOf } from '../http/error-body.ts'
import type { HttpSettings } from '../http/json-fetch.ts'
import { RETRY_POLICY, type Retry, type RetryPolicy, withRetries } from '../http/retry.ts'
import { throttled } from './progress.ts'
import { fetchSender } from './send-by-fetch.ts'
import { hasXhr, sendByXhr } from './send-by-xhr.ts'
import type { PutSender, Source } from './source.ts'

/** Where a file is sent: an upload slot of a report, or the `put` of a security upload. */
export type Slot = { url: string; headers: Record<string, string> }

export type PutOptions = {
  /** Called with the number of bytes that have been sent, at most ten times a second. */
  onProgress?: ((sentBytes: number) => void) | undefined
  signal?: AbortSignal | undefined
  onRetry?: ((retry: Retry) => void) | undefined
  /** Sends the file instead of the best way that the platform has. */
  fetch?: typeof globalThis.fetch | undefined
  retry?: Partial<RetryPolicy> | undefined
}

/**
 * Sends a file to its slot, with exactly the headers of the slot and constant memory. Tries twice
 * on network errors and on a status of 500 or more, unless the source can be read only once.
 */
export function putSlot(slot: Slot, source: Source, options: PutOptions = {}): Promise<void> {
  const { signal, onProgress } = options
  return sendToSlot(sendSettings(options), slot, source, { onProgress, signals: [signal] })
}

/** The settings of a client that sending a file needs. */
export type SendSettings = Pick<HttpSettings, 'fetch' | 'onRetry' | 'policy'>

export function sendSettings({ fetch, onRetry, retry }: Omit<PutOptions, 'onProgress'>): SendSettings {
  return { fetch, onRetry, policy: { ...RETRY_POLICY, ...retry } }
}

type Following = { onProgress: PutOptions['onProgress']; signals: Deadline['signals'] }

/** Sends a file with the settings of a client. */
export async function sendToSlot(
  { fetch, onRetry, policy }: SendSettings,
  { url, headers }: Slot,
  source: Source,
  { onProgress, signals }: Following,
): Promise<void> {
  const attempts = source.isOnce ? 1 : policy.putAttempts
  const onSent = throttled(onProgress, source.size)
  const send = senderFor(source, fetch)
  const repeated = { method: 'PUT', url, policy, attempts, onRetry, signals }
  await withRetries({ ...repeated, isRetryable: ({ status }) => status >= 500 }, async () => {
    onSent(0)
    await withDeadline({ url, timeoutMs: policy.putTimeoutMs, signals }, async (signal) => {
      const answer = await send({ url, headers, source, onSent, signal })
      if (answer.status < 200 || answer.status > 299) throw errorOf(answer)
    })
  })
  onSent(source.size)
}

/**
 * A browser cannot stream a request over HTTP/1.1, and reports progress only with XMLHttpRequest.
 */
function senderFor(source: Source, fetch: PutOptions['fetch']): PutSender {
  if (fetch) return fetchSender(fetch)
  return source.send ?? (hasXhr() ? sendByXhr : fetchSender(networkFetch))
}
