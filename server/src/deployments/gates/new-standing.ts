import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { ANSWER_WITHIN_MS, type GateState } from '../deployment-state.ts'
import { createPolicyApproval, toStoredEvaluation } from '../policy/evaluation.ts'
import type { NewStanding } from './new-deployment.store.ts'

/** How a new deployment and its opened gate are stored. */
type Standing = { deployment: NewStanding; gate: GateState }

/** Of a deployment that waits for policies, people or API keys. */
export function createWaitingStanding(now: Date): Standing {
  return {
    deployment: {
      status: 'pending_approval',
      custom_rule_state: 'pending',
      custom_rule_awaiting: 'manual_decision_required',
      answer_until: new Date(now.getTime() + ANSWER_WITHIN_MS),
      policies_asked_at: null,
      evaluation: null,
    },
    gate: { status: 'waiting', decision: 'pending', decided_by: null, note: null },
  }
}

/** Of a deployment that policies have approved before it is stored. */
export function createApprovedStanding(now: Date, evaluation: PolicyEvaluation): Standing {
  return {
    deployment: {
      status: 'approved',
      custom_rule_state: 'approved',
      custom_rule_awaiting: null,
      answer_until: null,
      policies_asked_at: now,
      evaluation: toStoredEvaluation(evaluation, 'approved'),
    },
    gate: createPolicyApproval(evaluation).outcome.gate,
  }
}
