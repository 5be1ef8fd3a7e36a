import type { Sql } from '../db/sql.ts'

/** A job that waits, with its payload. */
export type TakenJob = { name: string; payload: object; is_delayed: boolean }

/**
 * Takes the jobs off the queue that the current transaction has queued, oldest first. No worker has
 * seen them.
 */
export async function deleteOwnJobs(sql: Sql): Promise<TakenJob[]> {
  return sql<TakenJob[]>`
    with taken as (
      delete from jobs
      where jobs.xmin = pg_current_xact_id()::xid
      returning id, name, payload, state = 'scheduled' as is_delayed
    )
    select name, payload, is_delayed
    from taken
    order by id`
}
