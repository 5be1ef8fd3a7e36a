import type { RuleStatus, RuleVerdict } from '../policy-evaluation.ts'
import { boundedText } from './rule-answer.ts'

/** Where a policy answers as a whole, or not at all. */
const WHOLE_POLICY = 'policy'
const RULES_MAX = 100
const STATUSES: readonly unknown[] = ['pass', 'fail', 'warn', 'error']

/** A policy that gave no answer that counts, in place of its rules. It holds back what a rule would. */
export function policyError(reason: string): RuleVerdict[] {
  const verdict = { rule: WHOLE_POLICY, name: 'The policy can be evaluated', status: 'error', blocking: true } as const
  return [{ ...verdict, reason: boundedText(reason), evidence: null }]
}

/**
 * The rules' answers in the result of a policy in Rego: a list of `{rule, status, blocking, reason, evidence}`. One that
 * cannot be read makes the whole an error, for it may be the one that fails.
 */
export function readVerdicts(result: unknown): RuleVerdict[] {
  if (result === undefined) return policyError('The decision is undefined: the policy has none at this path')
  if (!Array.isArray(result) || result.length === 0 || result.length > RULES_MAX) {
    return policyError(`The decision must be a list of 1 to ${RULES_MAX} rules`)
  }
  const verdicts = result.map(readVerdict)
  const mistake = verdicts.indexOf(null)
  if (mistake >= 0)
    return policyError(`Item ${mistake} of the decision is no {rule, status, blocking, reason, evidence}`)
  return verdicts as RuleVerdict[]
}

function readVerdict(item: unknown): RuleVerdict | null {
  if (typeof item !== 'object' || item === null) return null
  const { rule, name, status, blocking = true, reason, evidence } = item as Record<string, unknown>
  if (typeof rule !== 'string' || rule === '' || !STATUSES.includes(status) || typeof blocking !== 'boolean')
    return null
  return {
    rule: boundedText(rule),
    name: boundedText(typeof name === 'string' ? name : rule),
    status: status as RuleStatus,
    blocking,
    reason: typeof reason === 'string' && status !== 'pass' ? boundedText(reason) : null,
    evidence: evidence === undefined || evidence === null ? null : boundedText(textOf(evidence)),
  }
}

function textOf(evidence: unknown): string {
  return typeof evidence === 'string' ? evidence : JSON.stringify(evidence)
}
