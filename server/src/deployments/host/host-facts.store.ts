import { HOST_DEPLOYMENT_STATES } from '../../codehosts/host-deployment.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { DeploymentFacts, HostStatus, RunFacts, StoredReview } from './host-facts.ts'

const STATUSES_MAX = 1000
const REVIEWS_MAX = 1000

/** Locks a deployment and reads its facts; null if it was not created by a code host. */
export async function lockFacts(tx: Tx, { org_id, id }: DeploymentKey): Promise<DeploymentFacts | null> {
  const [row] = await tx<DeploymentFacts[]>`
    select org_id, id, provider, repository_id, host || '/' || repository_full_name as repository_address, environment,
      commit_sha, pipeline_run_id, host_run_id, host_attempt,
      host_ref, host_creator, host_creator_avatar_url, environment_rules, reviews_read, rule_decision, rule_answer_until,
      decision_undelivered, created_at,
      array(
        select policy ->> 'name'
        from jsonb_array_elements(policy_evaluation -> 'policies') policy
        where policy ->> 'decision' = 'block'
      ) as blocking_policies
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      and host_id is not null
    for update`
  return row ?? null
}

/** Oldest first. Hosts round times, so states of the same second are in their own order. */
export async function listStatuses(db: Db, { org_id, id }: DeploymentKey): Promise<HostStatus[]> {
  return db<HostStatus[]>`
    select id, state, environment_url, log_url, job_id, creator, created_at
    from deployment_statuses
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by created_at, array_position(${[...HOST_DEPLOYMENT_STATES]}::text[], state), id
    limit ${STATUSES_MAX}`
}

/** Reviews of the deployment's run for its environment, oldest first. */
export async function listReviews(db: Db, deployment: DeploymentFacts): Promise<StoredReview[]> {
  if (deployment.host_run_id === null) return []
  return db<StoredReview[]>`
    select attempt, state, reviewer, avatar_url, comment, at, times
    from deployment_reviews
    where org_id = ${deployment.org_id}
      and provider = ${deployment.provider}
      and repository_id = ${deployment.repository_id}
      and run_id = ${deployment.host_run_id}
      and environment = ${deployment.environment}
    order by at, state, reviewer
    limit ${REVIEWS_MAX}`
}

/** The run in the deployment's attempt, else in its newest one; null while it is unknown. */
export async function findRunFacts(db: Db, deployment: DeploymentFacts): Promise<RunFacts | null> {
  if (deployment.pipeline_run_id === null) return null
  const [row] = await db<RunFacts[]>`
    select attempt, status, workflow_name, workflow_path, ref, commit_message, release_name, author, author_avatar_url,
      html_url, created_at
    from deployment_runs
    where org_id = ${deployment.org_id}
      and run_id = ${deployment.pipeline_run_id}
    order by attempt = ${deployment.host_attempt ?? 1} desc, attempt desc
    limit 1`
  return row ?? null
}

/**
 * Where our rule was asked for the deployment: by a request that names it, else by one for its run
 * and environment. Null if the rule was not asked.
 */
export async function findCallbackUrl(db: Db, deployment: DeploymentFacts): Promise<string | null> {
  const [row] = await db<{ callback_url: string }[]>`
    select callback_url
    from deployment_gate_requests
    where org_id = ${deployment.org_id}
      and provider = ${deployment.provider}
      and repository_id = ${deployment.repository_id}
      and environment = ${deployment.environment}
      and (
        deployment_id = ${deployment.id}
        or (deployment_id = '' and run_id = ${deployment.host_run_id ?? ''} and run_id <> ''
          and attempt in (0, ${deployment.host_attempt ?? 1}))
      )
    order by deployment_id desc, requested_at desc
    limit 1`
  return row?.callback_url ?? null
}
