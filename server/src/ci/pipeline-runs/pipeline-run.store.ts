import { pageOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { statusAt } from '../runs/attempt-deadline.store.ts'
import type { RunStatus } from '../runs/run-status.ts'
import { pipelineRunMembers } from './pipeline-run-members.store.ts'

/** One page of runs, newest first, and one row more where there is a next page. */
export async function listPipelineRuns(
  db: Db,
  orgId: string,
  page: Page,
  filter: { status?: RunStatus | undefined },
  now: Date,
): Promise<PageRow[]> {
  const withStatus = filter.status === undefined ? db`` : db`and ${statusAt(db, 'run', now)} = ${filter.status}`
  const rows = await db<(Omit<PageRow, 'json'> & { members: string })[]>`
    select run.created_at, run.id, ${pipelineRunMembers(db, now)} as members
    from ci_runs run
    where run.org_id = ${orgId}
      and ${pageOf(db, page, db`run`)}
      ${withStatus}
    order by run.created_at desc, run.id desc
    limit ${page.limit + 1}`
  return rows.map(({ created_at, id, members }) => ({ created_at, id, json: toJson(members) }))
}

/** A run that is not older than `retainedSince`, or null. */
export async function findPipelineRun(db: Db, orgId: string, id: string, retainedSince: Date, now: Date) {
  const [row] = await db<{ members: string }[]>`
    select ${pipelineRunMembers(db, now)} as members
    from ci_runs run
    where run.org_id = ${orgId}
      and run.id = ${id}
      and run.created_at >= ${retainedSince}`
  return row ? toJson(row.members) : null
}

/** Facts that a self-reported run does not have: null or empty (specification, "Pipeline run"). */
const ABSENT = {
  sso_organization_id: null,
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
const ABSENT_MEMBERS = JSON.stringify(ABSENT).slice(1, -1)

/** What never differs is added here: a third of the text need not come from the database. */
function toJson(members: string): string {
  return `{${members},${ABSENT_MEMBERS}}`
}
