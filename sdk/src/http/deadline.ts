import { timedOut } from './errors.ts'

export type Deadline = {
  /** For the error. */
  url: string
  timeoutMs: number
  /** Signals of the caller that end the work early. */
  signals: readonly (AbortSignal | undefined)[]
}

/**
 * Runs `work` with a signal that aborts after the timeout or with one of the caller's signals.
 * Throws NetworkError after the timeout, and the reason of the caller's signal if that aborts.
 */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { url, timeoutMs, signals } = deadline
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(timedOut(url, timeoutMs)), timeoutMs)
  const stopFollowing = follow(controller, signals)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    stopFollowing()
  }
}

/** Waits. Throws the reason of the first signal that aborts. */
export async function sleep(ms: number, signals: Deadline['signals']): Promise<void> {
  const controller = new AbortController()
  const stopFollowing = follow(controller, signals)
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
      if (controller.signal.aborted) reject(controller.signal.reason)
      timer = setTimeout(resolve, ms)
    })
  } finally {
    clearTimeout(timer)
    stopFollowing()
  }
}

/**
 * Aborts the controller with the first of the signals. Returns a function that removes the
 * listeners, because a caller's signal may live as long as the program. (AbortSignal.any needs
 * Node 20.3.)
 */
function follow(controller: AbortController, signals: Deadline['signals']): () => void {
  const abort = (event: Event) => controller.abort((event.target as AbortSignal).reason)
  for (const signal of signals) {
    if (signal?.aborted) controller.abort(signal.reason)
    signal?.addEventListener('abort', abort)
  }
  return () => {
    for (const signal of signals) signal?.removeEventListener('abort', abort)
  }
}
