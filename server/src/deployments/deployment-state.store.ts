import { buildRunLane } from '../ci/runs/run.store.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import { publishUpdates, update } from '../platform/queue/update.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import type { Mark, MarkLane } from './deployment-mark.ts'
import {
  type DeploymentKey,
  type DeploymentState,
  type GateState,
  type Outcome,
  OWN_RULE,
  type RequiredGate,
} from './deployment-state.ts'
import { buildIsOpenDeployment } from './expired-deployment.store.ts'
import type { LivePlace } from './live-unit.ts'
import type { StoredEvaluation } from './policy-evaluation.ts'

/** PostgreSQL notifications on this channel carry the id of an opened gate that changed. */
export const GATE_CHANNEL = 'shiplock_gates'

/**
 * Returns null when there is no such deployment that was open at or after `retainedSince` (null: at
 * any time).
 */
export async function findDeploymentState(db: Db, deployment: DeploymentKey, retainedSince: Date | null) {
  const [row] = await db<DeploymentState[]>`${selectState(db, deployment, retainedSince)}`
  return row ?? null
}

/** Locks the deployment until the transaction ends. Every decision is made under this lock. */
export async function lockDeployment(tx: Tx, deployment: DeploymentKey): Promise<DeploymentState | null> {
  const [row] = await tx<DeploymentState[]>`${selectState(tx, deployment, null)} for update`
  return row ?? null
}

/**
 * Whether a token has taken over the run of an opened gate since: the evidence of the run is that
 * of another lane, and can be about another commit.
 */
export async function isRunTakenOver(db: Db, { org_id, id, pipeline_run_id: run_id }: DeploymentState) {
  if (run_id === null) return false
  const rows = await db`
    select
    from opened_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
      and lane <> ${buildRunLane(db, { org_id, run_id })}`
  return rows.length > 0
}

function selectState(db: Db, { org_id, id }: DeploymentKey, retainedSince: Date | null) {
  return db`
    select ${stateColumns(db)}
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      ${retainedSince === null ? db`` : db`and (created_at >= ${retainedSince} or ${buildIsOpenDeployment(db, db`deployments`, retainedSince)})`}`
}

function stateColumns(db: Db) {
  return db`org_id, id, status, gated, provider, reviewers_state, custom_rule_state, answer_until, pipeline_run_id,
    attempt, environment, host, repository_full_name, branch, commit_sha,
    workflow_name, workflow_path, protection_rule_types, required_reviewers, required_reviewer_teams, policies_asked_at,
    created_at, coalesce(awaiting, '{}') as awaiting,
    coalesce((
      select unread
      from opened_gates gate
      where gate.org_id = deployments.org_id
        and gate.deployment_id = deployments.id
    ), false) as unread,
    ${buildTimeoutMinutes(db)} as timeout_minutes`
}

/** SQL: how long the opened gate of `deployments` waits; null for the default. */
export function buildTimeoutMinutes(db: Db): ReturnType<Db> {
  return db`(
    select timeout_minutes
    from opened_gates gate
    where gate.org_id = deployments.org_id
      and gate.deployment_id = deployments.id
  )`
}

/** A deployment that a policy can be tried on. */
export type RecentDeployment = DeploymentState

type RecentFilter = { since: Date; repository: string | null; environment: string | null; limit: number }

/** The deployments of an organization, newest first. `repository` is `owner/name`. */
export async function listRecentDeployments(db: Db, orgId: string, filter: RecentFilter): Promise<RecentDeployment[]> {
  const { since, repository, environment, limit } = filter
  return db<RecentDeployment[]>`
    select ${stateColumns(db)}
    from deployments
    where org_id = ${orgId}
      and created_at >= ${since}
      ${repository === null ? db`` : db`and repository_full_name = ${repository}`}
      ${environment === null ? db`` : db`and environment = ${environment}`}
    order by created_at desc, id desc
    limit ${limit}`
}

/**
 * Marks required gates of a locked deployment as approved, with the settings under which they were:
 * a gate that has become stricter since the opening is open again until then.
 */
export async function updateGatesApproved(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  gates: readonly RequiredGate[],
  { at, by }: { at: Date; by: 'policies' | 'principals' },
): Promise<void> {
  for (const gate of gates)
    await tx`
      update required_gates
      set approved_at = ${at}, approved_by = ${by}, required_approvals = ${gate.required_approvals},
        allow_api_keys = ${gate.allow_api_keys}, allow_run_creator = ${gate.allow_run_creator}, policies = ${gate.policies},
        approve_by_policies = ${tx.json(gate.approve_by_policies)}, replaced_at = ${gate.replaced_at},
        require_linked_accounts = ${gate.require_linked_accounts}
      where org_id = ${org_id}
        and deployment_id = ${id}
        and id = ${gate.id}`
}

/** Writes the result of the service's own protection rule to a locked deployment. */
export async function updateDeploymentResult(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { status, custom_rule_state }: Pick<Outcome, 'status' | 'custom_rule_state'>,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set status = ${status}, custom_rule_state = ${custom_rule_state}, custom_rule_awaiting = null, answer_until = null,
      policy_evaluation = policy_evaluation || jsonb_build_object('answered', ${custom_rule_state}::text),
      updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
  await publishUpdates(tx, org_id, [update('deployment', id)])
}

/** Updates the deployment's opened gate, if it has one, and notifies its pollers on commit. */
export async function updateGateState(tx: Tx, { org_id, id }: DeploymentKey, state: GateState): Promise<void> {
  const [gate] = await tx<{ id: string }[]>`
    update opened_gates
    set status = ${state.status}, decision = ${state.decision}, decided_by = ${state.decided_by}, note = ${state.note},
      unread = ${state.decision === 'approved'}
    where org_id = ${org_id}
      and deployment_id = ${id}
    returning id`
  // A statement of its own: if there are several servers, the coordinator has to notify.
  if (gate) await tx`select pg_notify(${GATE_CHANNEL}, ${gate.id})`
}

/**
 * Makes an approved deployment wait again, and its gates that `gateIds` do not keep open. Does
 * nothing and returns false if the approval was read meanwhile.
 */
export async function updateWaitingAgain(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { gateIds, until }: { gateIds: readonly string[]; until: Date },
  at: Date,
): Promise<boolean> {
  const unread = await tx`
    update opened_gates
    set status = 'waiting', decision = 'pending', decided_by = null, note = null, unread = false
    where org_id = ${org_id}
      and deployment_id = ${id}
      and unread
    returning id`
  if (unread.length === 0) return false
  await tx`
    update deployments
    set status = 'pending_approval', custom_rule_state = 'pending', custom_rule_awaiting = 'manual_decision_required',
      answer_until = ${until}, policy_evaluation = policy_evaluation || '{"answered": null}', updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
  await updateGatesOpen(tx, { org_id, id }, gateIds)
  await publishUpdates(tx, org_id, [update('deployment', id)])
  return true
}

/** Opens required gates of a locked deployment again that policies had approved. */
export async function updateGatesOpen(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  gateIds: readonly string[],
): Promise<void> {
  await tx`
    update required_gates
    set approved_at = null, approved_by = null
    where org_id = ${org_id}
      and deployment_id = ${id}
      and id = any(${[...gateIds]}::uuid[])`
}

/** Who opened the gate of a deployment, and in which lane they speak. */
export type Opener = { credential_id: string | null; lane: MarkLane }

/** Null for deployments of code hosts. */
export async function findOpener(
  db: Db,
  { org_id, id, pipeline_run_id: run_id }: DeploymentKey & Pick<DeploymentState, 'pipeline_run_id'>,
): Promise<Opener | null> {
  const [row] = await db<Opener[]>`
    select credential_id, coalesce(opener_lane, lane, ${run_id && buildRunLane(db, { org_id, run_id })}) as lane
    from opened_gates
    where org_id = ${org_id}
      and deployment_id = ${id}`
  return row ?? null
}

/** What was said of a deployment, oldest first. */
export async function listMarks(db: Db, { org_id, id }: DeploymentKey): Promise<Mark[]> {
  const [row] = await db<[{ marks: Mark[] }]>`
    select marks
    from deployments
    where org_id = ${org_id}
      and id = ${id}`
  return row.marks
}

/** Stores what was said of a locked deployment. */
export async function updateMarks(tx: Tx, { org_id, id }: DeploymentKey, marks: readonly Mark[], at: Date) {
  await tx`
    update deployments
    set marks = ${tx.json(marks as never)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores the version and the URL that the opener of a locked deployment has stated. */
export async function updateStated(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { version = null, url = null }: { version?: string | null; url?: string | null },
): Promise<void> {
  await tx`
    update deployments
    set version = coalesce(${version}, version), environment_url = coalesce(${url}, environment_url)
    where org_id = ${org_id}
      and id = ${id}`
}

/**
 * Updates the status of an approved deployment of an opened gate. `deployedAt` is when it
 * succeeded, and null for every other status.
 */
export async function updateDeploymentStatus(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { status, deployedAt }: { status: DeploymentStatus; deployedAt: Date | null },
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set status = ${status}, deployed_at = coalesce(${deployedAt}, deployed_at), succeeded_at = ${deployedAt},
      live_at = ${deployedAt}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
  await publishUpdates(tx, org_id, [update('deployment', id)])
}

/** What our protection rule says of a new deployment, and how its policies were evaluated. */
export type NewStanding = {
  status: DeploymentStatus
  custom_rule_state: 'pending' | 'approved'
  custom_rule_awaiting: string | null
  answer_until: Date | null
  policies_asked_at: Date | null
  evaluation: StoredEvaluation | null
}

/**
 * A deployment that a CI system has opened a gate for. All other columns follow from its being new.
 */
export type NewDeployment = DeploymentKey & {
  repository: string
  repository_full_name: string
  environment: string
  workflow_name: string
  pipeline_run_id: string
  job_id: string | null
  attempt: number
  previous_attempt_id: string | null
  superseded_by_id: string | null
  branch: string | null
  commit_sha: string | null
  author: string | null
  html_url: string | null
  standing: NewStanding
  created_at: Date
}

/** Inserts a deployment that has the service's own protection rule. */
export async function insertDeployment(tx: Tx, deployment: NewDeployment): Promise<void> {
  const { standing } = deployment
  const json = (value: unknown) => (value === undefined ? null : tx.json(value as never))
  await tx`
    insert into deployments (
      org_id, id, provider, repository, repository_full_name, environment, status, workflow_name, pipeline_run_id,
      job_id, attempt, previous_attempt_id, superseded_by_id, branch, commit_sha, author, html_url,
      protection_rule_type, protection_rule_types, gated, custom_rule_state, custom_rule_awaiting, answer_until,
      policies_asked_at, policy_evaluation, policy_rules, policy_evidence, asked_evidence, created_at, updated_at
    )
    values (
      ${deployment.org_id}, ${deployment.id}, 'other', ${deployment.repository}, ${deployment.repository_full_name},
      ${deployment.environment}, ${standing.status}, ${deployment.workflow_name}, ${deployment.pipeline_run_id},
      ${deployment.job_id}, ${deployment.attempt}, ${deployment.previous_attempt_id}, ${deployment.superseded_by_id},
      ${deployment.branch}, ${deployment.commit_sha}, ${deployment.author}, ${deployment.html_url}, ${OWN_RULE},
      ${[OWN_RULE]}, true, ${standing.custom_rule_state}, ${standing.custom_rule_awaiting}, ${standing.answer_until},
      ${standing.policies_asked_at}, ${json(standing.evaluation?.policy_evaluation)},
      ${json(standing.evaluation?.policy_rules)}, ${json(standing.evaluation?.policy_evidence)},
      ${json(standing.evaluation?.asked_evidence ?? undefined)},
      ${deployment.created_at}, ${deployment.created_at}
    )`
}

/**
 * Deployment ids of the nearest attempts before and after an attempt that have a deployment of the
 * same kind.
 */
export type NearestAttempts = { previous: string | null; next: string | null }

/** Makes the deployments of the nearest attempts refer to a new deployment. */
export async function updateNearestAttempts(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { previous, next }: NearestAttempts,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set superseded_by_id = case when id = ${previous} then ${id} else superseded_by_id end,
      previous_attempt_id = case when id = ${next} then ${id} else previous_attempt_id end,
      updated_at = ${at}
    where org_id = ${org_id}
      and id in (${previous}, ${next})`
}

/** Stores the policy evaluation of a locked deployment, in place of the one before. */
export async function updateEvaluation(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { policy_evaluation, policy_rules, policy_evidence, asked_evidence }: StoredEvaluation,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = ${tx.json(policy_evaluation as never)}, policy_rules = ${tx.json(policy_rules)},
      policy_evidence = ${tx.json(policy_evidence)},
      asked_evidence = ${asked_evidence === null ? null : tx.json(asked_evidence)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Removes the policy evaluation of a locked deployment that no policy covers any more. */
export async function deleteEvaluation(tx: Tx, { org_id, id }: DeploymentKey, at: Date): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = null, policy_rules = null, policy_evidence = null, asked_evidence = null,
      updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and policy_evaluation is not null`
}

/**
 * Records that the policies of a locked deployment were evaluated. `note` is shown to the pollers
 * of its gate. `again_at` is when they must be evaluated again without news.
 */
export async function updatePoliciesEvaluated(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { note, again_at }: { note: string | null; again_at: Date | null },
  at: Date,
): Promise<void> {
  await tx`
    with evaluated as (
      update deployments
      set policies_asked_at = ${at}, policies_again_at = ${again_at}
      where org_id = ${org_id}
        and id = ${id}
    )
    update opened_gates
    set note = ${note}
    where org_id = ${org_id}
      and deployment_id = ${id}
      and status = 'waiting'`
}

/** Adds an answer to the `approvals` of a locked deployment. `approval` has the wire form. */
export async function insertApproval(tx: Tx, { org_id, id }: DeploymentKey, approval: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set approvals = approvals || ${tx.json([approval] as never)}::jsonb, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Who rejected a deployment, and when; null if nobody did. */
export async function findRejection(db: Db, { org_id, id }: DeploymentKey) {
  const [row] = await db<{ principal: 'user' | 'api_key'; at: Date }[]>`
    select answer ->> 'principal' as principal, (answer ->> 'at')::timestamptz as at
    from deployments
    cross join jsonb_array_elements(approvals) answer
    where org_id = ${org_id}
      and id = ${id}
      and answer ->> 'decision' = 'rejected'
    limit 1`
  return row ?? null
}

/** Notes that who opened a locked deployment is among those who approved it. */
export async function updateSelfApproved(tx: Tx, { org_id, id }: DeploymentKey, at: Date): Promise<void> {
  await tx`
    update deployments
    set self_approved = true, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** The rules that were overridden when a deployment was approved. */
export async function listOverriddenRules(
  db: Db,
  { org_id, id }: DeploymentKey,
): Promise<{ id: string; rule: string }[]> {
  return db<{ id: string; rule: string }[]>`
    select policy ->> 'id' as id, rule ->> 'rule' as rule
    from deployments
    cross join jsonb_array_elements(override -> 'policies') policy
    cross join jsonb_array_elements(policy -> 'rules') rule
    where org_id = ${org_id}
      and deployments.id = ${id}
    limit 10000`
}

/** Stores the `override` of a locked deployment. `override` has the wire form. */
export async function updateOverride(tx: Tx, { org_id, id }: DeploymentKey, override: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set override = ${tx.json(override as never)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores the unit of a locked deployment. */
export async function updateLivePlace(tx: Tx, { org_id, id }: DeploymentKey, { unit, lane }: LivePlace): Promise<void> {
  await tx`
    update deployments
    set live_unit = ${unit}, live_lane = ${lane}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores when somebody said that a locked deployment no longer runs. */
export async function updateLiveEnded(tx: Tx, { org_id, id }: DeploymentKey, at: Date): Promise<void> {
  await tx`
    update deployments
    set live_ended_at = ${at}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Gives a locked deployment of an opened gate the time of its success, if it has none. */
export async function updateMissingSuccess(tx: Tx, { org_id, id }: DeploymentKey): Promise<void> {
  await tx`
    update deployments
    set live_at = coalesce(live_at, succeeded_at, deployed_at, updated_at),
      succeeded_at = coalesce(succeeded_at, deployed_at, updated_at)
    where org_id = ${org_id}
      and id = ${id}
      and host_id is null
      and status = 'success'`
}
