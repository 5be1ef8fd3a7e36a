import { asApiError } from '../../api/api-error.ts'

/** Longer pauses are no pauses: the limit of a plan is used up until tomorrow. */
const PAUSE_SECONDS_MAX = 300

const LOST_TRIES_MAX = 8

const LOST_PAUSE_SECONDS_MAX = 20

/**
 * Sends a request again after a rate limit, a lost connection or a failure of the server. `tell`
 * says why it waits, and null when it goes on.
 */
export async function patiently<Answer>(
  request: () => Promise<Answer>,
  tell: (notice: string | null) => void,
  signal: AbortSignal,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await request()
    } catch (error) {
      const pause = signal.aborted ? null : pauseAfter(error, tries)
      if (pause === null) throw error
      tell(pause.notice)
      await sleep(pause.seconds, signal)
      tell(null)
    }
  }
}

/** Null if another try would end in the same way. */
export function pauseAfter(error: unknown, tries: number): { seconds: number; notice: string } | null {
  const response = asApiError(error)
  if (response?.status === 429) {
    const seconds = response.retryAfter ?? 10
    if (seconds > PAUSE_SECONDS_MAX) return null
    return { seconds, notice: `The server allows no more requests for now. Goes on in ${seconds} s.` }
  }
  if (tries >= LOST_TRIES_MAX || (response !== null && response.status < 500)) return null
  const seconds = response?.retryAfter ?? Math.min(2 ** tries, LOST_PAUSE_SECONDS_MAX)
  const reason = response === null ? 'The server cannot be reached.' : 'The server is not ready.'
  return { seconds, notice: `${reason} Trying again.` }
}

/** Ends early when the browser is online again. */
function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController()
  return new Promise<void>((resolve, reject) => {
    setTimeout(resolve, seconds * 1000)
    addEventListener('online', () => resolve(), { signal: done.signal })
    signal.addEventListener('abort', () => reject(signal.reason), { signal: done.signal })
  }).finally(() => done.abort())
}
