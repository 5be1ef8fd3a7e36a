import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Runner, WorkerEvents } from 'graphile-worker'
import type { Sql } from '../db/sql.ts'
import { holdWorkerLock, returnJobs, setJobAside } from './job-locks.store.ts'

const RETURN_MS_MAX = 2000

/** The jobs of this worker, and the lock that shows that the worker is running. */
export class OwnJobs {
  readonly events: WorkerEvents = new EventEmitter()
  /** The queue starts no job before the lock is held. */
  readonly plugin: GraphileConfig.Plugin = {
    name: 'ShiplockWorkerLock',
    version: '1.0.0',
    worker: { hooks: { startWorker: () => this.hold() } },
  }
  readonly #locks: Sql
  readonly #stopping = new AbortController()
  #workerId = ''

  constructor(locks: Sql) {
    this.#locks = locks
    this.events.on('pool:create', ({ workerPool }) => {
      this.#workerId = workerPool.id
    })
  }

  /** Takes the lock again where it was lost with its connection. */
  hold(): Promise<void> {
    return holdWorkerLock(this.#locks, this.#workerId)
  }

  /** Runs a job of this worker. A try that ends because the worker stops is not counted. */
  async run(jobId: string, work: (stopping: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await work(this.#stopping.signal)
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error
      // If this fails, the database is unreachable: the try is returned when the worker has ended.
      await setJobAside(this.#locks, jobId, this.#workerId).catch(() => {})
      throw new TryStopped('The worker is stopping; the job is queued again', { cause: error })
    }
  }

  /** Stops the jobs, and returns those that have not ended in time to the queue. */
  async end(runner: Runner, timeoutMs: number): Promise<void> {
    const ended = runner.stop().catch(() => {}) // It fails only if the runner has already stopped.
    this.#stopping.abort(new TryStopped('The worker is stopping'))
    await Promise.race([ended, delay(timeoutMs, undefined, { ref: false })])
    // Without a database, the jobs are lost with the lock, and another worker takes them.
    const returned = returnJobs(this.#locks, this.#workerId).catch(() => {})
    await Promise.race([returned, delay(RETURN_MS_MAX, undefined, { ref: false })])
  }
}

/** Ends a try without counting it. */
export class TryStopped extends Error {}
