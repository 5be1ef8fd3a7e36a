import type { Db, Tx } from '../platform/db/sql.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import type { DeploymentState } from './deployment-state.ts'
import type { GateState } from './gate-state.ts'

/** Told on this channel: the id of an opened gate that changed. */
export const GATE_CHANNEL = 'shiplock_gates'

/** How a deployment stands that is not older than `retainedSince` (null: whatever its age). */
export async function findDeploymentState(db: Db, orgId: string, id: string, retainedSince: Date | null) {
  const [row] = await db<DeploymentState[]>`${selectState(db, orgId, id, retainedSince)}`
  return row ?? null
}

/** The same, locked until the transaction ends: whoever decides holds this lock. */
export async function lockDeployment(tx: Tx, orgId: string, id: string): Promise<DeploymentState | null> {
  const [row] = await tx<DeploymentState[]>`${selectState(tx, orgId, id, null)} for update`
  return row ?? null
}

function selectState(db: Db, orgId: string, id: string, retainedSince: Date | null) {
  return db`
    select id, status, gated, provider, reviewers_state, custom_rule_state, answer_until, pipeline_run_id, attempt,
      environment, repository_full_name, branch, commit_sha
    from deployments
    where org_id = ${orgId}
      and id = ${id}
      ${retainedSince === null ? db`` : db`and created_at >= ${retainedSince}`}`
}

/** Writes the answer to the service's own rule. The deployment is locked. */
export async function settleDeployment(
  tx: Tx,
  orgId: string,
  id: string,
  { status, custom_rule_state }: { status: DeploymentStatus; custom_rule_state: string },
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set status = ${status}, custom_rule_state = ${custom_rule_state}, custom_rule_awaiting = null, answer_until = null,
      policy_evaluation = policy_evaluation || jsonb_build_object('answered', ${custom_rule_state}::text),
      updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/** Writes how the deployment's opened gate stands, where it has one, and tells whoever polls it once this is committed. */
export async function settleGate(tx: Tx, orgId: string, deploymentId: string, state: GateState): Promise<void> {
  await tx`
    with settled as (
      update opened_gates
      set status = ${state.status}, decision = ${state.decision}, decided_by = ${state.decided_by}, note = ${state.note}
      where org_id = ${orgId}
        and deployment_id = ${deploymentId}
      returning id
    )
    select pg_notify(${GATE_CHANNEL}, id::text)
    from settled`
}

/** Where a deployment goes after it was let out. */
export async function moveDeployment(
  tx: Tx,
  orgId: string,
  id: string,
  status: DeploymentStatus,
  deployedAt: Date | null,
  at: Date,
) {
  await tx`
    update deployments
    set status = ${status}, deployed_at = coalesce(${deployedAt}, deployed_at), updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/** The deployments of an attempt of a run that wait or that were let out. */
export async function findUnfinished(db: Db, orgId: string, runId: string, attempt: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = ${runId}
      and attempt = ${attempt}
      and status in ('pending_approval', 'approved', 'in_progress')
    order by id
    limit 1000`
  return rows.map((row) => row.id)
}

/** Deployments of any organization whose time to be answered is over, the longest first. */
export async function findOverdue(db: Db, now: Date): Promise<{ org_id: string; id: string }[]> {
  return db<{ org_id: string; id: string }[]>`
    select org_id, id
    from deployments
    where answer_until <= ${now}
      and custom_rule_state = 'pending'
    order by answer_until
    limit 1000`
}
