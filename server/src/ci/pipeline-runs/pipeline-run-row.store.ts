import type { Db } from '../../platform/db/sql.ts'
import { type AttemptTable, buildCompletedAt, buildStatusAt, isOverdue } from '../runs/attempt-deadline.store.ts'
import type { ClaimedRun } from '../runs/new-run.store.ts'
import type { RunStatus } from '../runs/run-status.ts'

/** An attempt as it is at a certain time. Times are text in the form of PostgreSQL, in UTC. */
export type AttemptRow = {
  number: number
  status: RunStatus
  started_at: string
  completed_at: string | null
  actor: string | null
}

/** A run with its newest attempt, in the columns of `buildRunColumns`. */
export type RunRow = AttemptRow & {
  id: string
  provider: string
  pipeline_name: string
  /** `host/owner/name` */
  repository: string
  commit_sha: string | null
  ref: string | null
  url: string | null
  event: string
  ci_system: string | null
  trust: string
  created_at: string
  updated_at: string
  /** Null unless a token has created the run. */
  claims: ClaimedRun['claims'] | null
  claimed_provider: string
  claimed_repository_id: string
  version: string | null
}

/**
 * SQL: what the JSON of a run is made from. Times are read as text, because objects of them take
 * longer to make and to write than everything else of a run.
 */
export function buildRunColumns(db: Db, now: Date) {
  return db`
    run.id, run.provider, run.pipeline_name, run.repository, run.commit_sha, run.ref, run.url, run.event, run.ci_system,
    run.trust, run.created_at::text, run.updated_at::text, run.claims, run.claimed_provider, run.claimed_repository_id,
    run.newest_attempt as number, ${attemptColumns(db, 'run', now)}, ${buildRunVersion(db, now)} as version`
}

/**
 * SQL: as long as it is the same, so is what `buildRunColumns` reads: the transaction that wrote
 * the row, and whether the deadline has passed. Null for a run with earlier attempts, which change
 * without it.
 */
export function buildRunVersion(db: Db, now: Date) {
  return db`case when run.newest_attempt = 1 then concat(run.xmin, ${isOverdue(db, 'run', now)}) end`
}

function attemptColumns(db: Db, table: AttemptTable, now: Date) {
  return db`
    ${buildStatusAt(db, table, now)} as status, ${db(table)}.started_at::text,
    (${buildCompletedAt(db, table, now)})::text as completed_at, ${db(table)}.actor`
}

/** The attempts before the newest one, in their order, by the id of the run. */
export async function listEarlierAttempts(
  db: Db,
  orgId: string,
  runs: readonly RunRow[],
  now: Date,
): Promise<Map<string, AttemptRow[]>> {
  const newest = new Map(runs.filter(({ number }) => number > 1).map(({ id, number }) => [id, number]))
  if (newest.size === 0) return new Map()
  const rows = await db<(AttemptRow & { run_id: string })[]>`
    select attempt.run_id, attempt.number, ${attemptColumns(db, 'attempt', now)}
    from ci_run_attempts attempt
    where attempt.org_id = ${orgId}
      and attempt.run_id = any(${[...newest.keys()]})`
  // A run can have got another attempt since it was read.
  const earlier = rows.filter(({ run_id, number }) => number < (newest.get(run_id) as number))
  return Map.groupBy(
    earlier.sort((a, b) => a.number - b.number),
    ({ run_id }) => run_id,
  )
}
