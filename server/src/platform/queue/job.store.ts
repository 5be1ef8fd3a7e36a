import type { Db, Sql } from '../db/sql.ts'

/** `bulk` is work that nobody waits for. It takes half of the slots of a worker at most. */
export type JobClass = 'interactive' | 'bulk'

/** The classes in the table: jobs that ask others have slots apart from work on the database. */
export type SlotClass = JobClass | 'outside' | 'outside_bulk'

/** What a job has in common with others of its kind, and what caused it. */
export type NewJobKind = {
  name: string
  class: JobClass
  priority: number
  attempts_max: number
  request_id: string | null
  traceparent: string | null
}

/** A worker that waits for jobs listens here. */
export const JOBS_CHANNEL = 'jobs'

const OUTSIDE: Record<JobClass, SlotClass> = { interactive: 'outside', bulk: 'outside_bulk' }

/**
 * An INSERT of one job for each row. `rows` is a query of `payload` and `key`. A job that waits
 * under the same key, or has failed, is replaced; one that is ready keeps its place in line, also
 * if the new one is to start later. `waitsFor` is whom the jobs ask; null for work on the database.
 */
export function insertJobs(
  db: Db,
  kind: NewJobKind,
  rows: ReturnType<Db>,
  { delayMs = 0, waitsFor = null }: { delayMs?: number; waitsFor?: string | null } = {},
): ReturnType<Db> {
  const slotClass = waitsFor === null ? kind.class : OUTSIDE[kind.class]
  return db`
    insert into jobs (
      name, class, waits_for, priority, attempts_max, request_id, traceparent, payload, key, state, run_at
    )
    select ${kind.name}::text, ${slotClass}::text, ${waitsFor}::text, ${kind.priority}::smallint,
      ${kind.attempts_max}::smallint, ${kind.request_id}::text, ${kind.traceparent}::text, job.payload::jsonb, job.key,
      ${delayMs > 0 ? 'scheduled' : 'ready'}::text, now() + ${delayMs}::float * interval '1 millisecond'
    from (${rows}) as job
    on conflict (key) where key is not null and state <> 'running' do update
    set class = excluded.class, waits_for = excluded.waits_for, priority = excluded.priority,
      attempts_max = excluded.attempts_max, request_id = excluded.request_id, traceparent = excluded.traceparent, payload = excluded.payload,
      state = case when jobs.state = 'ready' then 'ready' else excluded.state end,
      run_at = case when jobs.state = 'ready' then jobs.run_at else excluded.run_at end,
      attempts = 0, interruptions = 0, last_error = null, updated_at = now()
    ${delayMs > 0 ? db`` : db`returning pg_notify(${JOBS_CHANNEL}, '')`}`
}

type NewJob = NewJobKind & { key: string | null; payload: object; delayMs: number; waitsFor: string | null }

/**
 * Stores a job, in one statement with `beside`, a statement that writes something else. The job
 * starts after `delayMs` at the earliest.
 */
export async function insertJob(
  db: Db,
  { key, payload, delayMs, waitsFor, ...kind }: NewJob,
  beside: ReturnType<Db> | null = null,
): Promise<void> {
  const json: ReturnType<Db> = db`${db.json(payload as never)}::jsonb`
  const row: ReturnType<Db> = db`select ${json} as payload, ${key}::text as key`
  const written = beside === null ? db`` : db`written as (${beside}),`
  if (key !== null && delayMs === 0)
    await db`
      with ${written} waiting as (${waitingJob(db, key, json)}),
        added as (${insertJobs(db, kind, db`${row} where not exists (select from waiting)`, { waitsFor })})
      select pg_notify(${JOBS_CHANNEL}, '')
      from waiting`
  else if (beside === null) await insertJobs(db, kind, row, { delayMs, waitsFor })
  else await db`with ${written} added as (${insertJobs(db, kind, row, { delayMs, waitsFor })}) select`
}

/**
 * The same job, if it waits already. The lock keeps it waiting until the transaction ends, so that
 * it sees the changes of the transaction. This writes much less than replacing the job.
 */
function waitingJob(db: Db, key: string, payload: ReturnType<Db>): ReturnType<Db> {
  return db`
    select id
    from jobs
    where key = ${key}
      and payload = ${payload}
      and state = 'ready'
      and attempts = 0
    for share`
}

/** Makes known which jobs the clock starts, before it does. */
export async function insertSchedules(sql: Sql, names: readonly string[]): Promise<void> {
  await sql`
    insert into job_schedules (name)
    select unnest(${names as string[]}::text[])
    on conflict (name) do nothing`
}

type ScheduledKind = Pick<NewJob, 'name' | 'class' | 'attempts_max' | 'waitsFor'>

/**
 * Queues a job that the clock starts, unless another worker has queued it for the same time. It
 * takes the place of an earlier one that still waits.
 */
export async function insertScheduledJob(sql: Sql, { waitsFor, ...job }: ScheduledKind, at: Date): Promise<void> {
  const kind = { ...job, priority: 0, request_id: null, traceparent: null }
  await sql`
    with started as (
      insert into job_schedules (name, last_started_at)
      values (${job.name}, ${at})
      on conflict (name) do update
      set last_started_at = excluded.last_started_at
      where job_schedules.last_started_at is null
        or job_schedules.last_started_at < excluded.last_started_at
      returning name
    )
    ${insertJobs(sql, kind, sql`select '{}'::jsonb as payload, name as key from started`, { waitsFor })}`
}
