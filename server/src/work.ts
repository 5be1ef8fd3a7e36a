import type { Database } from './database.ts'
import { jobs, scheduledJobs } from './jobs.ts'
import { startWorker } from './platform/queue/worker.ts'
import type { Services } from './services.ts'

const JOBS_AT_ONCE = 2

/** Works through the queue until closed. Closing lets jobs in flight finish, or releases them for another worker. */
export async function work(services: Services, database: Database): Promise<{ close: () => Promise<void> }> {
  const runner = await startWorker({
    databaseUrl: database.url,
    context: services,
    jobs,
    scheduled: scheduledJobs,
    log: services.log,
    concurrency: JOBS_AT_ONCE,
  })
  return { close: () => runner.stop() }
}
