import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { buildBeside, buildIsOpenRun, buildTrustRank } from '../runs/run.store.ts'
import { buildStatusAt } from '../runs/run-attempt.store.ts'
import { hasEndedBadly, isFinal, type RunStatus } from '../runs/run-status.ts'
import { formatPipelineRun } from './pipeline-run-json.ts'
import {
  buildRunColumns,
  buildRunVersion,
  listEarlierAttempts,
  listProviderMembers,
  type RunRow,
} from './pipeline-run-row.store.ts'

export type RunFilter = {
  /** The status that a run has at `now`. */
  status?: RunStatus | undefined
  /** `owner/name` */
  repository?: string | undefined
  branch?: string | undefined
  recovered?: boolean | undefined
  now: Date
}

/** Where a run is in the list. While its version is the same, so is its row; null: not known. */
export type ListedRun = { id: string; created_at: Date; provider: string; version: string | null }

/**
 * One page of runs as they are at `now`, newest first, and one more row when there is a next page.
 */
export function listRunVersions(db: Db, orgId: string, page: Page, filter: RunFilter) {
  const conditions = buildConditions(db, orgId, page, filter)
  return db<ListedRun[]>`
    select run.id, run.created_at, run.provider, ${buildRunVersion(db, filter.now)} as version
    from ${filter.status === 'timed_out' ? timedOutRuns(db, conditions, { page, now: filter.now }) : db`ci_runs`} run
    where ${conditions}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}`
}

function buildConditions(db: Db, orgId: string, page: Page, { status, repository, branch, recovered, now }: RunFilter) {
  return db`
    run.org_id = ${orgId}
    and ${buildPageCondition(db, page, db`run`, buildIsOpenRun(db, db`run`, page.since))}
    ${repository === undefined ? db`` : db`and run_full_name(run.repository) = ${repository}`}
    ${branch === undefined ? db`` : db`and branch_name(run.ref) = branch_name(${branch})`}
    ${recovered === undefined ? db`` : db`and ${hasRecovered(db)} = ${recovered}`}
    ${status === undefined ? db`` : db`and ${buildStatusAt(db, 'run', now)} = ${status}`}
    ${status === undefined || status === 'timed_out' ? db`` : hasStatus(db, status)}`
}

/** Whether the pipeline has succeeded since on the same branch, as nobody weaker says. */
function hasRecovered(db: Db) {
  return db`exists (
    select from ci_runs later
    where later.org_id = run.org_id
      and later.repository = run.repository
      and later.completed_at is not null
      and later.created_at > run.created_at
      and later.pipeline_name = run.pipeline_name
      and branch_name(later.ref) is not distinct from branch_name(run.ref)
      and later.status = 'success'
      and ${buildTrustRank(db, db`later.trust`)} <= ${buildTrustRank(db, db`run.trust`)}
  )`
}

/** The stored status. The conditions besides are those of partial indexes. */
function hasStatus(db: Db, status: RunStatus) {
  if (hasEndedBadly(status))
    return db`and run.status = ${status} and run.status not in ('queued', 'in_progress', 'success')`
  return isFinal(status) ? db`and run.status = ${status}` : db`and run.status = ${status} and run.completed_at is null`
}

/** Runs that were settled as `timed_out`, and open ones whose deadline has passed since. */
function timedOutRuns(
  db: Db,
  conditions: ReturnType<typeof buildConditions>,
  { page, now }: { page: Page; now: Date },
) {
  const newest = (stored: ReturnType<typeof hasStatus>) => db`(
    select run.*, run.xmin
    from ci_runs run
    where ${conditions}
      ${stored}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}
  )`
  const overdue = db`and run.completed_at is null and run.deadline_at <= ${now}`
  return db`(${newest(hasStatus(db, 'timed_out'))} union all ${newest(overdue)})`
}

/**
 * SQL: the names of the repositories that have runs, as `full_name`, with the time of their first
 * run. It reads one row of the index for each name.
 */
export function buildRunNames(db: Db, orgId: string) {
  const next = (after: ReturnType<typeof everyRun>) => db`
    select run_full_name(run.repository) as full_name, run.created_at
    from ci_runs run
    where run.org_id = ${orgId}
      ${after}
    order by run_full_name(run.repository), run.created_at, run.id
    limit 1`
  return db`
    with recursive named as (
      (${next(everyRun(db))})
      union all
      select found.full_name, found.created_at
      from named
      cross join lateral (${next(db`and run_full_name(run.repository) > named.full_name`)}) found
    )
    select full_name, created_at
    from named`
}

function everyRun(db: Db) {
  return db``
}

/**
 * A run as it is at `now`, with what stands beside it; null when it does not exist or was over
 * before `retainedSince`.
 */
export async function findPipelineRun(
  db: Db,
  orgId: string,
  id: string,
  { retainedSince, now }: { retainedSince: Date; now: Date },
): Promise<string | null> {
  const rows = await db<(RunRow & { stands_beside: string | null })[]>`
    select ${buildRunColumns(db, now)}, ${buildBeside(db, orgId)} as stands_beside
    from ci_runs run
    where run.org_id = ${orgId}
      and run.id = ${id}
      and (run.created_at >= ${retainedSince} or ${buildIsOpenRun(db, db`run`, retainedSince)})`
  const [run] = await toJson(db, orgId, rows, now)
  const beside = rows[0]?.stands_beside ?? null
  if (run === undefined || beside === null) return run?.json ?? null
  return `${run.json.slice(0, -1)},"stands_beside":${JSON.stringify(beside)}}`
}

/** A run as JSON text. Null: its version is not known. */
export type VersionedRun = { id: string; version: string | null; json: string }

/** These runs as they are at `now`, without those that were deleted. */
export async function listPipelineRuns(
  db: Db,
  orgId: string,
  ids: readonly string[],
  now: Date,
): Promise<VersionedRun[]> {
  if (ids.length === 0) return []
  const rows = await db<RunRow[]>`
    select ${buildRunColumns(db, now)}
    from ci_runs run
    where run.org_id = ${orgId}
      and run.id = any(${ids as string[]})`
  return toJson(db, orgId, rows, now)
}

async function toJson(db: Db, orgId: string, runs: readonly RunRow[], now: Date): Promise<VersionedRun[]> {
  const ofHosts = runs.filter(isOfHost).map(({ id }) => id)
  const [earlier, provided] = await Promise.all([
    listEarlierAttempts(db, orgId, runs, now),
    listProviderMembers(db, orgId, ofHosts),
  ])
  return runs.map((run) => {
    const members = provided.get(run.id)
    const json = formatPipelineRun(run, earlier.get(run.id) ?? [], members?.json)
    return { id: run.id, version: buildWholeVersion(run, members?.version), json }
  })
}

export function isOfHost({ provider }: { provider: string }): boolean {
  return provider !== 'other'
}

/** The version of a run with that of what its code host provides. */
export function buildWholeVersion({ version }: { version: string | null }, ofMembers = ''): string | null {
  return version && `${version} ${ofMembers}`
}
