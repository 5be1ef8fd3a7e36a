import { type Db, getSqlState, type Sql, UNIQUE_VIOLATION } from '../db/sql.ts'
import type { JobClass } from './job.store.ts'

/** A job in progress. `attempts` counts this try. */
export type RunningJob = {
  id: number
  name: string
  payload: object
  class: JobClass
  organization_id: string | null
  attempts: number
  attempts_max: number
  request_id: string | null
  traceparent: string | null
}

/**
 * Whose turn it is among the jobs of a class: the organizations in order, and the system in
 * between.
 */
export type Turn = { afterOrganization: string; isSystemFirst: boolean }

/** What a worker takes. It leaves jobs alone whose names it does not know. */
type Takeable = { workerId: string; names: readonly string[]; class: JobClass; turn: Turn }

/**
 * Takes the next job of a class; null if none is ready. It belongs to the organization whose turn
 * it is and that has one. The worker holds its lock from then on, whatever became of its
 * connection.
 */
export async function lockNextJob(
  sql: Sql,
  { workerId, names, class: jobClass, turn }: Takeable,
): Promise<RunningJob | null> {
  const { afterOrganization, isSystemFirst } = turn
  // PostgreSQL locks rows only in subqueries of a union. It reads the next one if others are empty.
  const ready = (whose: ReturnType<Db>): ReturnType<Db> => sql`
    select id
    from (
      select id
      from jobs
      where state = 'ready'
        and class = ${jobClass}
        and name = any((select names from known)::text[])
        and ${whose}
      order by organization_id, priority, run_at, id
      limit 1
      for update skip locked
    ) as job`
  const system = ready(sql`organization_id is null`)
  const organizations = sql`
    ${ready(sql`organization_id > ${afterOrganization}`)}
    union all
    ${ready(sql`organization_id <= ${afterOrganization}`)}`
  const [job] = await sql<RunningJob[]>`
    with known as materialized (
      select ${names as string[]}::text[] as names
    ), held as materialized (
      select ${buildWorkerLock(sql, workerId)} as lock
    ), next as materialized (
      select id
      from (
        ${isSystemFirst ? sql`${system} union all ${organizations}` : sql`${organizations} union all ${system}`}
      ) as candidate
      limit 1
    )
    update jobs
    set state = 'running', worker_id = ${workerId}, attempts = attempts + 1, updated_at = now()
    from next, held
    where jobs.id = next.id
      and held.lock is not null
    returning jobs.id, name, payload, class, organization_id, attempts, attempts_max, request_id, traceparent`
  return job ?? null
}

const PROMOTED_AT_ONCE_MAX = 1000

/** Makes scheduled jobs ready that are due. Returns whether there were any. */
export async function updateDueJobs(sql: Sql): Promise<boolean> {
  const { count } = await sql`
    update jobs
    set state = 'ready'
    from (
      select id
      from jobs
      where state = 'scheduled'
        and run_at <= now()
      order by run_at
      limit ${PROMOTED_AT_ONCE_MAX}
      for update skip locked
    ) as due
    where jobs.id = due.id`
  return count > 0
}

/** Removes a finished job, unless another worker has it by now. */
export async function deleteFinishedJob(sql: Sql, workerId: string, id: number): Promise<void> {
  await sql`
    delete from jobs
    where id = ${id}
      and worker_id = ${workerId}`
}

/**
 * Ends a failed try. The retry starts after an exponential backoff; after the last try the job
 * has failed.
 */
export function updateFailedTry(sql: Sql, workerId: string, id: number, message: string): Promise<void> {
  return updateEndedJob(
    sql,
    { id, worker_id: workerId },
    sql`
      state = case when attempts >= attempts_max then 'failed' else 'scheduled' end,
      run_at = greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second',
      last_error = ${message.replaceAll('\0', '')}`,
  )
}

/** Gives a job back to the queue with its try and its place in line. */
export function updateReturnedJob(sql: Sql, workerId: string, id: number): Promise<void> {
  return updateEndedJob(sql, { id, worker_id: workerId }, sql`state = 'ready', attempts = greatest(attempts - 1, 0)`)
}

/** Gives the jobs of a worker back to the queue, except some. */
export async function updateReturnedJobs(sql: Sql, workerId: string, except: readonly number[] = []): Promise<void> {
  const jobs = await sql<{ id: number }[]>`
    select id
    from jobs
    where worker_id = ${workerId}
      and state = 'running'
      and id <> all(${except as number[]}::bigint[])`
  for (const { id } of jobs) await updateReturnedJob(sql, workerId, id)
}

/**
 * Ends the try of a job that a worker has, as `changes` say. If it was queued again under its key
 * meanwhile, that job takes its place.
 */
async function updateEndedJob(
  sql: Sql,
  { id, worker_id }: { id: number; worker_id: string },
  changes: ReturnType<Db>,
): Promise<void> {
  for (;;) {
    try {
      await sql`
        with ended as (
          select id, key
          from jobs
          where id = ${id}
            and worker_id = ${worker_id}
          for update
        ), replaced as (
          delete from jobs
          using ended
          where jobs.id = ended.id
            and exists (select from jobs newer where newer.key = ended.key and newer.state <> 'running')
          returning jobs.id
        )
        update jobs
        set worker_id = null, updated_at = now(), ${changes}
        from ended
        where jobs.id = ended.id
          and not exists (select from replaced)`
      return
    } catch (error) {
      // It was queued again at the same moment.
      if (getSqlState(error) !== UNIQUE_VIOLATION) throw error
    }
  }
}

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

/**
 * A worker holds an advisory lock as long as it runs, in a separate number space ("work"). Running
 * jobs name their worker, so a job whose worker holds no lock is lost.
 */
const LOCK_SPACE = 0x776f726b

/**
 * An SQL expression that takes the lock of a worker, which ends with the connection. If it was lost
 * with a connection that the server still has, that one holds it; the next call gets it.
 */
function buildWorkerLock(db: Db, workerId: string): ReturnType<Db> {
  return db`pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${workerId}))`
}

/** Takes the lock again where it was lost. Holding it twice changes nothing. */
export async function lockWorker(db: Db, workerId: string): Promise<void> {
  await db`select ${buildWorkerLock(db, workerId)}`
}

/** An SQL condition: the worker that a column names does not run. */
function hasDied(db: Db, column: ReturnType<Db>): ReturnType<Db> {
  return db`not exists (
    select from pg_locks held
    where held.locktype = 'advisory'
      and held.database = (select oid from pg_database where datname = current_database())
      and held.classid = ${LOCK_SPACE}
      and held.objid = (hashtext(${column})::bigint & 4294967295)::oid
      and held.granted
  )`
}
