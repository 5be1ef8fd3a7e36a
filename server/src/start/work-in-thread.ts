import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Config } from '../config.ts'
import type { Log } from '../platform/log.ts'
import { type MetricValues, threadMetrics } from '../platform/metrics.ts'
import type { Database } from './database.ts'

export type WorkerThreadData = { config: Config; database: Pick<Database, 'url' | 'address'> }

type ThreadOptions = {
  log: Log
  /** The thread's main module. */
  module?: URL
  restartPauseMs?: number
  stopTimeoutMs?: number
}

type WorkingThread = {
  /** Resolves when the thread starts to process jobs. */
  ready: Promise<void>
  close: () => Promise<void>
}

const THREAD = new URL('./worker-thread.ts', import.meta.url)
const RESTART_PAUSE_MS = 2000
/**
 * Parsing produces much short-lived garbage. Without this limit, V8 grows the heap instead of
 * collecting it: reading 1 GB took twice the memory and the same time.
 */
const YOUNG_GENERATION_MIB = 24
/** Longer than the thread needs to finish or release its jobs, and to send its traces. */
const STOP_TIMEOUT_MS = 15_000

/**
 * Runs the background jobs in a thread, so that parsing never blocks the API. If the thread ends
 * unexpectedly, for example out of memory, it is restarted after a pause.
 */
export function startWorkerThread(data: WorkerThreadData, options: ThreadOptions): WorkingThread {
  const { log, module = THREAD, restartPauseMs = RESTART_PAUSE_MS, stopTimeoutMs = STOP_TIMEOUT_MS } = options
  const ready = Promise.withResolvers<void>()
  const closing = new AbortController()
  let thread: Worker | undefined
  const measured = new ThreadMetrics(() => thread?.postMessage('metrics'))
  threadMetrics.add(measured.read)

  const keepRunning = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      thread = new Worker(module, {
        workerData: data,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      })
      thread.on('message', (message) => {
        if (message === 'working') ready.resolve()
        else measured.take(message.metrics)
      })
      const reason = await untilExit(thread)
      if (closing.signal.aborted) return
      log.error({ err: reason }, `The worker thread ended unexpectedly; it restarts in ${restartPauseMs} ms`)
      await delay(restartPauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const running = keepRunning()

  return {
    ready: ready.promise,
    close: async () => {
      closing.abort()
      threadMetrics.delete(measured.read)
      thread?.postMessage('stop')
      const hurry = setTimeout(() => void thread?.terminate(), stopTimeoutMs)
      await running
      clearTimeout(hurry)
    },
  }
}

/** A thread that reads a large report answers late. */
const METRICS_TIMEOUT_MS = 1000

/** The metrics of the thread: those that it has now, or the last ones if it does not answer. */
class ThreadMetrics {
  readonly #ask: () => void
  #last: MetricValues = []
  #answer = Promise.withResolvers<void>()

  constructor(ask: () => void) {
    this.#ask = ask
  }

  readonly read = async (): Promise<MetricValues> => {
    const { promise } = this.#answer
    this.#ask()
    await Promise.race([promise, delay(METRICS_TIMEOUT_MS, undefined, { ref: false })])
    return this.#last
  }

  take(values: MetricValues): void {
    this.#last = values
    this.#answer.resolve()
    this.#answer = Promise.withResolvers()
  }
}

/** Resolves to the reason why the thread ended: its uncaught error, or its exit code. */
function untilExit(thread: Worker): Promise<unknown> {
  return new Promise((resolve) => {
    let reason: unknown
    thread.once('error', (error) => {
      reason = error
    })
    thread.once('exit', (code) => resolve(reason ?? new Error(`exit code ${code}`)))
  })
}
