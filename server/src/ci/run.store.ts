import type { Db, Tx } from '../platform/db/sql.ts'
import type { RunStatus } from './run-status.ts'

/** What stays the same over the attempts of a run. */
export type RunRow = {
  org_id: string
  id: string
  provider: string
  ci_system: string
  ci_system_name: string | null
  external_run_id: string
  repository: string
  commit_sha: string
  ref: string | null
  pipeline_name: string
  event: string
  trust: string
  credential: { type: string; id: string; name: string }
  /** The credential's number for this run within `at`'s UTC day. */
  day_number: number
}

export type AttemptRow = {
  number: number
  status: RunStatus
  url: string | null
  actor: string | null
  started_at: Date
  deadline_at: Date
}

export type LinkedRepository = { provider: string; id: string }

/** A run with its first attempt, as it is stored at `created_at`. */
export type NewRun = RunRow & { attempt: AttemptRow; created_at: Date }

/** What the caller of `insertRuns` does not know yet. */
export type InsertedRun = { id: string; linked_repository: LinkedRepository | null }

/**
 * Stores runs, each with its first attempt. In the answer a run is missing when it is there already, or when another
 * process took the same day number: `lockRun` tells which. In one order for all, so that two calls do not wait for
 * each other.
 */
export async function insertRuns(db: Db, runs: readonly NewRun[]): Promise<InsertedRun[]> {
  return db<InsertedRun[]>`
    with given as (
      select *
      from json_to_recordset(${db.json(runs.map(toRecord))}::json) as given (
        org_id uuid, id text, provider text, ci_system text, ci_system_name text, external_run_id text,
        repository text, commit_sha text, ref text, pipeline_name text, event text, trust text,
        credential_type text, credential_id uuid, credential_name text, day_number smallint,
        number smallint, status text, url text, actor text, started_at timestamptz, deadline_at timestamptz,
        created_at timestamptz
      )
      order by org_id, ci_system, external_run_id
    ), run as (
      insert into ci_runs (
        org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref, pipeline_name,
        event, trust, credential_type, credential_id, credential_name, newest_attempt, day, day_number, created_at,
        updated_at
      )
      select org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref,
        pipeline_name, event, trust, credential_type, credential_id, credential_name, number, created_at, day_number,
        created_at, created_at
      from given
      on conflict do nothing
      returning org_id, id, repository
    ), attempt as (
      insert into ci_run_attempts (org_id, run_id, number, status, url, actor, started_at, deadline_at, created_at)
      select run.org_id, run.id, number, status, url, actor, started_at, deadline_at, created_at
      from run
      join given on given.id = run.id
    )
    select run.id, ${linkedRepository(db)} as linked_repository
    from run`
}

function toRecord({ credential, attempt, ...run }: NewRun) {
  return {
    ...run,
    ...attempt,
    credential_type: credential.type,
    credential_id: credential.id,
    credential_name: credential.name,
  }
}

/** The run of an external id, locked until the transaction ends. */
export async function lockRun(tx: Tx, orgId: string, ciSystem: string, externalRunId: string) {
  const [row] = await tx<{ id: string; newest_attempt: number }[]>`
    select id, newest_attempt
    from ci_runs
    where org_id = ${orgId}
      and ci_system = ${ciSystem}
      and external_run_id = ${externalRunId}
    for update`
  return row ?? null
}

/** The number of the newest attempt of a run, which stays locked until the transaction ends. */
export async function lockRunById(tx: Tx, orgId: string, runId: string): Promise<number | null> {
  const [row] = await tx<{ newest_attempt: number }[]>`
    select newest_attempt
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
    for update`
  return row?.newest_attempt ?? null
}

export async function insertAttempt(tx: Tx, orgId: string, runId: string, attempt: AttemptRow, at: Date) {
  await tx`
    with run as (
      update ci_runs
      set newest_attempt = ${attempt.number}, updated_at = ${at}
      where org_id = ${orgId}
        and id = ${runId}
    )
    insert into ci_run_attempts (org_id, run_id, number, status, url, actor, started_at, deadline_at, created_at)
    values (
      ${orgId}, ${runId}, ${attempt.number}, ${attempt.status}, ${attempt.url}, ${attempt.actor},
      ${attempt.started_at}, ${attempt.deadline_at}, ${at}
    )`
}

export type StoredAttempt = {
  status: RunStatus
  url: string | null
  started_at: Date
  completed_at: Date | null
}

/** One attempt as it stands at `now`, deadline included. */
export async function findAttempt(tx: Tx, orgId: string, runId: string, number: number, now: Date) {
  const [row] = await tx<StoredAttempt[]>`
    select ${attemptStatus(tx, now)} as status, attempt.url, attempt.started_at,
      ${attemptCompletedAt(tx, now)} as completed_at
    from ci_run_attempts attempt
    where org_id = ${orgId}
      and run_id = ${runId}
      and number = ${number}`
  return row ?? null
}

export type AttemptChange = { status: RunStatus; url: string | null; completed_at: Date | null }

export async function updateAttempt(
  tx: Tx,
  orgId: string,
  runId: string,
  number: number,
  change: AttemptChange,
  at: Date,
) {
  await tx`
    with run as (
      update ci_runs
      set updated_at = ${at}
      where org_id = ${orgId}
        and id = ${runId}
    )
    update ci_run_attempts
    set status = ${change.status}, url = ${change.url}, completed_at = ${change.completed_at}
    where org_id = ${orgId}
      and run_id = ${runId}
      and number = ${number}`
}

/** A run with one of its attempts, as both stand at a certain time. */
export type StoredRun = Omit<RunRow, 'org_id' | 'day_number' | 'credential'> &
  Omit<AttemptRow, 'number'> & {
    attempt: number
    completed_at: Date | null
    linked_repository: LinkedRepository | null
    credential: { type: string; name: string }
    created_at: Date
    updated_at: Date
  }

/** A run with the attempt of that number, which must be there, as both stand at `now`. */
export async function readRun(db: Db, orgId: string, runId: string, number: number, now: Date): Promise<StoredRun> {
  const [row] = await db<[StoredRun]>`
    select run.id, run.provider, run.ci_system, run.ci_system_name, run.external_run_id, attempt.number as attempt,
      run.repository, run.commit_sha, run.ref, run.pipeline_name, attempt.url, ${attemptStatus(db, now)} as status,
      attempt.started_at, ${attemptCompletedAt(db, now)} as completed_at, attempt.actor, run.event,
      attempt.deadline_at, run.trust, ${linkedRepository(db)} as linked_repository,
      json_build_object('type', run.credential_type, 'name', run.credential_name) as credential,
      run.created_at, run.updated_at
    from ci_runs run
    join ci_run_attempts attempt on attempt.org_id = run.org_id and attempt.run_id = run.id
    where run.org_id = ${orgId}
      and run.id = ${runId}
      and attempt.number = ${number}`
  return row
}

const SETTLED_AT_ONCE_MAX = 1000

/** Writes `timed_out` into attempts whose deadline has passed, oldest first. Returns how many there were. */
export async function settleOverdueAttempts(db: Db, now: Date): Promise<number> {
  const rows = await db`
    with overdue as (
      select org_id, run_id, number
      from ci_run_attempts
      where completed_at is null
        and deadline_at <= ${now}
      order by deadline_at
      limit ${SETTLED_AT_ONCE_MAX}
      for update skip locked
    ), settled as (
      update ci_run_attempts attempt
      set status = 'timed_out', completed_at = greatest(attempt.deadline_at, attempt.started_at)
      from overdue
      where (attempt.org_id, attempt.run_id, attempt.number) = (overdue.org_id, overdue.run_id, overdue.number)
      returning attempt.org_id, attempt.run_id
    )
    update ci_runs run
    set updated_at = ${now}
    from settled
    where (run.org_id, run.id) = (settled.org_id, settled.run_id)
    returning run.id`
  return rows.length
}

const DAY_NUMBERS_AT_ONCE = 500

/** Numbers that a credential's new runs of a day may still take, in random order so that processes seldom collide. */
export async function findFreeDayNumbers(db: Db, orgId: string, credentialId: string, day: Date, max: number) {
  const rows = await db<{ number: number }[]>`
    select number
    from generate_series(1, ${max}::int) number
    where not exists (
      select from ci_runs
      where org_id = ${orgId}
        and credential_id = ${credentialId}
        and day = ${day}
        and day_number = number
    )
    order by random()
    limit ${DAY_NUMBERS_AT_ONCE}`
  return rows.map((row) => row.number)
}

/** An open attempt past its deadline reads as timed out, whether or not the sweeper has been there. */
export function attemptStatus(db: Db, now: Date) {
  return db`
    case when attempt.completed_at is null and attempt.deadline_at <= ${now} then 'timed_out' else attempt.status end`
}

export function attemptCompletedAt(db: Db, now: Date) {
  return db`
    case
      when attempt.completed_at is null and attempt.deadline_at <= ${now}
      then greatest(attempt.deadline_at, attempt.started_at)
      else attempt.completed_at
    end`
}

/** The connected provider's repository of the run's name, or null. */
function linkedRepository(db: Db) {
  return db`(
    select json_build_object('provider', repository.provider, 'id', repository.id)
    from repositories repository
    where repository.org_id = run.org_id
      and repository.host = split_part(run.repository, '/', 1)
      and lower(repository.full_name) = lower(substr(run.repository, strpos(run.repository, '/') + 1))
    limit 1
  )`
}
