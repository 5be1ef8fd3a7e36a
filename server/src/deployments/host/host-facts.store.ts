import { HOST_DEPLOYMENT_STATES } from '../../codehosts/host-deployment.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { isSameEnvironment } from '../../repositories/repository-identity.ts'
import { type DeploymentKey, OWN_RULE } from '../deployment-state.ts'
import type { DeploymentFacts, EnvironmentKey, HostStatus, NextSuccess, RunFacts, StoredReview } from './host-facts.ts'

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
      ) as blocking_policies,
      coalesce(bypass -> 'gates' @> ${tx.json([OWN_RULE])}, false) as has_bypassed_rule
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      and host_id is not null
    for update`
  return row ?? null
}

/** SQL: whether `environment` is the one that is named, as its host compares names. */
export function buildSameEnvironment(db: Db, { provider, environment }: { provider: string; environment: string }) {
  return isSameEnvironment(provider, 'a', 'A')
    ? db`lower(environment) = lower(${environment})`
    : db`environment = ${environment}`
}

/**
 * SQL: the names under which deployments to an environment are stored, each of which has been
 * locked. The names that a host compares without case are several.
 */
export function buildEnvironmentNames(db: Db, { org_id, provider, repository_id, environment }: EnvironmentKey) {
  if (!isSameEnvironment(provider, 'a', 'A')) return db`array[${environment}::text]`
  return db`array(
      select known.name
      from deployment_environments known
      where known.org_id = ${buildAverageId(db, org_id)}
        and known.provider = ${provider}
        and known.repository_id = ${repository_id}
        and lower(known.name) = lower(${environment})
    )`
}

/**
 * Oldest first. Hosts round times: in the same second, ids that are numbers grow with time. Without
 * such ids, states are in their own order.
 */
export async function listStatuses(db: Db, { org_id, id }: DeploymentKey): Promise<HostStatus[]> {
  return db<HostStatus[]>`
    select id, state, environment_url, log_url, job_id, creator, created_at
    from deployment_statuses
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by created_at, case when id ~ '^[0-9]{1,18}$' then id::bigint end nulls first,
      array_position(${[...HOST_DEPLOYMENT_STATES]}::text[], state), id
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
      and ${buildSameEnvironment(db, deployment)}
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
      and ${buildSameEnvironment(db, deployment)}
      and (
        deployment_id = ${deployment.id}
        or (deployment_id = '' and run_id = ${deployment.host_run_id ?? ''} and run_id <> ''
          and attempt in (0, ${deployment.host_attempt ?? 1}))
      )
    order by deployment_id desc, requested_at desc
    limit 1`
  return row?.callback_url ?? null
}

/**
 * SQL: the other deployments that a host asks one question about: those of the same attempt, to the
 * same environment, with the same place for the answer.
 */
function ofSamePair(db: Db, deployment: AskedDeployment) {
  return db`org_id = ${deployment.org_id}
      and pipeline_run_id = ${deployment.pipeline_run_id}
      and coalesce(host_attempt, 1) = ${deployment.host_attempt ?? 1}
      and provider = ${deployment.provider}
      and ${buildSameEnvironment(db, deployment)}
      and id <> ${deployment.id}`
}

type AskedDeployment = DeploymentKey &
  Pick<DeploymentFacts, 'pipeline_run_id' | 'host_attempt' | 'provider' | 'environment'>

/**
 * Whether our rule has approved another deployment of the same run, attempt and environment. Hosts
 * that ask for each job have another place for each answer; an answer to one of them is one to the
 * pair (ci-evidence §4).
 */
export async function isApprovedBeside(db: Db, deployment: DeploymentFacts): Promise<boolean> {
  const rows = await db`
    select
    from deployments
    where ${ofSamePair(db, deployment)}
      and rule_decision = 'approved'
    limit 1`
  return rows.length > 0
}

/**
 * Locks the deployments that wait for the same answer as a locked one. Those that somebody else has
 * locked are left out: they are answered themselves, or derived from the stored answer.
 */
export async function lockAskedTogether(
  tx: Tx,
  deployment: DeploymentFacts,
  callbackUrl: string,
): Promise<DeploymentKey[]> {
  return tx<DeploymentKey[]>`
    select org_id, id
    from deployments
    where ${ofSamePair(tx, deployment)}
      and callback_url = ${callbackUrl}
      and status = 'pending_approval'
      and custom_rule_state = 'pending'
      and rule_decision is null
    order by id
    limit 1000
    for update skip locked`
}

/**
 * Makes changes to the deployments of an environment wait for each other, because they refer to
 * each other. Where the host compares names without case, all spellings share the lock of the name
 * in lower case, which comes first. The lock ends with the transaction.
 */
export async function lockEnvironment(tx: Tx, key: EnvironmentKey): Promise<void> {
  const { org_id, provider, repository_id, environment } = key
  const shared = isSameEnvironment(provider, 'a', 'A') ? environment.toLowerCase() : environment
  await tx`
    insert into deployment_environments as environment (org_id, provider, repository_id, name)
    select ${org_id}::uuid, ${provider}, ${repository_id}, given.name
    from unnest(${shared === environment ? [environment] : [shared, environment]}::text[]) with ordinality given (name, at)
    order by given.at
    on conflict (org_id, provider, repository_id, name) do update
    set name = environment.name`
}

/** Makes the events of a run wait for each other, also those that come before its deployments. */
export async function lockHostRun(tx: Tx, orgId: string, runId: string): Promise<void> {
  await lockName(tx, `deployments of ${orgId} ${runId}`)
}

/** The deployments of the nearest attempts of the run that deploy to the same environment. */
export async function findAttempts(db: Db, deployment: DeploymentFacts) {
  const attempt = deployment.host_attempt ?? 1
  const ofOtherAttempts = db`
    select id
    from deployments
    where org_id = ${deployment.org_id}
      and provider = ${deployment.provider}
      and repository_id = ${deployment.repository_id}
      and ${buildSameEnvironment(db, deployment)}
      and pipeline_run_id = ${deployment.pipeline_run_id}
      and host_id is not null`
  const [row] = await db<[{ previous_attempt_id: string | null; next_attempt_id: string | null }]>`
    select (${ofOtherAttempts} and host_attempt < ${attempt} order by host_attempt desc, created_at, id limit 1)
        as previous_attempt_id,
      (${ofOtherAttempts} and host_attempt > ${attempt} order by host_attempt, created_at, id limit 1)
        as next_attempt_id`
  return row
}

/**
 * The next successful deployment to the environment, in the order of creation. It is a rollback if
 * it deploys an older commit: one whose first deployment to the environment was before that of this
 * commit, or, if it had never been deployed there, one of an older run of the same workflow.
 */
export async function findNextSuccess(db: Db, deployment: DeploymentFacts): Promise<NextSuccess | null> {
  const [row] = await db<NextSuccess[]>`
    select next.id, next.succeeded_at,
      next.commit_sha <> deployment.commit_sha and case
        when (first_of_next.created_at, first_of_next.id) < (next.created_at, next.id)
        then (first_of_next.created_at, first_of_next.id) < (first_of_this.created_at, first_of_this.id)
        else coalesce(
          next.workflow_path = deployment.workflow_path and next.run_created_at < deployment.run_created_at, false
        )
      end as is_rollback
    from (
      select id, succeeded_at, commit_sha, workflow_path, run_created_at, created_at
      from deployments later
      where ${inEnvironment(db, 'later', deployment)}
        and (later.created_at, later.id) > (${deployment.created_at}, ${deployment.id})
      order by later.created_at, later.id
      limit 1
    ) next
    join deployments deployment on deployment.org_id = ${buildAverageId(db, deployment.org_id)} and deployment.id = ${deployment.id}
    cross join lateral ${firstOfCommit(db, deployment, 'next')} first_of_next
    cross join lateral ${firstOfCommit(db, deployment, 'deployment')} first_of_this`
  return row ?? null
}

/** The first deployment to the environment of the commit of `alias`, at the latest `alias`. */
function firstOfCommit(db: Db, deployment: DeploymentFacts, alias: 'next' | 'deployment') {
  return db`(
      select least_of.created_at, least_of.id
      from (
        select first.created_at, first.id
        from deployments first
        where ${inEnvironment(db, 'first', deployment)}
          and first.commit_sha = ${db(alias)}.commit_sha
        union all
        select ${db(alias)}.created_at, ${db(alias)}.id
      ) least_of
      order by least_of.created_at, least_of.id
      limit 1
    )`
}

/** The successful deployments to the deployment's environment. */
function inEnvironment(db: Db, alias: string, key: EnvironmentKey) {
  const { org_id, provider, repository_id } = key
  const of = db(alias)
  return db`${of}.org_id = ${buildAverageId(db, org_id)}
      and ${of}.provider = ${provider}
      and ${of}.repository_id = ${repository_id}
      and ${of}.environment = any(${buildEnvironmentNames(db, key)})
      and ${of}.succeeded_at is not null`
}

/**
 * The deployments whose state may change when this one succeeds or its run becomes known: the later
 * ones of its commit, and the success before this one and before each of them. The environment is
 * locked.
 */
export async function listAffected(tx: Tx, deployment: DeploymentFacts): Promise<DeploymentKey[]> {
  return tx<DeploymentKey[]>`
    select distinct deployment.org_id, affected.id
    from deployments deployment
    join deployments later on ${inEnvironment(tx, 'later', deployment)}
      and later.commit_sha = deployment.commit_sha
      and (later.created_at, later.id) >= (deployment.created_at, deployment.id)
    left join lateral (
      select id
      from deployments previous
      where ${inEnvironment(tx, 'previous', deployment)}
        and (previous.created_at, previous.id) < (later.created_at, later.id)
      order by previous.created_at desc, previous.id desc
      limit 1
    ) previous on true
    cross join lateral unnest(array[later.id, previous.id]) affected (id)
    where deployment.org_id = ${buildAverageId(tx, deployment.org_id)}
      and deployment.id = ${deployment.id}
      and affected.id <> deployment.id
    order by affected.id
    limit 1000`
}

/** The deployments of other attempts of the run to the environment, which refer to each other. */
export async function listOtherAttempts(tx: Tx, deployment: DeploymentFacts): Promise<DeploymentKey[]> {
  return tx<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${deployment.org_id}
      and provider = ${deployment.provider}
      and repository_id = ${deployment.repository_id}
      and ${buildSameEnvironment(tx, deployment)}
      and pipeline_run_id = ${deployment.pipeline_run_id}
      and host_id is not null
      and host_attempt <> ${deployment.host_attempt ?? 1}
    order by id
    limit 1000`
}
