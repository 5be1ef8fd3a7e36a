import { type Db, getSqlState, type Sql, UNIQUE_VIOLATION } from '../db/sql.ts'
import type { SlotClass } from './job.store.ts'
import { LONE } from './job.ts'

/** A job in progress. `attempts` counts this try. `waits_for` is whom it asks; null for none. */
export type RunningJob = {
  id: number
  name: string
  payload: object
  class: SlotClass
  waits_for: string | null
  organization_id: string | null
  attempts: number
  attempts_max: number
  request_id: string | null
  traceparent: string | null
}

/** Stands for the system where jobs are ordered by organization. No organization has this id. */
export const SYSTEM_ORGANIZATION = '00000000-0000-0000-0000-000000000000'

/**
 * Whose turn it is among the jobs of a class. Of work on the database: the organizations in order,
 * and the system in between. Of jobs that ask others: the organizations in order, and of each one
 * those whom it waits for in order.
 */
export type Turn = { afterOrganization: string; isSystemFirst: boolean; afterWaitedFor: string }

/** One whom an organization waits for. */
export type AwaitedParty = { organization: string; waitsFor: string }

/**
 * A class with a free slot. `full` are the organizations that have as many slots as they may, and
 * `fullAwaited` the same of whom they wait for. `fullParties` are those whom as many jobs ask as
 * may.
 */
export type Opening = {
  class: SlotClass
  turn: Turn
  full: readonly string[]
  fullAwaited: readonly AwaitedParty[]
  fullParties: readonly string[]
}

/** What a worker takes. It leaves jobs alone whose names it does not know. */
type Takeable = { workerId: string; names: readonly string[]; openings: readonly Opening[] }

/**
 * Takes the next job of the first class that has one; null if none is ready. It belongs to the
 * organization whose turn it is and that has one. The worker holds its lock from then on, whatever
 * became of its connection. The index `jobs_asking_alone` lets one job at a time ask a lone party.
 */
export async function lockNextJob(sql: Sql, { workerId, names, openings }: Takeable): Promise<RunningJob | null> {
  const candidates = openings.flatMap((opening) =>
    opening.class === 'outside' || opening.class === 'outside_bulk'
      ? listOutsideCandidates(sql, opening)
      : listLocalCandidates(sql, opening),
  )
  const [first, ...others] = candidates
  if (first === undefined) return null
  const take = sql<RunningJob[]>`
    with known as materialized (
      select ${names as string[]}::text[] as names
    ), held as materialized (
      select ${buildWorkerLock(sql, workerId)} as lock
    ), next as materialized (
      select id
      from (${others.reduce((all, other) => sql`${all} union all ${other}`, first)}) as candidate
      limit 1
    )
    update jobs
    set state = 'running', worker_id = ${workerId}, attempts = attempts + 1, updated_at = now(),
      asks_alone = case when starts_with(waits_for, ${LONE}) then waits_for end
    from next, held
    where jobs.id = next.id
      and held.lock is not null
    returning jobs.id, name, payload, class, waits_for, organization_id, attempts, attempts_max, request_id, traceparent`
  try {
    const [job] = await take
    return job ?? null
  } catch (error) {
    if (getSqlState(error) !== UNIQUE_VIOLATION) throw error
    // Another worker began to ask a lone party at the same moment, which is seen now.
    return lockNextJob(sql, { workerId, names, openings })
  }
}

/** An SQL condition: the worker may take the job. */
function isTakeable(db: Db, slotClass: SlotClass): ReturnType<Db> {
  return db`state = 'ready' and class = ${slotClass} and name = any((select names from known)::text[])`
}

/**
 * Queries of the next job of a class of work on the database, the one whose turn it is first.
 * PostgreSQL reads the next one if others are empty. It steps from one organization to the next,
 * however many jobs of those wait that are full. It locks rows only in subqueries of a union.
 */
function listLocalCandidates(db: Db, { class: slotClass, turn, full }: Opening): ReturnType<Db>[] {
  const next = (after: ReturnType<Db>): ReturnType<Db> => db`
    select organization_id
    from jobs
    where ${isTakeable(db, slotClass)}
      and organization_id > ${after}
    order by organization_id
    limit 1`
  const first = (whose: ReturnType<Db>): ReturnType<Db> => db`
    select id
    from jobs
    where ${isTakeable(db, slotClass)}
      and ${whose}
    order by priority, run_at, id
    limit 1
    for update skip locked`
  const ready = (after: string): ReturnType<Db> => db`
    select id
    from (
      with recursive owners as (
        (${next(db`${after}::uuid`)})
        union all
        select following.organization_id
        from owners
        cross join lateral (${next(db`owners.organization_id`)}) as following
      )
      select job.id
      from owners
      cross join lateral (${first(db`organization_id = owners.organization_id`)}) as job
      where owners.organization_id <> all(${full as string[]}::uuid[])
      limit 1
    ) as job`
  const isSystemFree: ReturnType<Db> = db`${SYSTEM_ORGANIZATION}::uuid <> all(${full as string[]}::uuid[])`
  const system: ReturnType<Db> = db`select id from (${first(db`organization_id is null and ${isSystemFree}`)}) as job`
  const organizations = [ready(turn.afterOrganization), ready(SYSTEM_ORGANIZATION)]
  return turn.isSystemFirst ? [system, ...organizations] : [...organizations, system]
}

/**
 * The same for jobs that ask others. It steps from one whom an organization waits for to the next,
 * however many jobs of those wait that are full.
 */
function listOutsideCandidates(
  db: Db,
  { class: slotClass, turn, full, fullAwaited, fullParties }: Opening,
): ReturnType<Db>[] {
  // As the index has it; a parameter would not be recognized.
  const organization = db`coalesce(organization_id, '00000000-0000-0000-0000-000000000000')`
  const nextAwaited = (after: ReturnType<Db>): ReturnType<Db> => db`
    select ${organization} as organization, waits_for
    from jobs
    where ${isTakeable(db, slotClass)}
      and waits_for is not null
      and (${organization}, waits_for) > ${after}
    order by ${organization}, waits_for
    limit 1`
  // Another worker may ask.
  const isTaken: ReturnType<Db> = db`
    starts_with(awaited.waits_for, ${LONE})
    and exists (
      select
      from jobs asking
      where asking.state = 'running'
        and asking.waits_for = awaited.waits_for
        and coalesce(asking.organization_id, ${SYSTEM_ORGANIZATION}::uuid) = awaited.organization
    )`
  const ready = (after: ReturnType<Db>): ReturnType<Db> => db`
    select id
    from (
      with recursive awaited as (
        (${nextAwaited(after)})
        union all
        select following.organization, following.waits_for
        from awaited
        cross join lateral (${nextAwaited(db`(awaited.organization, awaited.waits_for)`)}) as following
      )
      select job.id
      from awaited
      cross join lateral (
        select id
        from jobs
        where ${isTakeable(db, slotClass)}
          and waits_for is not null
          and ${organization} = awaited.organization
          and waits_for = awaited.waits_for
        order by priority, run_at, id
        limit 1
        for update skip locked
      ) as job
      where awaited.organization <> all(${full as string[]}::uuid[])
        and awaited.waits_for <> all(${fullParties as string[]}::text[])
        and not (${isTaken})
        and not exists (
          select from unnest(
            ${fullAwaited.map((awaited) => awaited.organization)}::uuid[], ${fullAwaited.map((awaited) => awaited.waitsFor)}::text[]
          ) as taken (organization, waits_for)
          where taken.organization = awaited.organization
            and taken.waits_for = awaited.waits_for
        )
      limit 1
    ) as job`
  return [
    ready(db`(${turn.afterOrganization}::uuid, ${turn.afterWaitedFor}::text)`),
    ready(db`(${SYSTEM_ORGANIZATION}::uuid, '')`),
  ]
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
 * Ends a failed try. The retry starts after an exponential backoff, and not before `retryAt`; after
 * the last try the job has failed.
 */
export function updateFailedTry(
  sql: Sql,
  job: { id: number; worker_id: string },
  { message, retryAt }: { message: string; retryAt: Date | null },
): Promise<void> {
  return updateEndedJob(
    sql,
    job,
    sql`
      state = case when attempts >= attempts_max then 'failed' else 'scheduled' end,
      run_at = greatest(
        greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second', ${retryAt}::timestamptz
      ),
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
