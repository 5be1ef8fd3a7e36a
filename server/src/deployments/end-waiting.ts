import { SYSTEM } from '../audit/principal.ts'
import type { Tx } from '../platform/db/sql.ts'
import { auditOutcome, decideDeployment } from './decide-deployment.ts'
import { lockDeployment } from './deployment-state.store.ts'
import type { Outcome } from './outcome.ts'

/** Ends the wait of a deployment that nobody will answer any more. Does nothing where it does not wait. */
export async function endWaiting(tx: Tx, orgId: string, id: string, outcome: Outcome, now: Date): Promise<void> {
  const state = await lockDeployment(tx, orgId, id)
  if (state?.status !== 'pending_approval' || state.custom_rule_state !== 'pending') return
  await decideDeployment(tx, orgId, state, outcome, now)
  const { custom_rule_state, gate } = outcome
  await auditOutcome(tx, orgId, id, { principal: SYSTEM, outcome: custom_rule_state, reason: gate.note }, now)
}
