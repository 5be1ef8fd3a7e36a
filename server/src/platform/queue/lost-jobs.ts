import { randomInt } from 'node:crypto'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { Job } from './job.ts'
import { givenUp } from './job-work.ts'
import {
  deleteOldFailures,
  type LostJob,
  listLostJobs,
  updateLostJobAsFailed,
  updateLostJobForRetry,
} from './running-jobs.store.ts'

/**
 * A job may bring its worker down, for example by taking all memory. It is interrupted this often
 * at most; failed tries are counted apart, by `attemptsMax`.
 */
export const INTERRUPTIONS_MAX = 10
const BACKOFF_MS_MAX = 10 * 60_000

type LostJobsOptions<Context> = { context: Context; jobs: readonly Job<Context, never>[]; log: Log }

/**
 * Settles the jobs that no worker will finish: jobs of workers that died are queued again, or given
 * up after too many interruptions, and jobs that have failed for good are removed.
 */
export async function settleLostJobs<Context>(sql: Sql, options: LostJobsOptions<Context>): Promise<void> {
  for (const lost of await listLostJobs(sql)) {
    await settle(sql, lost, options).catch((err) =>
      options.log.error({ err, job: lost.name }, 'Could not settle a lost job'),
    )
  }
  await deleteOldFailures(sql)
}

async function settle<Context>(sql: Sql, lost: LostJob, { context, jobs, log }: LostJobsOptions<Context>) {
  const times = lost.interruptions + 1
  if (times < INTERRUPTIONS_MAX) {
    log.warn({ job: lost.name, worker: lost.worker_id, times }, 'A worker died; its job is queued again')
    return updateLostJobForRetry(sql, lost, computeBackoffMs(times))
  }
  log.error({ job: lost.name, times }, 'The job is given up, because its workers died too often')
  givenUp.inc({ task: lost.name })
  const job = jobs.find(({ name }) => name === lost.name)
  await job?.giveUp?.(context, lost.payload as never, { cause: 'interrupted', times })
  await updateLostJobAsFailed(sql, lost)
}

/**
 * No backoff after the first interruption, because most are a restart. Then it doubles. It is
 * random within a factor of three, so that a job which only ran beside the job that crashes the
 * worker starts at another time.
 */
function computeBackoffMs(times: number): number {
  const backoff = Math.min((2 ** (times - 1) - 1) * 1000, BACKOFF_MS_MAX)
  return Math.round(backoff * (randomInt(50, 150) / 100))
}
