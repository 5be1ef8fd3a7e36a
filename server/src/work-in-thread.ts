import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Config } from './config.ts'
import type { Database } from './database.ts'
import type { Log } from './platform/log.ts'

export type WorkerThreadData = { config: Config; database: Pick<Database, 'url' | 'address'> }

export type ThreadOptions = {
  log: Log
  /** The thread's main module. */
  module?: URL
  restartPauseMs?: number
  stopTimeoutMs?: number
}

export type WorkingThread = {
  /** When jobs are first worked on. */
  ready: Promise<void>
  close: () => Promise<void>
}

const THREAD = new URL('./worker-thread.ts', import.meta.url)
const RESTART_PAUSE_MS = 2000
/**
 * Parsing makes much that is soon garbage. Left alone, V8 would rather let it grow than collect it: reading 1 GB took twice the
 * memory, and no less time.
 */
const YOUNG_GENERATION_MIB = 24
/** Longer than the thread takes to finish or release its jobs. */
const STOP_TIMEOUT_MS = 12_000

/**
 * Runs the background jobs in a thread of their own, so that parsing never holds up the API. A thread that dies, for
 * example of too little memory, takes nothing with it: it is started again after a pause.
 */
export function workInThread(data: WorkerThreadData, options: ThreadOptions): WorkingThread {
  const { log, module = THREAD, restartPauseMs = RESTART_PAUSE_MS, stopTimeoutMs = STOP_TIMEOUT_MS } = options
  const ready = Promise.withResolvers<void>()
  const closing = new AbortController()
  let thread: Worker | undefined

  const keepRunning = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      thread = new Worker(module, {
        workerData: data,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      })
      thread.once('message', () => ready.resolve())
      const reason = await untilExit(thread)
      if (closing.signal.aborted) return
      log.error({ err: reason }, `The thread that runs jobs has ended; starting it again in ${restartPauseMs} ms`)
      await delay(restartPauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const running = keepRunning()

  return {
    ready: ready.promise,
    close: async () => {
      closing.abort()
      thread?.postMessage('stop')
      const hurry = setTimeout(() => void thread?.terminate(), stopTimeoutMs)
      await running
      clearTimeout(hurry)
    },
  }
}

/** Why the thread ended: its uncaught error, or its exit code. */
function untilExit(thread: Worker): Promise<unknown> {
  return new Promise((resolve) => {
    let reason: unknown
    thread.once('error', (error) => {
      reason = error
    })
    thread.once('exit', (code) => resolve(reason ?? new Error(`exit code ${code}`)))
  })
}
