import type { PolicyMode } from './policy.schema.ts'
import type { RuleVerdict } from './rule-verdict.ts'

/** `warn`: a rule does not pass, but the rule is not blocking or the policy is in `monitor`. */
export type PolicyDecision = 'approve' | 'block' | 'warn'

export type PolicyVerdict = {
  id: string
  name: string
  version: number
  mode: PolicyMode
  decision: PolicyDecision
  rules: RuleVerdict[]
}

/** One evaluation of every policy that covers a deployment. `none`: no policy in `enforce` covers it. */
export type PolicyEvaluation = {
  evaluation_id: string
  at: Date
  decision: 'approve' | 'block' | 'none'
  policies: PolicyVerdict[]
}

/** Decides for one policy from its rules' verdicts (decisions §10). A policy in `monitor` never blocks. */
export function decide(mode: PolicyMode, rules: readonly RuleVerdict[]): PolicyDecision {
  if (mode === 'enforce' && rules.some(isBlocking)) return 'block'
  return rules.every(({ status }) => status === 'pass') ? 'approve' : 'warn'
}

/** Combines the decisions of all policies. Policies in `monitor` do not count. */
export function decideTogether(policies: readonly PolicyVerdict[]): PolicyEvaluation['decision'] {
  const enforcing = policies.filter(({ mode }) => mode === 'enforce')
  if (enforcing.length === 0) return 'none'
  return enforcing.some(({ decision }) => decision === 'block') ? 'block' : 'approve'
}

/** The compliance result of a repository. The policy's mode only matters for deployments. */
export function resultStatus(rules: readonly RuleVerdict[]): 'passing' | 'failing' | 'warning' {
  if (rules.some(isBlocking)) return 'failing'
  return rules.every(({ status }) => status === 'pass') ? 'passing' : 'warning'
}

function isBlocking({ status, blocking }: RuleVerdict): boolean {
  return blocking && (status === 'fail' || status === 'error')
}
