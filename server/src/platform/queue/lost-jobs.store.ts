import type { Sql } from '../db/sql.ts'
import { updateEndedJob } from './running-jobs.store.ts'
import { hasDied } from './worker-lock.store.ts'

export type LostJob = { id: number; name: string; payload: object; worker_id: string; interruptions: number }

/** Jobs in progress whose worker has died. `interruptions` counts the earlier ones. */
export async function listLostJobs(sql: Sql): Promise<LostJob[]> {
  return sql<LostJob[]>`
    select id, name, payload, worker_id, interruptions
    from jobs
    where state = 'running'
      and ${hasDied(sql, sql`jobs.worker_id`)}
    order by id
    limit 1000`
}

/** Queues a lost job again after a backoff. The interrupted try does not count as a failed one. */
export function updateLostJobForRetry(sql: Sql, job: LostJob, backoffMs: number): Promise<void> {
  return updateEndedJob(
    sql,
    job,
    sql`
      state = ${backoffMs > 0 ? 'scheduled' : 'ready'}, attempts = greatest(attempts - 1, 0),
      run_at = greatest(run_at, now() + ${backoffMs}::float * interval '1 millisecond'),
      interruptions = ${job.interruptions + 1}`,
  )
}

/** Ends a lost job for good: it stays as a failed job. */
export function updateLostJobAsFailed(sql: Sql, job: LostJob): Promise<void> {
  return updateEndedJob(
    sql,
    job,
    sql`
      state = 'failed', attempts = attempts_max, interruptions = ${job.interruptions + 1},
      last_error = ${`Its worker died ${job.interruptions + 1} times while it was running.`}`,
  )
}

/** Removes jobs that failed more than a week ago. */
export async function deleteOldFailures(sql: Sql): Promise<void> {
  await sql`
    delete from jobs
    where state = 'failed'
      and updated_at < now() - interval '7 days'`
}
