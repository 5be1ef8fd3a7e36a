import { buildAttemptRepository } from '../../ci/runs/run.store.ts'
import type { AddressChange } from '../../ci/runs/run-row.store.ts'
import { type DecisionTarget, formatHostDeploymentId, type HostDeployment } from '../../codehosts/host-deployment.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { formatHostRunId } from '../../codehosts/host-run.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { LinkedRepository } from '../../repositories/repository.store.ts'
import { type RepositoryKey, splitAddress } from '../../repositories/repository-identity.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { buildSameEnvironment } from './host-facts.store.ts'
import type { EnvironmentRules, RuleDecision } from './host-facts.ts'
import type { DerivedDeployment } from './host-state.ts'

/**
 * Stores what the host says about a deployment and locks its row. The run and its attempt are kept
 * once they are known, because lists of hosts leave them out.
 */
export async function upsertHostDeployment(
  tx: Tx,
  { org_id, provider }: HostSource,
  deployment: HostDeployment,
  now: Date,
): Promise<DeploymentKey> {
  const { repository, run } = deployment
  const id = formatHostDeploymentId(provider, deployment.id)
  const runId = run && formatHostRunId(provider, run.id)
  const githubRunId = run && provider === 'github' ? Number(run.id) : null
  await tx`
    insert into deployments as deployment (
      org_id, id, provider, host, host_id, repository_id, repository, repository_full_name, environment, status,
      github_run_id, pipeline_run_id, host_run_id, host_attempt, host_ref, host_creator, host_creator_avatar_url,
      host_updated_at, attempt, commit_sha, gated, created_at, updated_at
    )
    values (
      ${org_id}, ${id}, ${provider}, ${repository.host}, ${deployment.id}, ${repository.id},
      ${shortName(repository.full_name)},
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

/** The deployments of a run to one environment or to all, in the order of their locks. */
export async function listHostDeployments(
  db: Db,
  orgId: string,
  runId: string,
  named: { provider: string; environment: string } | null,
): Promise<LockedDeployment[]> {
  return db<LockedDeployment[]>`
    select org_id, id, provider, repository_id, environment
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = ${runId}
      and host_id is not null
      ${named === null ? db`` : db`and ${buildSameEnvironment(db, named)}`}
    order by environment, created_at, id
    limit 1000`
}

/** A job of a run that has deployed a commit. */
export type DeployJob = { run_id: string; attempt: number; job_id: string }

/** The jobs that deploy some commits of a repository. */
export async function listDeployJobs(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  shas: readonly string[],
): Promise<DeployJob[]> {
  return db<DeployJob[]>`
    select pipeline_run_id as run_id, attempt, job_id
    from deployments
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and commit_sha = any(${[...shas]}::text[])
      and host_id is not null
      and pipeline_run_id is not null
      and job_id is not null
    order by created_at desc, id
    limit 1000`
}

function shortName(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf('/') + 1)
}

/** Gives the deployments of a repository its present name. */
export async function updateRepositoryName(db: Db, orgId: string, repository: LinkedRepository): Promise<void> {
  await db`
    update deployments
    set repository = ${shortName(repository.full_name)}, repository_full_name = ${repository.full_name}
    where org_id = ${orgId}
      and provider = ${repository.provider}
      and repository_id = ${repository.id}
      and host_id is not null
      and repository_full_name <> ${repository.full_name}`
}

/** Gives the deployments of runs whose repository has another address its name. */
export async function updateOpenedNames(db: Db, { org_id, from, to }: AddressChange): Promise<void> {
  const { name } = splitAddress(to)
  await db`
    update deployments
    set repository = ${shortName(name)}, repository_full_name = ${name}
    where org_id = ${org_id}
      and repository_full_name = ${splitAddress(from).name}
      and ${buildAttemptRepository(db, org_id, 'deployments')} = ${to}`
}

export type DeploymentRow = Omit<HostDeployment, 'repository' | 'run' | 'creator' | 'description'> & {
  provider: string
  repository_id: string
  host_run_id: string | null
  host_attempt: number | null
}

/** A deployment as its host named it; null if it was not created by a code host. */
export async function findHostDeployment(db: Db, { org_id, id }: DeploymentKey): Promise<DeploymentRow | null> {
  const [row] = await db<DeploymentRow[]>`
    select ${hostColumns(db)}
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      and host_id is not null`
  return row ?? null
}

/**
 * The deployments of a repository that are stored as waiting or in progress, newest first. The
 * synchronization reads their statuses again.
 */
export async function listOpenDeployments(
  db: Db,
  orgId: string,
  repository: { provider: string; id: string },
  limit: number,
): Promise<DeploymentRow[]> {
  return db<DeploymentRow[]>`
    select ${hostColumns(db)}
    from deployments
    where org_id = ${orgId}
      and provider = ${repository.provider}
      and repository_id = ${repository.id}
      and host_id is not null
      and status in ('pending_approval', 'approved', 'in_progress')
    order by created_at desc, id desc
    limit ${limit}`
}

function hostColumns(db: Db) {
  return db`
    provider, repository_id, host_id as id, environment, host_ref as ref, commit_sha, host_run_id, host_attempt,
    created_at, host_updated_at as updated_at`
}

export type LockedDeployment = DeploymentKey & { provider: string; repository_id: string; environment: string }

/** Stores the derived columns of a locked deployment, if one of them has changed. */
export async function updateDerived(
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
      live_at, inactive_at, rollback_at, previous_attempt_id, superseded_by_id, coalesce(awaiting, '{}') as awaiting
    from deployments
    where org_id = ${org_id}
      and id = ${id}`
  return row
}

/** Stores the decision of the service's own rule on a locked deployment of a code host. */
export async function updateRuleDecision(tx: Tx, { org_id, id }: DeploymentKey, decision: RuleDecision): Promise<void> {
  await tx`
    update deployments
    set rule_decision = ${decision},
      policy_evaluation = policy_evaluation || jsonb_build_object('answered', ${decision}::text)
    where org_id = ${org_id}
      and id = ${id}`
}

type TargetRow = Omit<DecisionTarget, 'repository'> & {
  provider: string
  repository_id: string
  repository_full_name: string
}

/** Where the decision on a deployment is sent; null if our rule was not asked by a code host. */
export async function findDecisionTarget(db: Db, { org_id, id }: DeploymentKey) {
  const [row] = await db<TargetRow[]>`
    select provider, repository_id, repository_full_name, environment, host_run_id as run_id, callback_url,
      (
        select callback_secret
        from deployment_gate_requests request
        where request.org_id = deployment.org_id
          and request.provider = deployment.provider
          and request.repository_id = deployment.repository_id
          and lower(request.environment) = lower(deployment.environment)
          and request.callback_url = deployment.callback_url
        order by request.requested_at desc
        limit 1
      ) as callback_secret
    from deployments deployment
    where org_id = ${org_id}
      and id = ${id}
      and host_run_id is not null
      and callback_url is not null`
  if (!row) return null
  const { provider, repository_id, repository_full_name, ...rest } = row
  const target: DecisionTarget = { repository: { id: repository_id, full_name: repository_full_name }, ...rest }
  return { provider, target }
}

/** Stores whether the decision of our rule could not be delivered to the host. */
export async function updateUndelivered(tx: Tx, { org_id, id }: DeploymentKey, undelivered: boolean): Promise<void> {
  await tx`
    update deployments
    set decision_undelivered = ${undelivered}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores until when our rule must be answered, and that its policies are to be evaluated. */
export async function updateAnswerUntil(tx: Tx, { org_id, id }: DeploymentKey, answerUntil: Date): Promise<void> {
  await tx`
    update deployments
    set rule_answer_until = ${answerUntil}, policies_asked_at = null
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores which attempt of its run a locked deployment belongs to. */
export async function updateAttempt(tx: Tx, { org_id, id }: DeploymentKey, attempt: number): Promise<void> {
  await tx`
    update deployments
    set host_attempt = coalesce(host_attempt, ${attempt})
    where org_id = ${org_id}
      and id = ${id}`
}

export async function updateDeploymentRules(tx: Tx, { org_id, id }: DeploymentKey, rules: EnvironmentRules) {
  await tx`
    update deployments
    set environment_rules = ${tx.json(rules)}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores that the reviews of a locked deployment were read, or could not be read. */
export async function updateReviewsRead(tx: Tx, { org_id, id }: DeploymentKey, result: 'done' | 'failed') {
  await tx`
    update deployments
    set reviews_read = ${result}
    where org_id = ${org_id}
      and id = ${id}`
}
