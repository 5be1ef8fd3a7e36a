import { HOST_DEPLOYMENT_STATES, type HostDeployment } from '../../codehosts/host-deployment.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { hostDeploymentId, hostRunId } from '../../codehosts/host-ids.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { LinkedRepository } from '../../repositories/repository-lookup.store.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { DeploymentFacts, HostStatus, RunFacts, StoredReview } from './host-facts.ts'
import type { DerivedDeployment } from './host-state.ts'

const STATUSES_MAX = 1000
const REVIEWS_MAX = 1000

/**
 * Stores what the host says about a deployment and locks its row. The run and its attempt are kept
 * once they are known, because lists of hosts leave them out.
 */
export async function upsertHostDeployment(
  tx: Tx,
  { org_id, provider, host }: HostSource,
  deployment: HostDeployment,
  now: Date,
): Promise<DeploymentKey> {
  const { repository, run } = deployment
  const id = hostDeploymentId(provider, deployment.id)
  const runId = run && hostRunId(provider, run.id)
  const githubRunId = run && provider === 'github' ? Number(run.id) : null
  await tx`
    insert into deployments as deployment (
      org_id, id, provider, host, host_id, repository_id, repository, repository_full_name, environment, status,
      github_run_id, pipeline_run_id, host_run_id, host_attempt, host_ref, host_creator, host_creator_avatar_url,
      host_updated_at, attempt, commit_sha, gated, created_at, updated_at
    )
    values (
      ${org_id}, ${id}, ${provider}, ${host}, ${deployment.id}, ${repository.id}, ${shortName(repository.full_name)},
      ${repository.full_name}, ${deployment.environment}, 'in_progress', ${githubRunId}, ${runId}, ${run?.id ?? null},
      ${run?.attempt ?? null}, ${deployment.ref}, ${deployment.creator?.login ?? null},
      ${deployment.creator?.avatar_url ?? null}, ${deployment.updated_at}, ${run?.attempt ?? 1},
      ${deployment.commit_sha}, false, ${deployment.created_at}, ${now}
    )
    on conflict (org_id, id) do update
    set host_run_id = coalesce(deployment.host_run_id, excluded.host_run_id),
      github_run_id = coalesce(deployment.github_run_id, excluded.github_run_id),
      pipeline_run_id = coalesce(deployment.pipeline_run_id, excluded.pipeline_run_id),
      host_attempt = coalesce(deployment.host_attempt, excluded.host_attempt),
      host_creator = coalesce(deployment.host_creator, excluded.host_creator),
      host_creator_avatar_url = coalesce(deployment.host_creator_avatar_url, excluded.host_creator_avatar_url),
      host_ref = case when excluded.host_updated_at >= deployment.host_updated_at then excluded.host_ref
        else deployment.host_ref end,
      host_updated_at = greatest(deployment.host_updated_at, excluded.host_updated_at)`
  return { org_id, id }
}

/** The deployments of a run, to one environment or to all, in the order in which they are locked. */
export async function listHostDeployments(
  db: Db,
  orgId: string,
  runId: string,
  environment: string | null,
): Promise<LockedDeployment[]> {
  return db<LockedDeployment[]>`
    select org_id, id, provider, repository_id, environment
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = ${runId}
      and host_id is not null
      ${environment === null ? db`` : db`and environment = ${environment}`}
    order by environment, created_at, id
    limit 1000`
}

function shortName(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf('/') + 1)
}

/** Gives the deployments of a repository its present name. */
export async function renameHostDeployments(db: Db, orgId: string, repository: LinkedRepository): Promise<void> {
  await db`
    update deployments
    set repository = ${shortName(repository.full_name)}, repository_full_name = ${repository.full_name}
    where org_id = ${orgId}
      and provider = ${repository.provider}
      and repository_id = ${repository.id}
      and host_id is not null
      and repository_full_name <> ${repository.full_name}`
}

type DeploymentRow = Omit<HostDeployment, 'repository' | 'run' | 'creator' | 'description'> & {
  provider: string
  repository_id: string
  host_run_id: string | null
  host_attempt: number | null
}

/** A deployment as its host named it; null if it was not created by a code host. */
export async function findHostDeployment(db: Db, { org_id, id }: DeploymentKey): Promise<DeploymentRow | null> {
  const [row] = await db<DeploymentRow[]>`
    select provider, repository_id, host_id as id, environment, host_ref as ref, commit_sha, host_run_id, host_attempt,
      created_at, host_updated_at as updated_at
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      and host_id is not null`
  return row ?? null
}

export type LockedDeployment = DeploymentKey & { provider: string; repository_id: string; environment: string }

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
    select attempt, state, reviewer, avatar_url, comment, at
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

/** Stores the derived columns of a locked deployment, if one of them has changed. */
export async function writeDerived(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  derived: DerivedDeployment,
  at: Date,
): Promise<void> {
  const { reviews, external_custom_rules, bypass, ...columns } = derived
  const values = {
    ...columns,
    reviews: tx.json(reviews as never),
    external_custom_rules: tx.json(external_custom_rules),
    bypass: bypass && tx.json(bypass),
  }
  await tx`
    update deployments
    set ${tx(values as never)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** The derived columns as they are stored, for comparison. */
export async function findDerived(tx: Tx, { org_id, id }: DeploymentKey): Promise<DerivedDeployment> {
  const [row] = await tx<[DerivedDeployment]>`
    select workflow_name, workflow_path, branch, commit_message, release_name, version, author, author_avatar_url,
      html_url, run_created_at, attempt, protection_rule_type, protection_rule_types, gated, required_reviewers,
      required_reviewer_teams, external_custom_rules, reviews, status, job_id, environment_url, callback_url,
      reviewers_state, custom_rule_state, custom_rule_awaiting, answer_until, bypass, succeeded_at, deployed_at,
      rollback_at, previous_attempt_id, superseded_by_id
    from deployments
    where org_id = ${org_id}
      and id = ${id}`
  return row
}
