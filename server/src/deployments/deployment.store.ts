import { buildPageCondition } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import type { DeploymentStatus } from './deployment.schema.ts'

/** Values that the columns of a deployment must equal. */
export type DeploymentFilter = {
  status?: DeploymentStatus | undefined
  environment?: string | undefined
  repository_full_name?: string | undefined
  workflow_name?: string | undefined
  workflow_path?: string | undefined
  pipeline_run_id?: string | undefined
}

/** Returns one page of deployments, newest first, and one more row when there is a next page. */
export async function listDeployments(
  db: Db,
  orgId: string,
  page: Page,
  { filter, now }: { filter: DeploymentFilter; now: Date },
): Promise<PageRow[]> {
  return db<PageRow[]>`
    select deployment.created_at, deployment.id, ${deploymentJson(db, now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and ${buildPageCondition(db, page, db`deployment`)}
      ${hasStatus(db, filter.status, now)}
      ${equals(db, 'environment', filter)}
      ${equals(db, 'repository_full_name', filter)}
      ${equals(db, 'workflow_name', filter)}
      ${equals(db, 'workflow_path', filter)}
      ${equals(db, 'pipeline_run_id', filter)}
    order by deployment.created_at desc, deployment.id desc
    limit ${page.limit + 1}`
}

/** An overdue deployment counts as expired even before `deployments.settle` has updated it. */
function hasStatus(db: Db, status: DeploymentStatus | undefined, now: Date) {
  if (status === undefined) return db``
  if (status === 'expired') return db`and (deployment.status = 'expired' or ${isOverdue(db, now)})`
  const still = status === 'pending_approval' ? db`and not ${isOverdue(db, now)}` : db``
  return db`and deployment.status = ${status} ${still}`
}

/** SQL: true if a deployment was not answered in time, settled or not. */
export function isOverdue(db: Db, now: Date, alias = 'deployment') {
  const of = db(alias)
  return db`(${of}.answer_until is not null and ${of}.answer_until <= ${now})`
}

function equals(db: Db, column: Exclude<keyof DeploymentFilter, 'status'>, filter: DeploymentFilter) {
  const value = filter[column]
  return value === undefined ? db`` : db`and deployment.${db(column)} = ${value}`
}

/**
 * Returns the deployment as JSON text, or null when there is none created at or after
 * `retainedSince`.
 */
export async function findDeployment(
  db: Db,
  orgId: string,
  id: string,
  { retainedSince, now }: { retainedSince: Date; now: Date },
): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${deploymentJson(db, now)} as json
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.id = ${id}
      and deployment.created_at >= ${retainedSince}`
  return row?.json ?? null
}

function deploymentJson(db: Db, now: Date) {
  return db`(
    select row_to_json(item)::text
    from (
      select deployment.id, deployment.org_id, deployment.repository, deployment.repository_full_name,
        deployment.environment, ${unlessOverdue(db, 'status', 'expired', now)}, deployment.workflow_name, deployment.workflow_path,
        deployment.provider, deployment.github_run_id, deployment.branch, deployment.commit_sha,
        deployment.commit_message, deployment.release_name, deployment.author, deployment.author_avatar_url,
        deployment.version, deployment.required_reviewers, deployment.required_reviewer_teams,
        deployment.pipeline_run_id, rfc3339(deployment.deployed_at) as deployed_at,
        rfc3339(deployment.rollback_at) as rollback_at, deployment.callback_url, deployment.html_url,
        deployment.job_id, deployment.environment_url, deployment.protection_rule_type,
        deployment.protection_rule_types, deployment.gated, deployment.reviewers_state,
        ${unlessOverdue(db, 'custom_rule_state', 'expired', now)},
        ${unlessOverdue(db, 'custom_rule_awaiting', null, now)}, deployment.attempt,
        deployment.previous_attempt_id, deployment.superseded_by_id, rfc3339(deployment.created_at) as created_at,
        rfc3339(deployment.updated_at) as updated_at, deployment.reviews, deployment.approvals,
        deployment.external_custom_rules, deployment.bypass, deployment.override, deployment.policy_evaluation
    ) item
  )`
}

function unlessOverdue(db: Db, column: string, overdue: string | null, now: Date) {
  return db`case when ${isOverdue(db, now)} then ${overdue} else deployment.${db(column)} end as ${db(column)}`
}
