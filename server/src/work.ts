import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from './database.ts'
import { jobs, scheduledJobs } from './jobs.ts'
import { startWorker } from './platform/queue/worker.ts'
import type { Services } from './services.ts'

export type Working = {
  /** Settles when the worker stops; fails when it gave up by itself. */
  ended: Promise<void>
  close: () => Promise<void>
}

const JOBS_AT_ONCE = 2
/** Longest that jobs in flight may take after a stop was asked for. */
const FINISH_TIMEOUT_MS = 10_000

/**
 * Works through the queue until closed. Closing lets jobs in flight finish; those that take too long end with the
 * thread, and go to another worker because this one no longer lives.
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
