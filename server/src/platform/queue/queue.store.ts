import type { Db, Sql } from '../db/sql.ts'

/** True until graphile-worker has created its tables. */
export async function queueIsMissing(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ missing: boolean }]>`select to_regclass('graphile_worker.migrations') is null as missing`
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
export async function queueStatus(sql: Sql): Promise<QueueStatus> {
  const [row] = await sql<[QueueStatus]>`
    select
      count(*) filter (where is_ready)::int as waiting,
      count(*) filter (where locked_at is not null)::int as running,
      count(*) filter (where has_failed)::int as failed,
      coalesce(array_agg(distinct task_identifier) filter (where has_failed), '{}') as failed_names,
      coalesce(extract(epoch from now() - min(run_at) filter (where is_ready)) * 1000, 0)::float as oldest_age_ms
    from (
      select task_identifier, run_at, locked_at,
        attempts >= max_attempts and locked_at is null as has_failed,
        attempts < max_attempts and locked_at is null and run_at <= now() as is_ready
      from graphile_worker.jobs
    ) as job`
  return row
}

type ScheduledRun = { name: string; last_execution: Date | null }

/** When each scheduled job was last started; null when it never was. */
export async function scheduledRuns(sql: Sql): Promise<ScheduledRun[]> {
  return sql<ScheduledRun[]>`
    select identifier as name, last_execution
    from graphile_worker._private_known_crontabs
    order by identifier
    limit 100`
}

/**
 * An SQL condition: a job with this name is waiting, in progress or will be tried again. `matches`
 * compares its payload, `job.payload`, with the row of the surrounding statement.
 */
export function hasLiveJob(db: Db, name: string, matches: ReturnType<Db>) {
  return db`exists (
    select from graphile_worker._private_jobs job
    join graphile_worker._private_tasks task on task.id = job.task_id
    where task.identifier = ${name}
      and (job.attempts < job.max_attempts or job.locked_at is not null)
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
export async function taskStates(sql: Sql): Promise<TaskState[]> {
  return sql<TaskState[]>`
    select task,
      count(*) filter (where state = 'ready')::int as ready,
      count(*) filter (where state = 'scheduled')::int as scheduled,
      count(*) filter (where state = 'running')::int as running,
      count(*) filter (where state = 'failed')::int as failed,
      greatest(0, coalesce(extract(epoch from now() - min(run_at) filter (where state = 'ready')), 0))::float
        as oldest_age_seconds
    from (
      select known.identifier as task, job.run_at,
        case
          when job.locked_at is not null then 'running'
          when job.attempts >= job.max_attempts then 'failed'
          when job.run_at <= now() then 'ready'
          else 'scheduled'
        end as state
      from graphile_worker._private_jobs job
      join graphile_worker._private_tasks known on known.id = job.task_id
    ) as job
    group by task
    order by task
    limit 1000`
}
