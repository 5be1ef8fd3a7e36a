import { SYSTEM } from '../audit/audit.store.ts'
import {
  getBlockingRules,
  isApproving,
  type PolicyEvaluation,
  type PolicyVerdict,
  selectWorst,
} from '../compliance/policies/policy-verdict.ts'
import { truncate } from '../platform/text.ts'
import { createDecidedOutcome, type Outcome, type RequiredGate } from './deployment-state.ts'

const NOTE_CHARS_MAX = 2000
const REASON_CHARS_MAX = 1000

type PolicyGate = Pick<RequiredGate, 'policies' | 'approve_by_policies' | 'asks_earlier'>

/** True if policies can approve the gate at all. */
export function canApproveByPolicies({ approve_by_policies }: Pick<PolicyGate, 'approve_by_policies'>): boolean {
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

/** The gates that policies have approved and would not approve now. */
export function selectLost(required: readonly RequiredGate[], evaluation: PolicyEvaluation): RequiredGate[] {
  return required.filter((gate) => gate.approved_by === 'policies' && !isApprovedByPolicies(gate, evaluation))
}

/** The policies that together approve a gate. Undefined stands for one that was not evaluated. */
function selectAsked(gate: PolicyGate, { policies }: PolicyEvaluation): (PolicyVerdict | undefined)[] {
  const asked = gate.asks_earlier ? selectWorst(policies) : policies.filter(({ earlier }) => earlier === undefined)
  const own = asked.filter(({ path }) => path === null)
  if (gate.approve_by_policies !== 'covering') {
    return gate.policies.map((name) => own.find((policy) => policy.name === name))
  }
  const named = new Set(gate.policies)
  const isAsked = ({ name, mode, rules }: PolicyVerdict) =>
    named.has(name) || (mode === 'enforce' && rules.some(({ blocking }) => blocking))
  return own.filter(isAsked)
}

/** False if no policy covers the deployment; such an evaluation is not shown. */
export function isShown({ decision, policies }: PolicyEvaluation): boolean {
  return decision !== 'none' || policies.length > 0
}

/** Why the deployment waits after an evaluation, and when that may change without news. */
export function toNoted(evaluation: PolicyEvaluation, required: readonly RequiredGate[]) {
  const times = evaluation.policies.flatMap(({ earlier }) => earlier?.asked_until?.getTime() ?? [])
  const again_at = times.length === 0 ? null : new Date(Math.min(...times))
  const reasons = [
    ...explainBlocking(evaluation),
    ...explainEarlier(evaluation, required),
    ...(required.some(({ after_rejection, approved_at }) => after_rejection && approved_at === null)
      ? ['It was rejected before, so policies alone do not approve it.']
      : []),
  ]
  return { note: reasons.length === 0 ? null : reasons.join('\n').slice(0, NOTE_CHARS_MAX), again_at }
}

/** Why policies block the deployment; empty if they do not block it. */
function explainBlocking({ decision, policies }: PolicyEvaluation): string[] {
  if (decision !== 'block') return []
  const reasons = policies.flatMap((policy) =>
    getBlockingRules(policy).map(({ name, reason }) => `${formatVersion(policy)}: ${reason ?? name}`),
  )
  return reasons.length > 0 ? reasons : ['The policies could not be read.']
}

/** Why an approval does not hold any more: the rules that block, else gates and their policies. */
export function explainLoss(lost: readonly RequiredGate[], evaluation: PolicyEvaluation): string {
  const blocking = explainBlocking(evaluation)
  if (blocking.length > 0) return `Policies block: ${blocking.join('; ')}`
  const gates = lost.map(({ name, policies }) => (policies.length === 0 ? name : `${name} (${policies.join(', ')})`))
  return `The policies do not approve any more the gates that they had approved: ${gates.join('; ')}.`
}

/** What the open gates and the policies decide as they were, apart from what blocks. */
function explainEarlier({ policies }: PolicyEvaluation, required: readonly RequiredGate[]): string[] {
  const gates = required.flatMap((gate) => (gate.approved_at === null ? explainReplaced(gate) : []))
  const named = new Set(required.flatMap((gate) => (gate.asks_earlier ? gate.policies : [])))
  const earlier = policies.filter((policy) => policy.earlier !== undefined && getBlockingRules(policy).length === 0)
  const refusing = earlier.filter(({ name, path }) => path === null && named.has(name))
  return [...gates, ...refusing.map((policy) => `${formatVersion(policy)} does not approve.`)]
}

/** Why a gate counts as it was before a change; empty if its settings of now decide. */
export function explainReplaced({ name, replaced_at }: Pick<RequiredGate, 'name' | 'replaced_at'>): string[] {
  if (replaced_at === null) return []
  return [
    `The gate ${name} counts as before its change or deletion (${formatTime(replaced_at)}) where that was stricter.`,
  ]
}

/** The name of a policy, and of an earlier version also why it is asked. */
export function formatVersion({ name, version, earlier }: PolicyVerdict): string {
  if (earlier === undefined) return name
  const { replaced_at, asked_until } = earlier
  const why = asked_until === null ? 'because the deployment was opened before' : `until ${formatTime(asked_until)}`
  return `${name} (version ${version}, replaced ${formatTime(replaced_at)}, still asked ${why})`
}

function formatTime(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The decision of the policies that approve these gates, and its audit entry. */
export function createPolicyApproval(evaluation: PolicyEvaluation, gates: readonly PolicyGate[]) {
  const approving = new Set(gates.flatMap((gate) => selectAsked(gate, evaluation)))
  const name = evaluation.policies.flatMap((policy) => (approving.has(policy) ? [policy.name] : [])).join(', ')
  const reason = formatOutcome(evaluation)
  // People had approved all gates, and the policies no longer block.
  const principal = name === '' ? SYSTEM : ({ type: 'policy', id: evaluation.evaluation_id, name } as const)
  const audited = { principal, outcome: 'approved', reason } as const
  return { outcome: createDecidedOutcome('approved', 'policy', reason), audited }
}

/**
 * What policies that do not block say: "Passed: a, b. Failed, not blocking: c: rule. Monitored: d."
 */
export function formatOutcome({ policies }: PolicyEvaluation): string {
  const enforced = policies.filter(({ mode }) => mode === 'enforce')
  const failed = enforced.flatMap((policy) =>
    policy.rules.flatMap(({ name, status }) =>
      status === 'fail' || status === 'error' ? [`${formatVersion(policy)}: ${name}`] : [],
    ),
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
  return policies.length === 0 ? null : `${label}: ${policies.map(formatVersion).join(', ')}.`
}

/** An evaluation in the columns of a deployment. */
export type StoredEvaluation = ReturnType<typeof toStoredEvaluation>

/**
 * Converts an evaluation to its wire form on a deployment, to the results of its rules and their
 * evidence, an array for each policy, and to what was asked with. `answered` is how the deployment
 * was decided; null until then.
 */
export function toStoredEvaluation(
  { evaluation_id, at, decision, policies, evidence }: PolicyEvaluation,
  answered: Outcome['custom_rule_state'] | null,
) {
  const shown = policies.map(({ rules: _, ...policy }) => policy)
  return {
    policy_evaluation: { evaluation_id, at, decision, answered, policies: shown },
    policy_rules: policies.map(({ rules }) =>
      rules.map(({ rule, name, status, blocking, reason }) => ({ rule, name, status, blocking, reason })),
    ),
    policy_evidence: policies.map(({ rules }) => rules.map(({ evidence }) => evidence)),
    asked_evidence: evidence ?? null,
  }
}
