import { createErrorVerdict, normalizeText, type RuleStatus, type RuleVerdict } from '../policies/policy-verdict.ts'

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
