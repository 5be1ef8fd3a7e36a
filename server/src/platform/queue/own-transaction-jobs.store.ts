import type { Sql } from '../db/sql.ts'

/** A job that waits, with its payload. */
export type TakenJob = { name: string; payload: object; is_delayed: boolean }

/**
 * Takes the jobs off the queue that the current transaction has queued, oldest first. No worker has
 * seen them.
 */
export async function takeOwnJobs(sql: Sql): Promise<TakenJob[]> {
  return sql<TakenJob[]>`
    with taken as (
      delete from graphile_worker._private_jobs job
      where job.xmin = pg_current_xact_id()::xid
      returning job.id, job.task_id, job.payload, job.run_at > now() as is_delayed
    )
    select task.identifier as name, taken.payload, taken.is_delayed
    from taken
    join graphile_worker._private_tasks task on task.id = taken.task_id
    order by taken.id`
}
