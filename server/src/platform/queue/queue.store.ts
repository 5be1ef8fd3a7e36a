import type { Db, Sql } from '../db/sql.ts'

/** True until the database is migrated. */
export async function isQueueMissing(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ missing: boolean }]>`select to_regclass('jobs') is null as missing`
  return row.missing
}

type QueueStatus = {
  /** Jobs that are due. */
  waiting: number
  running: number
  /** Jobs that have used up their tries. */
  failed: number
  /** The names of the failed jobs, each once. */
  failed_names: string[]
  /** How long the oldest waiting job has been due. */
  oldest_age_ms: number
}

/** The state of the queue at this moment. */
export async function findQueueStatus(sql: Sql): Promise<QueueStatus> {
  const [row] = await sql<[QueueStatus]>`
    select
      count(*) filter (where is_due)::int as waiting,
      count(*) filter (where state = 'running')::int as running,
      count(*) filter (where state = 'failed')::int as failed,
      coalesce(array_agg(distinct name) filter (where state = 'failed'), '{}') as failed_names,
      coalesce(extract(epoch from now() - min(run_at) filter (where is_due)) * 1000, 0)::float as oldest_age_ms
    from (
      select name, run_at, state, state in ('ready', 'scheduled') and run_at <= now() as is_due
      from jobs
    ) as job`
  return row
}

type ScheduledRun = { name: string; last_execution: Date | null }

/** When each scheduled job was last started; null when it never was. */
export async function listScheduledRuns(sql: Sql): Promise<ScheduledRun[]> {
  return sql<ScheduledRun[]>`
    select name, last_started_at as last_execution
    from job_schedules
    order by name
    limit 100`
}

/**
 * An SQL condition: a job with this name is waiting, in progress or will be tried again. `matches`
 * compares its payload, `job.payload`, with the row of the surrounding statement.
 */
export function hasLiveJob(db: Db, name: string, matches: ReturnType<Db>) {
  return db`exists (
    select from jobs job
    where job.name = ${name}
      and job.state <> 'failed'
      and ${matches}
  )`
}

/** The jobs of one name. `oldest_age_seconds` is how long the oldest ready one has been due. */
type TaskState = {
  task: string
  ready: number
  scheduled: number
  running: number
  failed: number
  oldest_age_seconds: number
}

/** The state of every kind of job that is in the queue. */
export async function listTaskStates(sql: Sql): Promise<TaskState[]> {
  return sql<TaskState[]>`
    select name as task,
      count(*) filter (where state = 'ready')::int as ready,
      count(*) filter (where state = 'scheduled')::int as scheduled,
      count(*) filter (where state = 'running')::int as running,
      count(*) filter (where state = 'failed')::int as failed,
      greatest(0, coalesce(extract(epoch from now() - min(run_at) filter (where state = 'ready')), 0))::float
        as oldest_age_seconds
    from (
      select name, run_at, case when state = 'scheduled' and run_at <= now() then 'ready' else state end as state
      from jobs
    ) as job
    group by name
    order by name
    limit 1000`
}

/** Takes the jobs of an organization off the queue, unless one is running. */
export async function deleteJobs(db: Db, organizationId: string): Promise<void> {
  await db`
    delete from jobs
    where organization_id = ${organizationId}
      and state <> 'running'`
}

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
