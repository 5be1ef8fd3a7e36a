import type { Db, Tx } from '../../platform/db/sql.ts'
import { completedAt, statusAt } from './attempt-deadline.store.ts'
import type { RunStatus } from './run-status.ts'

export type AttemptRow = {
  number: number
  status: RunStatus
  url: string | null
  actor: string | null
  started_at: Date
  deadline_at: Date
}

/** Adds an attempt above the newest, which moves to the earlier ones. The run is locked. */
export async function insertAttempt(tx: Tx, orgId: string, runId: string, attempt: AttemptRow, at: Date) {
  await tx`
    with superseded as (
      insert into ci_run_attempts (
        org_id, run_id, number, status, url, actor, started_at, completed_at, deadline_at
      )
      select org_id, id, newest_attempt, status, url, actor, started_at, completed_at, deadline_at
      from ci_runs
      where org_id = ${orgId}
        and id = ${runId}
    )
    update ci_runs
    set newest_attempt = ${attempt.number}, status = ${attempt.status}, url = ${attempt.url}, actor = ${attempt.actor},
      started_at = ${attempt.started_at}, completed_at = null, deadline_at = ${attempt.deadline_at}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${runId}`
}

/** Every attempt of a run, in one form wherever it is stored. */
export function attemptsOf(db: Db, orgId: string, runId: string) {
  return db`(
    select newest_attempt as number, status, url, actor, started_at, completed_at, deadline_at
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
    union all
    select number, status, url, actor, started_at, completed_at, deadline_at
    from ci_run_attempts
    where org_id = ${orgId}
      and run_id = ${runId}
  )`
}

/** An attempt as it stands at a certain time, deadline included. */
export type StoredAttempt = Omit<AttemptRow, 'number'> & { completed_at: Date | null }

export async function findAttempt(tx: Tx, orgId: string, runId: string, number: number, now: Date) {
  const [row] = await tx<StoredAttempt[]>`
    select ${statusAt(tx, 'attempt', now)} as status, attempt.url, attempt.actor, attempt.started_at,
      ${completedAt(tx, 'attempt', now)} as completed_at, attempt.deadline_at
    from ${attemptsOf(tx, orgId, runId)} attempt
    where attempt.number = ${number}`
  return row ?? null
}

export type AttemptChange = { status: RunStatus; url: string | null; completed_at: Date | null }

/** Changes an attempt, which must be there. The run is locked. */
export async function updateAttempt(
  tx: Tx,
  orgId: string,
  runId: string,
  number: number,
  change: AttemptChange,
  at: Date,
) {
  const newest = await tx`
    update ci_runs
    set status = ${change.status}, url = ${change.url}, completed_at = ${change.completed_at}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${runId}
      and newest_attempt = ${number}`
  if (newest.count === 0) await updateEarlierAttempt(tx, orgId, runId, number, change, at)
}

async function updateEarlierAttempt(
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
