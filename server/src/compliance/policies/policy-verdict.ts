import { truncate } from '../../platform/text.ts'
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

/** `warn`: the policy neither approves nor blocks. */
export type PolicyDecision = 'approve' | 'block' | 'warn'

export type PolicyVerdict = {
  id: string
  name: string
  version: number
  mode: PolicyMode
  /** The file of the repository that has the policy. Null for a policy of the organization. */
  path: string | null
  decision: PolicyDecision
  rules: RuleVerdict[]
}

/**
 * An evaluation of a deployment. `none`: no policy blocks it, and none of the organization
 * approves.
 */
export type PolicyEvaluation = {
  evaluation_id: string
  at: Date
  decision: 'approve' | 'block' | 'none'
  policies: PolicyVerdict[]
  /** Present if a policy was not evaluated, because its turn did not come in time. */
  isOverBudget?: boolean
}

/** Decides for one policy (decisions §10). A policy in `monitor` never blocks. */
export function decide(mode: PolicyMode, rules: readonly RuleVerdict[]): PolicyDecision {
  if (mode === 'enforce' && rules.some(isBlocking)) return 'block'
  const approves = mode === 'enforce' ? rules.some(isBlockingPass) : rules.every(({ status }) => status === 'pass')
  return approves ? 'approve' : 'warn'
}

/**
 * Combines the decisions of all policies. Policies in `monitor` do not count, and policies in the
 * files of repositories can only block (decisions §9).
 */
export function decideTogether(policies: readonly PolicyVerdict[]): PolicyEvaluation['decision'] {
  if (policies.some(({ mode, decision }) => mode === 'enforce' && decision === 'block')) return 'block'
  return policies.some((policy) => policy.path === null && isApproving(policy)) ? 'approve' : 'none'
}

/**
 * True if the policy is enforced, a blocking rule passed, and none failed or erred (decisions §9).
 */
export function isApproving({ mode, decision }: PolicyVerdict): boolean {
  return mode === 'enforce' && decision === 'approve'
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

function isBlockingPass({ status, blocking }: RuleVerdict): boolean {
  return blocking && status === 'pass'
}

function isBlocking({ status, blocking }: RuleVerdict): boolean {
  return blocking && (status === 'fail' || status === 'error')
}

const RULES_MAX = 100
const STATUSES: readonly unknown[] = ['pass', 'fail', 'warn', 'error']

/**
 * Reads the result of a policy in Rego: a list of `{rule, status, blocking, reason, evidence}`. One
 * unreadable item makes the whole policy an error, because that item may be the one that fails.
 */
export function readVerdicts(result: unknown): RuleVerdict[] {
  if (result === undefined)
    return createErrorVerdict('The decision is undefined: the policy defines nothing at this path')
  if (!Array.isArray(result) || result.length === 0 || result.length > RULES_MAX) {
    return createErrorVerdict(`The decision must be a list of 1 to ${RULES_MAX} rules`)
  }
  const verdicts = result.map(readVerdict)
  const mistake = verdicts.indexOf(null)
  if (mistake >= 0) {
    return createErrorVerdict(
      `Item ${mistake} of the decision is not a valid {rule, status, blocking, reason, evidence}`,
    )
  }
  return verdicts as RuleVerdict[]
}

function readVerdict(item: unknown): RuleVerdict | null {
  if (typeof item !== 'object' || item === null) return null
  const { rule, name, status, blocking = true, reason, evidence } = item as Record<string, unknown>
  if (typeof rule !== 'string' || rule === '') return null
  if (!STATUSES.includes(status) || typeof blocking !== 'boolean') return null
  return {
    rule: normalizeText(rule),
    name: normalizeText(typeof name === 'string' ? name : rule),
    status: status as RuleStatus,
    blocking,
    reason: typeof reason === 'string' && status !== 'pass' ? normalizeText(reason) : null,
    evidence: evidence === undefined || evidence === null ? null : normalizeText(toText(evidence)),
  }
}

function toText(evidence: unknown): string {
  return typeof evidence === 'string' ? evidence : JSON.stringify(evidence)
}
