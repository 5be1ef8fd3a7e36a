import type { Sql } from '../db/sql.ts'

/**
 * A worker holds an advisory lock as long as it runs, in a separate number space ("work"). The
 * queue marks the jobs in progress with the id of their worker, so a job whose worker holds no lock
 * is lost. How often a job was lost is counted in `flags` of its row.
 */
const LOCK_SPACE = 0x776f726b
/** Follows the worker's id on jobs that a stopping worker has ended and not returned yet. */
const SET_ASIDE = ' stopping'

/** Ends with the connection. Holding the lock again on the same connection changes nothing. */
export async function holdWorkerLock(sql: Sql, workerId: string): Promise<void> {
  await sql`select pg_advisory_lock(${LOCK_SPACE}::int, hashtext(${workerId}))`
}

export type LostJob = { id: number; name: string; payload: object; locked_by: string; interruptions: number }

/** Jobs in progress whose worker has died. `interruptions` counts the earlier ones. */
export async function findLostJobs(sql: Sql): Promise<LostJob[]> {
  return sql<LostJob[]>`
    select job.id, task.identifier as name, job.payload, job.locked_by,
      coalesce((job.flags ->> 'interruptions')::int, 0) as interruptions
    from graphile_worker._private_jobs job
    join graphile_worker._private_tasks task on task.id = job.task_id
    where job.locked_by is not null
      and not exists (
        select from pg_locks held
        where held.locktype = 'advisory'
          and held.database = (select oid from pg_database where datname = current_database())
          and held.classid = ${LOCK_SPACE}
          and held.objid = (hashtext(split_part(job.locked_by, ' ', 1))::bigint & 4294967295)::oid
          and held.granted
      )
    order by job.id
    limit 1000`
}

/** Queues a lost job again after a pause. The interrupted try does not count as a failed one. */
export async function requeueLostJob(sql: Sql, job: LostJob, pauseMs: number): Promise<void> {
  await sql`
    update graphile_worker._private_jobs
    set attempts = greatest(attempts - 1, 0), locked_by = null, locked_at = null,
      run_at = greatest(run_at, now() + ${pauseMs} * interval '1 millisecond'),
      flags = coalesce(flags, '{}') || ${sql.json({ interruptions: job.interruptions + 1 })}
    where id = ${job.id}
      and locked_by = ${job.locked_by}`
}

/** Ends a lost job for good: it stays as a failed job. */
export async function failLostJob(sql: Sql, job: LostJob): Promise<void> {
  await sql`
    update graphile_worker._private_jobs
    set attempts = max_attempts, locked_by = null, locked_at = null,
      flags = coalesce(flags, '{}') || ${sql.json({ interruptions: job.interruptions + 1 })},
      last_error = ${`Its worker died ${job.interruptions + 1} times while it was running.`}
    where id = ${job.id}
      and locked_by = ${job.locked_by}`
}

/**
 * Keeps graphile-worker from counting a try that ended because the worker stops: it counts a
 * failure only for jobs marked with exactly its own id. `returnJobs` is to follow.
 */
export async function setJobAside(sql: Sql, jobId: string, workerId: string): Promise<void> {
  await sql`
    update graphile_worker._private_jobs
    set locked_by = ${workerId + SET_ASIDE}
    where id = ${jobId}
      and locked_by = ${workerId}`
}

/**
 * Gives the jobs of a worker that stops back to the queue, with their tries and their places in
 * line.
 */
export async function returnJobs(sql: Sql, workerId: string): Promise<void> {
  await sql`
    update graphile_worker._private_jobs
    set attempts = greatest(attempts - 1, 0), locked_by = null, locked_at = null
    where locked_by in (${workerId}, ${workerId + SET_ASIDE})`
}

/**
 * Removes jobs that have used up their tries and are not needed: debounced jobs that a newer job
 * with the same key has replaced, and jobs that failed more than a week ago.
 */
export async function removeDeadJobs(sql: Sql, debounced: string[]): Promise<void> {
  await sql`
    delete from graphile_worker._private_jobs job
    using graphile_worker._private_tasks task
    where task.id = job.task_id
      and job.attempts >= job.max_attempts
      and job.locked_at is null
      and (
        (job.key is null and task.identifier = any(${debounced}))
        or job.updated_at < now() - interval '7 days'
      )`
}
