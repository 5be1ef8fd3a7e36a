import { getBlockingRules, type PolicyEvaluation } from '../compliance/policies/policy-verdict.ts'
import { createDecidedOutcome, type Outcome, type RequiredGate } from './deployment-state.ts'

const NOTE_CHARS_MAX = 2000
const REASON_CHARS_MAX = 1000

/**
 * True if passing policies approve the gate: a gate that names policies, or that requires one
 * approval only. A gate that names no policy and requires several approvals must be approved by
 * principals.
 */
export function canPoliciesApprove({
  policies,
  required_approvals,
}: Pick<RequiredGate, 'policies' | 'required_approvals'>): boolean {
  return policies.length > 0 || required_approvals === 1
}

/** False if no policy covers the deployment; such an evaluation is not shown. */
export function isShown({ decision, policies }: PolicyEvaluation): boolean {
  return decision !== 'none' || policies.length > 0
}

/** Why policies block the deployment, one reason a line; null if they do not block it. */
export function explainBlocking({ decision, policies }: PolicyEvaluation): string | null {
  if (decision !== 'block') return null
  const reasons = policies.flatMap((policy) =>
    getBlockingRules(policy).map(({ name, reason }) => `${policy.name}: ${reason ?? name}`),
  )
  return reasons.length > 0 ? reasons.join('\n').slice(0, NOTE_CHARS_MAX) : 'The policies could not be read.'
}

/** The decision of policies that all pass, and its audit entry. */
export function createPolicyApproval({ evaluation_id, policies }: PolicyEvaluation) {
  const name = policies.map((policy) => policy.name).join(', ')
  const reason = `All policies pass: ${name}`.slice(0, REASON_CHARS_MAX)
  const principal = { type: 'policy', id: evaluation_id, name } as const
  const audited = { principal, outcome: 'approved', reason } as const
  return { outcome: createDecidedOutcome('approved', 'policy', reason), audited }
}

/** An evaluation in the columns of a deployment. */
export type StoredEvaluation = ReturnType<typeof toStoredEvaluation>

/**
 * Converts an evaluation to its wire form on a deployment, and to the results of its rules and
 * their evidence, an array for each policy. `answered` is how the deployment was decided; null
 * until then.
 */
export function toStoredEvaluation(
  { evaluation_id, at, decision, policies }: PolicyEvaluation,
  answered: Outcome['custom_rule_state'] | null,
) {
  const shown = policies.map(({ id, name, version, mode, decision }) => ({ id, name, version, mode, decision }))
  return {
    policy_evaluation: { evaluation_id, at, decision, answered, policies: shown },
    policy_rules: policies.map(({ rules }) =>
      rules.map(({ rule, name, status, blocking, reason }) => ({ rule, name, status, blocking, reason })),
    ),
    policy_evidence: policies.map(({ rules }) => rules.map(({ evidence }) => evidence)),
  }
}
