import { buildSpreadCondition, runAcrossOrganizations } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'

/** Identifies one attempt of a run. */
export type AttemptKey = { org_id: string; run_id: string; attempt: number }

/**
 * The alias of the row that holds an attempt: `run` for the newest attempt, `attempt` for an
 * earlier one.
 */
export type AttemptTable = 'run' | 'attempt'

/**
 * The status of an attempt at `now`: an open attempt past its deadline is `timed_out`, settled or
 * not.
 */
export function buildStatusAt(db: Db, table: AttemptTable, now: Date) {
  return db`case when ${isOverdue(db, table, now)} then 'timed_out' else ${db(table)}.status end`
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

/**
 * Sets newest attempts past their deadline to `timed_out`, oldest first, and returns them. Skips
 * runs that are locked; the next call settles them.
 */
export async function updateNewestOverdueAttempts(db: Db, now: Date): Promise<AttemptKey[]> {
  return runAcrossOrganizations(
    db,
    db`ci_runs run where ${isOverdue(db, 'run', now)}`,
    (orgId) => db<AttemptKey[]>`
      with overdue as (
        select org_id, id
        from ci_runs run
        where ${isOverdue(db, 'run', now)} ${buildSpreadCondition(db, 'run', orgId)}
        order by deadline_at
        limit ${SETTLED_AT_ONCE_MAX}
        for update skip locked
      )
      update ci_runs run
      set status = 'timed_out', completed_at = ${buildTimeout(db, 'run')}, updated_at = ${now}
      from overdue
      where (run.org_id, run.id) = (overdue.org_id, overdue.id) ${buildSpreadCondition(db, 'run', orgId)}
      returning run.org_id, run.id as run_id, run.newest_attempt as attempt`,
  )
}

/**
 * The same for earlier attempts. Every change of an earlier attempt locks its run, hence `for
 * update` on both.
 */
export async function updateEarlierOverdueAttempts(db: Db, now: Date): Promise<AttemptKey[]> {
  return runAcrossOrganizations(
    db,
    db`ci_run_attempts attempt where ${isOverdue(db, 'attempt', now)}`,
    (orgId) => db<AttemptKey[]>`
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
      set status = 'timed_out', completed_at = ${buildTimeout(db, 'attempt')}
      from overdue
      where (attempt.org_id, attempt.run_id, attempt.number) = (overdue.org_id, overdue.run_id, overdue.number)
        ${buildSpreadCondition(db, 'attempt', orgId)}
      returning attempt.org_id, attempt.run_id, attempt.number as attempt`,
  )
}
