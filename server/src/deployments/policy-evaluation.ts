import {
  getBlockingRules,
  isApproving,
  type PolicyEvaluation,
  type PolicyVerdict,
} from '../compliance/policies/policy-verdict.ts'
import { truncate } from '../platform/text.ts'
import { createDecidedOutcome, type Outcome, type RequiredGate } from './deployment-state.ts'

const NOTE_CHARS_MAX = 2000
const REASON_CHARS_MAX = 1000

type PolicyGate = Pick<RequiredGate, 'policies' | 'approve_by_policies'>

/** True if policies can approve the gate at all. */
export function canApproveByPolicies({ approve_by_policies }: PolicyGate): boolean {
  return approve_by_policies !== false
}

/**
 * True if policies approve the gate: no policy blocks, and each one that the gate asks for approves
 * (decisions §9). Policies in the files of repositories never approve.
 */
export function isApprovedByPolicies(gate: PolicyGate, evaluation: PolicyEvaluation): boolean {
  if (evaluation.decision === 'block' || !canApproveByPolicies(gate)) return false
  const asked = selectAsked(gate, evaluation)
  return asked.length > 0 && asked.every((policy) => policy !== undefined && isApproving(policy))
}

/** The policies that together approve a gate. Undefined stands for one that was not evaluated. */
function selectAsked(gate: PolicyGate, { policies }: PolicyEvaluation): (PolicyVerdict | undefined)[] {
  const own = policies.filter(({ path }) => path === null)
  if (gate.approve_by_policies !== 'covering') {
    return gate.policies.map((name) => own.find((policy) => policy.name === name))
  }
  return own.filter(({ mode, rules }) => mode === 'enforce' && rules.some(({ blocking }) => blocking))
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

/** The decision of the policies that approve these gates, and its audit entry. */
export function createPolicyApproval(evaluation: PolicyEvaluation, gates: readonly PolicyGate[]) {
  const approving = new Set(gates.flatMap((gate) => selectAsked(gate, evaluation)))
  const name = evaluation.policies.flatMap((policy) => (approving.has(policy) ? [policy.name] : [])).join(', ')
  const reason = formatOutcome(evaluation)
  const principal = { type: 'policy', id: evaluation.evaluation_id, name } as const
  const audited = { principal, outcome: 'approved', reason } as const
  return { outcome: createDecidedOutcome('approved', 'policy', reason), audited }
}

/**
 * What policies that do not block say: "Passed: a, b. Failed, not blocking: c: rule. Monitored: d."
 */
export function formatOutcome({ policies }: PolicyEvaluation): string {
  const enforced = policies.filter(({ mode }) => mode === 'enforce')
  const failed = enforced.flatMap(({ name, rules }) =>
    rules.flatMap(({ name: rule, status }) => (status === 'fail' || status === 'error' ? [`${name}: ${rule}`] : [])),
  )
  const monitored = policies.filter(({ mode }) => mode === 'monitor')
  const texts = [
    formatNames('Passed', enforced.filter(isApproving)),
    failed.length > 0 ? `Failed, not blocking: ${failed.join(', ')}.` : null,
    formatNames('Monitored', monitored),
  ]
  return truncate(texts.filter((text) => text !== null).join(' '), REASON_CHARS_MAX)
}

function formatNames(label: string, policies: readonly PolicyVerdict[]): string | null {
  return policies.length === 0 ? null : `${label}: ${policies.map(({ name }) => name).join(', ')}.`
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
  const shown = policies.map(({ rules: _, ...policy }) => policy)
  return {
    policy_evaluation: { evaluation_id, at, decision, answered, policies: shown },
    policy_rules: policies.map(({ rules }) =>
      rules.map(({ rule, name, status, blocking, reason }) => ({ rule, name, status, blocking, reason })),
    ),
    policy_evidence: policies.map(({ rules }) => rules.map(({ evidence }) => evidence)),
  }
}
