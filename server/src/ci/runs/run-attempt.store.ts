import { buildAverageId, buildSpreadCondition, runAcrossOrganizations } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Attempt, ProviderRunKey, RunCourse } from './provider-run.ts'
import type { RunStatus } from './run-status.ts'
import type { TrustClass } from './trust.ts'

export type AttemptRow = {
  number: number
  status: RunStatus
  url: string | null
  actor: string | null
  started_at: Date
  deadline_at: Date
}

/** What an attempt is about. Null where it is the same as its run. */
export type AttemptSource = { repository: string | null; commit_sha: string | null }

/** The status of an attempt that nobody finishes, from its deadline on; null: `timed_out`. */
type Overdue = { overdue_status: RunStatus | null }

/**
 * Makes `attempt` the newest attempt of a run and keeps the previous one as an earlier attempt. The
 * run is locked.
 */
export async function insertAttempt(
  tx: Tx,
  { org_id, run_id }: Omit<AttemptKey, 'attempt'>,
  { repository, commit_sha, ...attempt }: AttemptRow & AttemptSource & Overdue,
  at: Date,
): Promise<void> {
  await tx`
    with superseded as (
      insert into ci_run_attempts (
        org_id, run_id, number, status, url, actor, started_at, completed_at, deadline_at, trust, repository, commit_sha,
        overdue_status
      )
      select org_id, id, newest_attempt, status, url, actor, started_at, completed_at, deadline_at, trust,
        attempt_repository, attempt_commit_sha, overdue_status
      from ci_runs
      where org_id = ${org_id}
        and id = ${run_id}
    )
    update ci_runs
    set newest_attempt = ${attempt.number}, status = ${attempt.status}, url = ${attempt.url}, actor = ${attempt.actor},
      started_at = ${attempt.started_at}, completed_at = null, deadline_at = ${attempt.deadline_at},
      attempt_repository = ${repository}, attempt_commit_sha = ${commit_sha},
      overdue_status = ${attempt.overdue_status}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${run_id}`
}

/**
 * Every attempt of a run: the newest from the row of the run, the earlier ones from their own
 * table.
 */
export function buildAttempts(db: Db, orgId: string, runId: string) {
  return db`(
    select newest_attempt as number, status, url, actor, started_at, completed_at, deadline_at, trust,
      attempt_repository as repository, attempt_commit_sha as commit_sha, overdue_status
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
    union all
    select number, status, url, actor, started_at, completed_at, deadline_at, trust, repository, commit_sha,
      overdue_status
    from ci_run_attempts
    where org_id = ${orgId}
      and run_id = ${runId}
  )`
}

/**
 * SQL: `(number, repository, commit_sha)` of every attempt of a run, with what it is about
 * (`AttemptSource`). `runId` is an expression.
 */
export function buildAttemptSources(db: Db, orgId: string, runId: ReturnType<Db>) {
  return db`(
    select newest.newest_attempt as number, newest.attempt_repository as repository,
      newest.attempt_commit_sha as commit_sha
    from ci_runs newest
    where newest.org_id = ${buildAverageId(db, orgId)}
      and newest.id = ${runId}
    union all
    select earlier.number, earlier.repository, earlier.commit_sha
    from ci_run_attempts earlier
    where earlier.org_id = ${buildAverageId(db, orgId)}
      and earlier.run_id = ${runId}
  )`
}

/** An attempt at a certain time: past its deadline it has timed out. */
export type StoredAttempt = Omit<AttemptRow, 'number'> &
  AttemptSource & { completed_at: Date | null; trust: TrustClass }

/** An attempt at `now`; null when it does not exist. */
export async function findAttempt(db: Db, key: AttemptKey, now: Date): Promise<StoredAttempt | null> {
  const [row] = await db<StoredAttempt[]>`
    select ${buildStatusAt(db, 'attempt', now)} as status, attempt.url, attempt.actor, attempt.started_at,
      ${buildCompletedAt(db, 'attempt', now)} as completed_at, attempt.deadline_at, attempt.trust,
      attempt.repository, attempt.commit_sha
    from ${buildAttempts(db, key.org_id, key.run_id)} attempt
    where attempt.number = ${key.attempt}`
  return row ?? null
}

export async function hasAttempt(db: Db, key: AttemptKey): Promise<boolean> {
  const rows = await db`
    select
    from ${buildAttempts(db, key.org_id, key.run_id)} attempt
    where attempt.number = ${key.attempt}`
  return rows.length === 1
}

export type AttemptChange = { status: RunStatus; url: string | null; completed_at: Date | null }

/** Changes an attempt, which must exist. The run is locked. */
export async function updateAttempt(tx: Tx, key: AttemptKey, change: AttemptChange, at: Date): Promise<void> {
  const newest = await tx`
    update ci_runs
    set status = ${change.status}, url = ${change.url}, completed_at = ${change.completed_at}, updated_at = ${at}
    where org_id = ${key.org_id}
      and id = ${key.run_id}
      and newest_attempt = ${key.attempt}`
  if (newest.count === 0) await updateEarlierAttempt(tx, key, change, at)
}

async function updateEarlierAttempt(tx: Tx, key: AttemptKey, change: AttemptChange, at: Date): Promise<void> {
  await tx`
    with run as (
      update ci_runs
      set updated_at = ${at}
      where org_id = ${key.org_id}
        and id = ${key.run_id}
    )
    update ci_run_attempts
    set status = ${change.status}, url = ${change.url}, completed_at = ${change.completed_at}
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}
      and number = ${key.attempt}`
}

/** Stores the newest attempt of a stored run. */
export async function updateNewestAttempt(tx: Tx, key: ProviderRunKey, course: RunCourse): Promise<void> {
  const { newest, updated_at } = course
  await tx`
    update ci_runs
    set newest_attempt = ${newest.number}, status = ${newest.status}, url = ${newest.url}, actor = ${newest.actor},
      started_at = ${newest.started_at}, completed_at = ${newest.completed_at}, updated_at = ${updated_at}
    where org_id = ${key.org_id}
      and id = ${key.run_id}`
}

/** Stores the attempts before the newest one. */
export async function upsertEarlierAttempts(tx: Tx, key: ProviderRunKey, attempts: readonly Attempt[]): Promise<void> {
  await tx`
    insert into ci_run_attempts (org_id, run_id, number, status, url, actor, started_at, completed_at, trust)
    select ${key.org_id}, ${key.run_id}, number, status, url, actor, started_at, completed_at, 'verified'
    from json_to_recordset(${tx.json(attempts as never)}::json) as given (
      number smallint, status text, url text, actor text, started_at timestamptz, completed_at timestamptz
    )
    on conflict (org_id, run_id, number) do update
    set status = excluded.status, url = excluded.url, actor = excluded.actor, started_at = excluded.started_at,
      completed_at = excluded.completed_at`
}

/** Identifies one attempt of a run. */
export type AttemptKey = { org_id: string; run_id: string; attempt: number }

/**
 * The alias of the row that holds an attempt: `run` for the newest attempt, `attempt` for an
 * earlier one.
 */
export type AttemptTable = 'run' | 'attempt'

/**
 * The status of an attempt at `now`: an open attempt past its deadline is `timed_out`, or what its
 * run was before, settled or not.
 */
export function buildStatusAt(db: Db, table: AttemptTable, now: Date) {
  return db`case when ${isOverdue(db, table, now)} then ${buildOverdueStatus(db, table)} else ${db(table)}.status end`
}

function buildOverdueStatus(db: Db, table: AttemptTable) {
  return db`coalesce(${db(table)}.overdue_status, 'timed_out')`
}

/** When an attempt was completed, as of `now`; null while it is open. */
export function buildCompletedAt(db: Db, table: AttemptTable, now: Date) {
  return db`case when ${isOverdue(db, table, now)} then ${buildTimeout(db, table)} else ${db(table)}.completed_at end`
}

/**
 * The deadline, or `started_at` where that is later, so that no attempt is completed before it
 * started.
 */
function buildTimeout(db: Db, table: AttemptTable) {
  return db`greatest(${db(table)}.deadline_at, ${db(table)}.started_at)`
}

/** Whether an open attempt is past its deadline at `now`. */
export function isOverdue(db: Db, table: AttemptTable, now: Date) {
  return db`(${db(table)}.completed_at is null and ${db(table)}.deadline_at <= ${now})`
}

const SETTLED_AT_ONCE_MAX = 1000

/** An attempt past its deadline. A continued one has the status of the attempt before it. */
export type SettledAttempt = AttemptKey & { is_continued: boolean }

/**
 * Settles newest attempts past their deadline, oldest first, and returns them. Skips runs that are
 * locked; the next call settles them.
 */
export async function updateNewestOverdueAttempts(db: Db, now: Date): Promise<SettledAttempt[]> {
  return runAcrossOrganizations(
    db,
    db`ci_runs run where ${isOverdue(db, 'run', now)}`,
    (orgId) => db<SettledAttempt[]>`
      with overdue as (
        select org_id, id
        from ci_runs run
        where ${isOverdue(db, 'run', now)} ${buildSpreadCondition(db, 'run', orgId)}
        order by deadline_at
        limit ${SETTLED_AT_ONCE_MAX}
        for update skip locked
      )
      update ci_runs run
      set status = ${buildOverdueStatus(db, 'run')}, completed_at = ${buildTimeout(db, 'run')}, updated_at = ${now}
      from overdue
      where (run.org_id, run.id) = (overdue.org_id, overdue.id) ${buildSpreadCondition(db, 'run', orgId)}
      returning run.org_id, run.id as run_id, run.newest_attempt as attempt,
        run.overdue_status is not null as is_continued`,
  )
}

/**
 * The same for earlier attempts. Every change of an earlier attempt locks its run, hence `for
 * update` on both.
 */
export async function updateEarlierOverdueAttempts(db: Db, now: Date): Promise<SettledAttempt[]> {
  return runAcrossOrganizations(
    db,
    db`ci_run_attempts attempt where ${isOverdue(db, 'attempt', now)}`,
    (orgId) => db<SettledAttempt[]>`
      with overdue as (
        select attempt.org_id, attempt.run_id, attempt.number
        from ci_runs run
        join ci_run_attempts attempt on attempt.org_id = run.org_id and attempt.run_id = run.id
        where ${isOverdue(db, 'attempt', now)}
          ${buildSpreadCondition(db, 'run', orgId)} ${buildSpreadCondition(db, 'attempt', orgId)}
        order by attempt.deadline_at
        limit ${SETTLED_AT_ONCE_MAX}
        for update skip locked
      ), run as (
        update ci_runs run
        set updated_at = ${now}
        from overdue
        where (run.org_id, run.id) = (overdue.org_id, overdue.run_id) ${buildSpreadCondition(db, 'run', orgId)}
      )
      update ci_run_attempts attempt
      set status = ${buildOverdueStatus(db, 'attempt')}, completed_at = ${buildTimeout(db, 'attempt')}
      from overdue
      where (attempt.org_id, attempt.run_id, attempt.number) = (overdue.org_id, overdue.run_id, overdue.number)
        ${buildSpreadCondition(db, 'attempt', orgId)}
      returning attempt.org_id, attempt.run_id, attempt.number as attempt,
        attempt.overdue_status is not null as is_continued`,
  )
}
