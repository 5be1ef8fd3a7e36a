import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from './database.ts'
import { jobs, scheduledJobs } from './jobs.ts'
import { startWorker } from './platform/queue/worker.ts'
import type { Services } from './services.ts'

export type Working = {
  /** Resolves when the worker has stopped; rejects when it failed. */
  ended: Promise<void>
  close: () => Promise<void>
}

const JOBS_AT_ONCE = 2
/** How long jobs in flight may take after a stop was requested. */
const FINISH_TIMEOUT_MS = 10_000

/**
 * Processes the queue until closed. Closing waits for the jobs in flight. A job that takes too long
 * ends with the thread, and another worker takes it over.
 */
export async function work(services: Services, database: Pick<Database, 'url' | 'address'>): Promise<Working> {
  const runner = await startWorker({
    databaseUrl: database.url,
    address: database.address,
    context: services,
    jobs,
    scheduled: scheduledJobs,
    log: services.log,
    concurrency: JOBS_AT_ONCE,
  })
  return {
    ended: runner.promise,
    close: () => Promise.race([runner.stop(), delay(FINISH_TIMEOUT_MS, undefined, { ref: false })]),
  }
}
