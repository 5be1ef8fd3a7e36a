import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'

/** Stores the policy evaluation of a locked deployment. `evaluation` has the wire form. */
export async function writeEvaluation(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  evaluation: object,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = ${tx.json(evaluation as never)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/**
 * Records on the deployment's waiting gate that the policies were evaluated. `note` is shown to
 * pollers.
 */
export async function noteEvaluation(tx: Tx, { org_id, id }: DeploymentKey, note: string | null, at: Date) {
  await tx`
    update opened_gates
    set policies_asked_at = ${at}, note = ${note}
    where org_id = ${org_id}
      and deployment_id = ${id}
      and status = 'waiting'`
}

/**
 * Deployments of all organizations whose gate was opened before `openedBefore` and was never
 * evaluated.
 */
export async function listUnevaluated(db: Db, openedBefore: Date): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, deployment_id as id
    from opened_gates
    where policies_asked_at is null
      and status = 'waiting'
      and created_at <= ${openedBefore}
    order by created_at
    limit 100`
}

/**
 * Selects waiting deployments of an organization: all, those of a run, or those of `owner/name` in
 * any case.
 */
export type WaitingFilter = { run_id?: string; repository?: string }

/** Waiting deployments, longest waiting first. */
export async function listWaiting(
  db: Db,
  orgId: string,
  { run_id, repository }: WaitingFilter,
): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select gate.org_id, gate.deployment_id as id
    from opened_gates gate
    join deployments deployment on deployment.org_id = gate.org_id and deployment.id = gate.deployment_id
    where gate.org_id = ${orgId}
      and gate.status = 'waiting'
      ${run_id === undefined ? db`` : db`and gate.run_id = ${run_id}`}
      ${repository === undefined ? db`` : db`and lower(deployment.repository_full_name) = lower(${repository})`}
    order by gate.created_at, gate.id
    limit 1000`
}
