import { type Principal, recordAudit, SYSTEM } from '../audit/audit.store.ts'
import type { Tx } from '../platform/db/sql.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import { lockDeployment, settleDeployment, settleGate } from './deployment-state.store.ts'
import { awaitsReviewers, type DeploymentKey, type DeploymentState, type Outcome } from './deployment-state.ts'

/**
 * Writes the outcome of the service's own protection rule; the deployment is locked and waiting.
 * While required reviewers on the code host have not answered, the deployment keeps its status
 * (specification, "Approve and reject rules" 3), and pollers of its gate are informed of a
 * rejection only. Returns the deployment's status.
 */
export async function decideDeployment(
  tx: Tx,
  state: DeploymentState,
  outcome: Outcome,
  now: Date,
): Promise<DeploymentStatus> {
  const { custom_rule_state, gate } = outcome
  const staysPending = awaitsReviewers(state) && gate.status === 'decided'
  const status = staysPending ? state.status : outcome.status
  await Promise.all([
    settleDeployment(tx, state, { status, custom_rule_state }, now),
    (!staysPending || gate.decision === 'rejected') && settleGate(tx, state, gate),
  ])
  return status
}

const VERBS = { approved: 'approve', rejected: 'reject', expired: 'expire', cancelled: 'cancel' }

type AuditedOutcome = {
  principal: Principal
  outcome: Outcome['custom_rule_state']
  reason: string | null
}

/** Records in the audit log who approved, rejected, expired or cancelled a deployment, and why. */
export async function auditOutcome(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { principal, outcome, reason }: AuditedOutcome,
  now: Date,
): Promise<void> {
  const object = { type: 'deployment', id }
  await recordAudit(tx, org_id, { principal, action: `deployment.${VERBS[outcome]}`, object, reason }, now)
}

/** Expires or cancels a deployment. Does nothing when it no longer waits for an answer. */
export async function endWaiting(tx: Tx, deployment: DeploymentKey, outcome: Outcome, now: Date): Promise<void> {
  const state = await lockDeployment(tx, deployment)
  if (state?.status !== 'pending_approval' || state.custom_rule_state !== 'pending') return
  await decideDeployment(tx, state, outcome, now)
  const { custom_rule_state, gate } = outcome
  await auditOutcome(tx, deployment, { principal: SYSTEM, outcome: custom_rule_state, reason: gate.note }, now)
}
