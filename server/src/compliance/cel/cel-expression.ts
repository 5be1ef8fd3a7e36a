import { EvaluationError, type ParseResult } from '@marcbachmann/cel-js'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import { createErrorAnswer, normalizeText, type RuleAnswer } from '../policies/policy-verdict.ts'
import { celEnvironment } from './cel-environment.ts'
import { describeDecisiveValues } from './decisive-values.ts'

/** A mistake in an expression. `offset` counts UTF-16 code units from its start. */
type ExpressionMistake = { message: string; offset: number }

/** The types that a rule may have. `dyn` is only known at evaluation. */
const RESULT_TYPES = ['bool', 'dyn', 'map<string, string>', 'map<string, dyn>']

/** Parses and type-checks an expression. Returns null if it can be the expression of a rule. */
export function checkExpression(expression: string): ExpressionMistake | null {
  const { valid, type, error } = celEnvironment.check(expression)
  if (!valid) return { message: error?.summary ?? 'cannot be parsed', offset: error?.range?.start ?? 0 }
  if (RESULT_TYPES.includes(String(type))) return null
  return { message: `has type ${type}, but a rule must return true, false, or a map with a status`, offset: 0 }
}

/** Evaluates an expression. `celInput` is `input` in the form of CEL values. */
export function evaluateExpression(
  expression: string,
  celInput: Record<string, unknown>,
  input: PolicyInput,
): RuleAnswer {
  try {
    const compiled = compile(expression)
    const answer = toAnswer(compiled(celInput))
    return { ...answer, evidence: answer.evidence ?? describeDecisiveValues(compiled.ast, input) }
  } catch (error) {
    return createErrorAnswer(error instanceof EvaluationError ? error.summary : (error as Error).message)
  }
}

const COMPILED_MAX = 2000
const compiledExpressions = new Map<string, ParseResult>()

function compile(expression: string): ParseResult {
  const known = compiledExpressions.get(expression)
  if (known) return known
  const compiled = celEnvironment.parse(expression)
  if (compiledExpressions.size >= COMPILED_MAX) compiledExpressions.clear()
  compiledExpressions.set(expression, compiled)
  return compiled
}

const STATUSES = ['pass', 'fail', 'warn', 'error']

function toAnswer(value: unknown): RuleAnswer {
  if (typeof value === 'boolean') return { status: value ? 'pass' : 'fail', reason: null, evidence: null }
  const { status, reason, evidence } = toMembers(value)
  if (!STATUSES.includes(status as string)) {
    return createErrorAnswer('The rule must return true, false, or a map whose status is pass, fail, warn or error.')
  }
  return { status: status as RuleAnswer['status'], reason: toText(reason), evidence: toText(evidence) }
}

function toMembers(value: unknown): Record<string, unknown> {
  if (value instanceof Map) return Object.fromEntries(value)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? normalizeText(value) : null
}
