import { pageOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { branchName } from '../../repositories/branch-name.ts'
import { statusAt } from '../runs/attempt-deadline.store.ts'
import type { ClaimedRun } from '../runs/new-run.store.ts'
import { endedBadly, isFinal, type RunStatus } from '../runs/run-status.ts'
import { claimedMembers } from './claimed-members.ts'
import { pipelineRunMembers } from './pipeline-run-members.store.ts'
import { readProviderMembers } from './provider-run-members.store.ts'

type RunMembers = {
  id: string
  ref: string | null
  provider: string
  /** Null unless a token has created the run. */
  claims: ClaimedRun['claims'] | null
  claimed_provider: string
  claimed_repository_id: string
  members: string
}

export type RunFilter = {
  /** The status that a run has at `now`. */
  status?: RunStatus | undefined
  /** `owner/name` */
  repository?: string | undefined
  branch?: string | undefined
  now: Date
}

/**
 * One page of runs as they are at `now`, newest first, and one more row when there is a next page.
 */
export async function listPipelineRuns(db: Db, orgId: string, page: Page, filter: RunFilter): Promise<PageRow[]> {
  const conditions = conditionsOf(db, orgId, page, filter)
  const rows = await db<({ created_at: Date } & RunMembers)[]>`
    select run.created_at, run.id, run.ref, run.provider, run.claims, run.claimed_provider, run.claimed_repository_id,
      ${pipelineRunMembers(db, orgId, filter.now)} as members
    from ${filter.status === 'timed_out' ? timedOutRuns(db, conditions, { page, now: filter.now }) : db`ci_runs`} run
    where ${conditions}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}`
  const objects = await toJson(db, orgId, rows)
  return rows.map(({ created_at, id }, at) => ({ created_at, id, json: objects[at] as string }))
}

function conditionsOf(db: Db, orgId: string, page: Page, { status, repository, branch, now }: RunFilter) {
  return db`
    run.org_id = ${orgId}
    and ${pageOf(db, page, db`run`)}
    ${repository === undefined ? db`` : db`and run_full_name(run.repository) = ${repository}`}
    ${branch === undefined ? db`` : db`and branch_name(run.ref) = branch_name(${branch})`}
    ${status === undefined ? db`` : db`and ${statusAt(db, 'run', now)} = ${status}`}
    ${status === undefined || status === 'timed_out' ? db`` : hasStatus(db, status)}`
}

/** The stored status. The conditions besides are those of partial indexes. */
function hasStatus(db: Db, status: RunStatus) {
  if (endedBadly(status))
    return db`and run.status = ${status} and run.status not in ('queued', 'in_progress', 'success')`
  return isFinal(status) ? db`and run.status = ${status}` : db`and run.status = ${status} and run.completed_at is null`
}

/** Runs that were settled as `timed_out`, and open ones whose deadline has passed since. */
function timedOutRuns(db: Db, conditions: ReturnType<typeof conditionsOf>, { page, now }: { page: Page; now: Date }) {
  const newest = (stored: ReturnType<typeof hasStatus>) => db`(
    select run.*
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
export function namesOfRuns(db: Db, orgId: string) {
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

/** A run as it is at `now`; null when it does not exist or is older than `retainedSince`. */
export async function findPipelineRun(
  db: Db,
  orgId: string,
  id: string,
  { retainedSince, now }: { retainedSince: Date; now: Date },
): Promise<string | null> {
  const rows = await db<RunMembers[]>`
    select run.id, run.ref, run.provider, run.claims, run.claimed_provider, run.claimed_repository_id,
      ${pipelineRunMembers(db, orgId, now)} as members
    from ci_runs run
    where run.org_id = ${orgId}
      and run.id = ${id}
      and run.created_at >= ${retainedSince}`
  const [json = null] = await toJson(db, orgId, rows)
  return json
}

/** Fields that no source has a value for yet. */
const WITHOUT_VALUE = { sso_organization_id: null }
/**
 * Fields that only code hosts, and some claims, have a value for (specification, "Pipeline run").
 */
const WITHOUT_PROVIDER = {
  github_run_id: null,
  workflow_path: null,
  repository_id: null,
  repository_owner_id: null,
  commit_message: null,
  release_name: null,
  author_id: null,
  author_login: null,
  author_avatar_url: null,
  job_dependencies: {},
  run_number: null,
  actor_name: null,
  actor_avatar_url: null,
  actor_url: null,
  importance_score: null,
  anomaly_reasons: [],
  failure_category: null,
  failure_excerpt: null,
  failure_recurrence: null,
  azure: null,
}
const HOST_MEMBERS = membersOf(WITHOUT_VALUE)
const OTHER_MEMBERS = membersOf({ ...WITHOUT_VALUE, ...WITHOUT_PROVIDER })

function membersOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

/** Constant members are added here, so that a third of the text does not come from the database. */
async function toJson(db: Db, orgId: string, runs: readonly RunMembers[]): Promise<string[]> {
  const ofHosts = runs.filter(({ provider }) => provider !== 'other').map(({ id }) => id)
  const provided = await readProviderMembers(db, orgId, ofHosts)
  return runs.map((run) => {
    const ofProvider = provided.get(run.id)
    const others = ofProvider === undefined ? membersWithoutHost(run) : `${ofProvider},${HOST_MEMBERS}`
    return `{${run.members},"branch":${JSON.stringify(branchName(run.ref))},${others}}`
  })
}

function membersWithoutHost({ claims, claimed_provider, claimed_repository_id }: RunMembers): string {
  if (claims === null) return OTHER_MEMBERS
  const claimed = claimedMembers({ provider: claimed_provider, repository_id: claimed_repository_id, claims })
  return membersOf({ ...WITHOUT_VALUE, ...WITHOUT_PROVIDER, ...claimed })
}
