import type { Db, Tx } from '../platform/db/sql.ts'
import { notifyUpdates } from '../platform/updates/update.store.ts'
import { update } from '../platform/updates/update.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import type { DeploymentKey, DeploymentState, GateState, Outcome, RequiredGate } from './deployment-state.ts'

/** PostgreSQL notifications on this channel carry the id of an opened gate that changed. */
export const GATE_CHANNEL = 'shiplock_gates'

const REQUIRED_GATES_MAX = 1000

/**
 * Returns null when there is no such deployment created at or after `retainedSince` (null: at any
 * time).
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

function selectState(db: Db, { org_id, id }: DeploymentKey, retainedSince: Date | null) {
  return db`
    select ${stateColumns(db)}
    from deployments
    where org_id = ${org_id}
      and id = ${id}
      ${retainedSince === null ? db`` : db`and created_at >= ${retainedSince}`}`
}

function stateColumns(db: Db) {
  return db`org_id, id, status, gated, provider, reviewers_state, custom_rule_state, answer_until, pipeline_run_id,
    attempt, environment, host, repository_full_name, branch, commit_sha,
    workflow_name, workflow_path, protection_rule_types, required_reviewers, required_reviewer_teams, policies_asked_at,
    created_at`
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

/** The gates that a deployment requires, in the order in which they are shown. */
export async function listRequiredGates(db: Db, { org_id, id }: DeploymentKey): Promise<RequiredGate[]> {
  return db<RequiredGate[]>`
    select id, name, required_approvals, allow_api_keys, allow_run_creator, policies, approved_at
    from required_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by position
    limit ${REQUIRED_GATES_MAX}`
}

/** Marks required gates of a locked deployment as approved. */
export async function updateGatesApproved(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  gateIds: string[],
  { at, by }: { at: Date; by: 'policies' | 'principals' },
): Promise<void> {
  if (gateIds.length === 0) return
  await tx`
    update required_gates
    set approved_at = ${at}, approved_by = ${by}
    where org_id = ${org_id}
      and deployment_id = ${id}
      and id in ${tx(gateIds)}
      and approved_at is null`
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
  await notifyUpdates(tx, org_id, [update('deployment', id)])
}

/** Updates the deployment's opened gate, if it has one, and notifies its pollers on commit. */
export async function updateGateState(tx: Tx, { org_id, id }: DeploymentKey, state: GateState): Promise<void> {
  const [gate] = await tx<{ id: string }[]>`
    update opened_gates
    set status = ${state.status}, decision = ${state.decision}, decided_by = ${state.decided_by}, note = ${state.note}
    where org_id = ${org_id}
      and deployment_id = ${id}
    returning id`
  // A statement of its own: if there are several servers, the coordinator has to notify.
  if (gate) await tx`select pg_notify(${GATE_CHANNEL}, ${gate.id})`
}

/** Updates the status of an approved deployment. A null `deployedAt` keeps the stored time. */
export async function updateDeploymentStatus(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { status, deployedAt }: { status: DeploymentStatus; deployedAt: Date | null },
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set status = ${status}, deployed_at = coalesce(${deployedAt}, deployed_at), updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
  await notifyUpdates(tx, org_id, [update('deployment', id)])
}

/**
 * The deployments of opened gates of a run's attempt that are waiting, approved or in progress.
 * Those of code hosts follow what their host says.
 */
export async function listUnfinished(db: Db, orgId: string, runId: string, attempt: number): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = ${runId}
      and attempt = ${attempt}
      and status in ('pending_approval', 'approved', 'in_progress')
      and host_id is null
    order by id
    limit 1000`
}

/** Deployments of all organizations that were not answered in time, longest overdue first. */
export async function listOverdue(db: Db, now: Date): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where answer_until <= ${now}
      and custom_rule_state = 'pending'
    order by answer_until
    limit 1000`
}

type WaitingDeployments = { waiting: number; oldest_at: Date | null; overdue: number }

/**
 * The deployments of all organizations that wait for an answer, and how many of them should have
 * expired before `now`.
 */
export async function countWaiting(db: Db, now: Date): Promise<WaitingDeployments> {
  const [[waiting], [late]] = await Promise.all([
    db<[Pick<WaitingDeployments, 'waiting' | 'oldest_at'>]>`
      select count(*)::int as waiting, min(created_at) as oldest_at
      from deployments
      where status = 'pending_approval'
        and custom_rule_state = 'pending'`,
    db<[Pick<WaitingDeployments, 'overdue'>]>`
      select count(*)::int as overdue
      from deployments
      where answer_until <= ${now}
        and custom_rule_state = 'pending'`,
  ])
  return { ...waiting, ...late }
}
