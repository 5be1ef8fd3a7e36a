import { EvaluationError, type ParseResult } from '@marcbachmann/cel-js'
import { boundedText, errorAnswer, type RuleAnswer } from '../engines/rule-answer.ts'
import type { PolicyInput } from '../policy-input.schema.ts'
import { celEnvironment } from './cel-environment.ts'
import { decisiveValues } from './decisive-values.ts'

/** An expression's answer on an input, which is given in both forms: CEL's own, and JSON for what is shown of it. */
export function evaluateExpression(
  expression: string,
  celInput: Record<string, unknown>,
  input: PolicyInput,
): RuleAnswer {
  try {
    const compiled = compile(expression)
    const answer = toAnswer(compiled(celInput))
    return { ...answer, evidence: answer.evidence ?? decisiveValues(compiled.ast, input) }
  } catch (error) {
    return errorAnswer(error instanceof EvaluationError ? error.summary : (error as Error).message)
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

/** True or false, or a map that says more. Anything else is no answer. */
function toAnswer(value: unknown): RuleAnswer {
  if (typeof value === 'boolean') return { status: value ? 'pass' : 'fail', reason: null, evidence: null }
  const { status, reason, evidence } = membersOf(value)
  if (!STATUSES.includes(status as string)) {
    return errorAnswer('The rule answered neither true nor false, nor a map whose status is pass, fail, warn or error.')
  }
  return { status: status as RuleAnswer['status'], reason: textOf(reason), evidence: textOf(evidence) }
}

function membersOf(value: unknown): Record<string, unknown> {
  if (value instanceof Map) return Object.fromEntries(value)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? boundedText(value) : null
}
