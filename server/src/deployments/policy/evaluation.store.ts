import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { StoredEvaluation } from './evaluation.ts'

/** Stores the policy evaluation of a locked deployment, in place of the one before. */
export async function updateEvaluation(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { policy_evaluation, policy_rules, policy_evidence }: StoredEvaluation,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = ${tx.json(policy_evaluation as never)}, policy_rules = ${tx.json(policy_rules)},
      policy_evidence = ${tx.json(policy_evidence)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Removes the policy evaluation of a locked deployment that no policy covers any more. */
export async function deleteEvaluation(tx: Tx, { org_id, id }: DeploymentKey, at: Date): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = null, policy_rules = null, policy_evidence = null, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and policy_evaluation is not null`
}

/**
 * Records that the policies of a locked deployment were evaluated. `note` is shown to the pollers
 * of its gate.
 */
export async function updatePoliciesEvaluated(tx: Tx, { org_id, id }: DeploymentKey, note: string | null, at: Date) {
  await tx`
    with evaluated as (
      update deployments
      set policies_asked_at = ${at}
      where org_id = ${org_id}
        and id = ${id}
    )
    update opened_gates
    set note = ${note}
    where org_id = ${org_id}
      and deployment_id = ${id}
      and status = 'waiting'`
}

/**
 * Deployments of all organizations that were created before `createdBefore` and whose policies were
 * never evaluated, although our rule is not answered.
 */
export async function listUnevaluated(db: Db, createdBefore: Date): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where policies_asked_at is null
      and custom_rule_state = 'pending'
      and created_at <= ${createdBefore}
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
    select org_id, id
    from deployments
    where org_id = ${orgId}
      and status = 'pending_approval'
      and custom_rule_state = 'pending'
      ${run_id === undefined ? db`` : db`and pipeline_run_id = ${run_id}`}
      ${repository === undefined ? db`` : db`and lower(repository_full_name) = lower(${repository})`}
    order by created_at, id
    limit 1000`
}
