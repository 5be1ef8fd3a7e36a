import { enqueueAllSyncs } from '../codehosts/sync/sync-connection.job.ts'
import { hostParts } from '../host-event-handlers.ts'
import { jobs, scheduledJobs } from '../jobs.ts'
import { startWorker } from '../platform/queue/worker.ts'
import { startSequencing } from '../provenance/log/sequence-log.ts'
import { removeAfterRest } from '../retention/remove-expired.job.ts'
import type { Services } from '../services.ts'
import type { Database } from './database.ts'

type Working = {
  /** Settles when the worker has stopped; fails if it stopped unexpectedly. */
  ended: Promise<void>
  close: () => Promise<void>
}

/** Two organizations each find a slot; the reports of one are read one after the other. */
const JOBS_AT_ONCE = 4
/** How long jobs in progress may take to end after a stop was requested. */
const STOP_TIMEOUT_MS = 10_000

/**
 * Works through the queue until closed. What was missed while no worker ran is read from the code
 * hosts. Jobs in progress are told to stop and may finish; those
 * that stop, or take too long, go back to the queue.
 */
export async function startWork(services: Services, database: Pick<Database, 'address'>): Promise<Working> {
  const { ended, stop } = await startWorker({
    address: database.address,
    context: { ...services, ...hostParts },
    jobs,
    scheduled: scheduledJobs,
    log: services.log,
    concurrency: JOBS_AT_ONCE,
  })
  const sequencing = startSequencing(services)
  await enqueueAllSyncs(services).catch((err) => services.log.error({ err }, 'Could not request synchronizations'))
  await removeAfterRest(services).catch((err) => services.log.error({ err }, 'Could not schedule the retention'))
  const close = async () => {
    await Promise.all([sequencing.close(), stop(STOP_TIMEOUT_MS)])
  }
  return { ended, close }
}
