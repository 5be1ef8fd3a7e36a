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

/** Works through the queue until closed. Closing lets jobs in flight finish, or releases them for another worker. */
export async function work(services: Services, database: Pick<Database, 'url'>): Promise<Working> {
  const runner = await startWorker({
    databaseUrl: database.url,
    context: services,
    jobs,
    scheduled: scheduledJobs,
    log: services.log,
    concurrency: JOBS_AT_ONCE,
  })
  return { ended: runner.promise, close: () => runner.stop() }
}
