import { type Db, getSqlState, type Sql, UNIQUE_VIOLATION } from '../db/sql.ts'
import type { JobClass } from './job.store.ts'
import { buildWorkerLock } from './worker-lock.store.ts'

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
export async function updateEndedJob(
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
