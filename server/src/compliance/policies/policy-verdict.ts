import { truncate } from '../../platform/truncate.ts'
import type { PolicyMode } from './policy.schema.ts'

/** `error` means that the rule could not be evaluated. It never counts as a pass. */
export type RuleStatus = 'pass' | 'fail' | 'warn' | 'error'

/** An engine's answer for one rule. `reason` and `evidence` are null if the engine gives none. */
export type RuleAnswer = { status: RuleStatus; reason: string | null; evidence: string | null }

export type RuleVerdict = RuleAnswer & {
  rule: string
  name: string
  /** Whether `fail` or `error` blocks a deployment when the policy is in `enforce`. */
  blocking: boolean
}

const TEXT_CHARS_MAX = 1000

/** Makes an engine's text safe to store: bounded, without U+0000 and without lone surrogates. */
export function normalizeText(text: string): string {
  return truncate(text.replaceAll('\0', '').toWellFormed(), TEXT_CHARS_MAX)
}

export function createErrorAnswer(reason: string): RuleAnswer {
  return { status: 'error', reason: normalizeText(reason), evidence: null }
}

/** The verdict of a policy that could not be evaluated at all. It blocks like a blocking rule. */
export function createErrorVerdict(reason: string): RuleVerdict[] {
  return [{ rule: 'policy', name: 'The policy can be evaluated', blocking: true, ...createErrorAnswer(reason) }]
}

export function createUnreadableVerdict(): RuleVerdict[] {
  return createErrorVerdict('The stored policy cannot be read; apply its file again')
}

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

/** An evaluation of a deployment. `none`: no policy in `enforce` covers it. */
export type PolicyEvaluation = {
  evaluation_id: string
  at: Date
  decision: 'approve' | 'block' | 'none'
  policies: PolicyVerdict[]
}

/** Decides for one policy (decisions §10). A policy in `monitor` never blocks. */
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
export function getResultStatus(rules: readonly RuleVerdict[]): 'passing' | 'failing' | 'warning' {
  if (rules.some(isBlocking)) return 'failing'
  return rules.every(({ status }) => status === 'pass') ? 'passing' : 'warning'
}

/** The rules that block a deployment. A policy in `monitor` never blocks. */
export function getBlockingRules({ mode, rules }: PolicyVerdict): RuleVerdict[] {
  return mode === 'enforce' ? rules.filter(isBlocking) : []
}

function isBlocking({ status, blocking }: RuleVerdict): boolean {
  return blocking && (status === 'fail' || status === 'error')
}
