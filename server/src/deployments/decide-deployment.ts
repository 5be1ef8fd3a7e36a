import { recordAudit } from '../audit/audit.store.ts'
import type { Principal } from '../audit/principal.ts'
import type { Tx } from '../platform/db/sql.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import { settleDeployment, settleGate } from './deployment-state.store.ts'
import { awaitsReviewers, type DeploymentState } from './deployment-state.ts'
import type { Outcome } from './outcome.ts'

/**
 * Ends the wait for the service's own rule; the deployment is locked and waits. While people still have to review on
 * the code host, the deployment stays as it was (specification, "Approve and reject rules" 3), and whoever polls hears
 * of a rejection only. Returns the deployment's status.
 */
export async function decideDeployment(
  tx: Tx,
  orgId: string,
  state: DeploymentState,
  { status: wanted, custom_rule_state, gate }: Outcome,
  now: Date,
): Promise<DeploymentStatus> {
  const staysPending = awaitsReviewers(state) && gate.status === 'decided'
  const status = staysPending ? state.status : wanted
  await Promise.all([
    settleDeployment(tx, orgId, state.id, { status, custom_rule_state }, now),
    (!staysPending || gate.decision === 'rejected') && settleGate(tx, orgId, state.id, gate),
  ])
  return status
}

const VERBS = { approved: 'approve', rejected: 'reject', expired: 'expire', cancelled: 'cancel' }

/** Notes who ended the wait, and why. */
export async function auditOutcome(
  tx: Tx,
  orgId: string,
  deploymentId: string,
  {
    principal,
    outcome,
    reason,
  }: { principal: Principal; outcome: Outcome['custom_rule_state']; reason: string | null },
  now: Date,
): Promise<void> {
  const object = { type: 'deployment', id: deploymentId }
  await recordAudit(tx, orgId, { principal, action: `deployment.${VERBS[outcome]}`, object, reason }, now)
}
