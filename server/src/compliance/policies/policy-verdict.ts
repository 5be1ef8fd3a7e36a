import { truncate } from '../../platform/text.ts'
import type { AskedEvidence } from './asked-evidence.schema.ts'
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
  /** Absent for the version of now. */
  earlier?: EarlierVersion
  rules: RuleVerdict[]
}

/** Why a version of a policy is asked that was replaced or removed (trust §5). */
export type EarlierVersion = {
  replaced_at: Date
  /** Null where the deployment was opened before, and asks it as long as it waits. */
  asked_until: Date | null
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
  /** What they were asked with. Absent if they could not be read. */
  evidence?: AskedEvidence[]
  /** Present if a policy was not evaluated, because its turn did not come in time. */
  isOverBudget?: boolean
}

/** Decides for one policy (decisions §10). A policy in `monitor` never blocks. */
export function decide(mode: PolicyMode, rules: readonly RuleVerdict[]): PolicyDecision {
  if (mode === 'enforce' && rules.some(isBlocking)) return 'block'
  const passed = rules.filter(({ status }) => status === 'pass')
  const approves = mode === 'enforce' ? passed.some(({ blocking }) => blocking) : passed.length === rules.length
  return approves ? 'approve' : 'warn'
}

/**
 * Combines the decisions of all policies. Policies in `monitor` do not count, and policies in the
 * files of repositories can only block (decisions §9).
 */
export function decideTogether(policies: readonly PolicyVerdict[]): PolicyEvaluation['decision'] {
  if (policies.some(isVetoing)) return 'block'
  return selectWorst(policies).some((policy) => policy.path === null && isApproving(policy)) ? 'approve' : 'none'
}

function isVetoing({ mode, decision }: PolicyVerdict): boolean {
  return mode === 'enforce' && decision === 'block'
}

/** From a veto to an approval. An enforced policy that does not approve can keep a gate waiting. */
function getBadness(policy: PolicyVerdict | undefined): number {
  if (policy?.mode !== 'enforce') return 1
  return isVetoing(policy) ? 3 : isApproving(policy) ? 0 : 2
}

/**
 * The verdicts of one policy that count: that of now, and the worst of its earlier versions if that
 * is worse. Where none is enforced now, an earlier one counts if it was and does not approve.
 */
export function selectCounting(verdicts: readonly PolicyVerdict[]): PolicyVerdict[] {
  const current = verdicts.find(({ earlier }) => earlier === undefined)
  const [worst] = verdicts.filter(isEarlier).toSorted((a, b) => getBadness(b) - getBadness(a))
  const counting = getBadness(worst) > getBadness(current) ? worst : undefined
  return [current, counting].filter((verdict) => verdict !== undefined)
}

function isEarlier({ earlier }: PolicyVerdict): boolean {
  return earlier !== undefined
}

/** One verdict for each policy: that of an earlier version where it counts, else that of now. */
export function selectWorst(policies: readonly PolicyVerdict[]): PolicyVerdict[] {
  const replaced = new Set(policies.filter(isEarlier).map(({ id }) => id))
  return policies.filter((policy) => isEarlier(policy) || !replaced.has(policy.id))
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

function isBlocking({ status, blocking }: RuleVerdict): boolean {
  return blocking && (status === 'fail' || status === 'error')
}

const BADNESS: Record<RuleStatus, number> = { pass: 0, warn: 1, fail: 2, error: 3 }

/** The worse answer to each rule. Rules that only the later ones answer are added. */
export function mergeWorse(earlier: readonly RuleVerdict[], later: readonly RuleVerdict[]): RuleVerdict[] {
  const worse = earlier.map((verdict) =>
    later
      .filter(({ rule }) => rule === verdict.rule)
      .reduce((worst, other) => (isWorse(other, worst) ? other : worst), verdict),
  )
  const known = new Set(earlier.map(({ rule }) => rule))
  return [...worse, ...later.filter(({ rule }) => !known.has(rule))]
}

/** What blocks is worse than what does not. */
function isWorse(one: RuleVerdict, other: RuleVerdict): boolean {
  if (isBlocking(one) !== isBlocking(other)) return isBlocking(one)
  return BADNESS[one.status] > BADNESS[other.status]
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
