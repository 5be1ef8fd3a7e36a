import type { Db } from '../../platform/db/sql.ts'

/** The table or alias that holds the attempt: its run's row, or one of its own. */
export type AttemptTable = 'run' | 'attempt'

/**
 * The status of an attempt at `now`: an open one past its deadline reads as timed out, whether or not the sweeper has
 * been there.
 */
export function statusAt(db: Db, table: AttemptTable, now: Date) {
  return db`case when ${isOverdue(db, table, now)} then 'timed_out' else ${db(table)}.status end`
}

export function completedAt(db: Db, table: AttemptTable, now: Date) {
  return db`case when ${isOverdue(db, table, now)} then ${timeoutOf(db, table)} else ${db(table)}.completed_at end`
}

/** A start in the future (another clock) moves it: nothing is completed before it started. */
function timeoutOf(db: Db, table: AttemptTable) {
  return db`greatest(${db(table)}.deadline_at, ${db(table)}.started_at)`
}

function isOverdue(db: Db, table: AttemptTable, now: Date) {
  return db`(${db(table)}.completed_at is null and ${db(table)}.deadline_at <= ${now})`
}

const SETTLED_AT_ONCE_MAX = 1000

export type SettledAttempt = { org_id: string; run_id: string; attempt: number }

/**
 * Writes `timed_out` into newest attempts whose deadline has passed, oldest first. Returns which they were. A run
 * that is being changed waits for the next time.
 */
export async function settleNewestAttempts(db: Db, now: Date): Promise<SettledAttempt[]> {
  return db<SettledAttempt[]>`
    with overdue as (
      select org_id, id
      from ci_runs run
      where ${isOverdue(db, 'run', now)}
      order by deadline_at
      limit ${SETTLED_AT_ONCE_MAX}
      for update skip locked
    )
    update ci_runs run
    set status = 'timed_out', completed_at = ${timeoutOf(db, 'run')}, updated_at = ${now}
    from overdue
    where (run.org_id, run.id) = (overdue.org_id, overdue.id)
    returning run.org_id, run.id as run_id, run.newest_attempt as attempt`
}

/** The same for attempts before the newest. Whoever changes one holds its run. */
export async function settleEarlierAttempts(db: Db, now: Date): Promise<SettledAttempt[]> {
  return db<SettledAttempt[]>`
    with overdue as (
      select attempt.org_id, attempt.run_id, attempt.number
      from ci_runs run
      join ci_run_attempts attempt on attempt.org_id = run.org_id and attempt.run_id = run.id
      where ${isOverdue(db, 'attempt', now)}
      order by attempt.deadline_at
      limit ${SETTLED_AT_ONCE_MAX}
      for update skip locked
    ), run as (
      update ci_runs run
      set updated_at = ${now}
      from overdue
      where (run.org_id, run.id) = (overdue.org_id, overdue.run_id)
    )
    update ci_run_attempts attempt
    set status = 'timed_out', completed_at = ${timeoutOf(db, 'attempt')}
    from overdue
    where (attempt.org_id, attempt.run_id, attempt.number) = (overdue.org_id, overdue.run_id, overdue.number)
    returning attempt.org_id, attempt.run_id, attempt.number as attempt`
}
