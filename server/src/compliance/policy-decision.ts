import type { PolicyMode } from './policy.schema.ts'
import type { PolicyDecision, PolicyVerdict, RuleVerdict } from './policy-evaluation.ts'
import type { ResultStatus } from './result.schema.ts'

/** What the answers of a policy's rules come to for a deployment (decisions §10). A policy in `monitor` holds nothing back. */
export function decide(mode: PolicyMode, rules: readonly RuleVerdict[]): PolicyDecision {
  if (mode === 'enforce' && rules.some(holdsBack)) return 'block'
  return rules.every(({ status }) => status === 'pass') ? 'approve' : 'warn'
}

/** Policies in `monitor` only watch: where none enforces, nothing is decided, and a person is asked. */
export function decideTogether(policies: readonly PolicyVerdict[]): 'approve' | 'block' | 'none' {
  const enforcing = policies.filter(({ mode }) => mode === 'enforce')
  if (enforcing.length === 0) return 'none'
  return enforcing.some(({ decision }) => decision === 'block') ? 'block' : 'approve'
}

/** What they come to for a repository, whatever the mode: that only says whether a deployment waits. */
export function resultStatus(rules: readonly RuleVerdict[]): ResultStatus {
  if (rules.some(holdsBack)) return 'failing'
  return rules.every(({ status }) => status === 'pass') ? 'passing' : 'warning'
}

function holdsBack({ status, blocking }: RuleVerdict): boolean {
  return blocking && (status === 'fail' || status === 'error')
}
