import type { Actor } from '../../access/actor.ts'
import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { OWN_RULE } from '../new-deployment.store.ts'
import { blockingRules } from '../policy/policy-approval.ts'
import type { Answer } from './answer.store.ts'

const OVERRIDE_SCOPE = 'write:compliance-override'

/** An approval against the policies needs a scope of its own (specification, "Approve and reject rules" 4). Throws 403. */
export function requireOverrideScope({ credential }: Actor, evaluation: PolicyEvaluation | null): void {
  if (evaluation?.decision !== 'block' || credential.scopes.includes(OVERRIDE_SCOPE)) return
  const message = `A policy holds this deployment back: approving it needs the scope ${OVERRIDE_SCOPE}.`
  throw new ApiError(403, 'insufficient_scope', message, { requiredScope: OVERRIDE_SCOPE })
}

/** The wire form of an approval against the policies: who, why, and which rules were overruled. */
export function toOverride(answer: Answer, evaluation: PolicyEvaluation, isRunCreator: boolean) {
  const blocking = evaluation.policies.filter((policy) => policy.decision === 'block')
  return {
    at: answer.answered_at,
    user_id: null,
    email: null,
    display_name: answer.principal_name,
    reason: answer.reason,
    self_override: isRunCreator,
    gates: [OWN_RULE],
    evaluation_id: evaluation.evaluation_id,
    evaluated_at: evaluation.at,
    policies: blocking.map((policy) => ({
      id: policy.id,
      name: policy.name,
      version: policy.version,
      decision: policy.decision,
      rules: blockingRules(policy).map(({ rule, name, status, reason }) => ({ rule, name, status, reason })),
    })),
  }
}
