import type { ErrorObject } from 'ajv'
import { DURATION_DAYS_MAX, parseDurationMs } from '../../platform/duration.ts'
import { validateGlob } from '../../platform/glob.ts'
import { checkExpression } from '../cel/cel-expression.ts'
import { ENGINES } from './policy-file.schema.ts'

/** A mistake in a policy file. `path` is empty if the mistake concerns the whole file. */
export type PolicyMistake = { line: number; column: number; path: string; message: string }

/** Every mistake in a policy file. The message has one line for each. */
export class PolicyFileError extends Error {
  readonly mistakes: PolicyMistake[]

  constructor(mistakes: PolicyMistake[]) {
    const sorted = mistakes.toSorted((one, other) => one.line - other.line || one.column - other.column)
    super(sorted.map(describe).join('\n'))
    this.mistakes = sorted
  }
}

/** A mistake that concerns the whole file. */
export function createFileError(message: string): PolicyFileError {
  return new PolicyFileError([{ line: 1, column: 1, path: '', message }])
}

function describe({ line, column, path, message }: PolicyMistake): string {
  return `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`
}

/** The schema's own formats. Each returns what is wrong with a text, or null. */
export const FORMATS: Record<string, (text: string) => string | null> = {
  glob: validateGlob,
  age: (text) =>
    parseDurationMs(text) === null ? `must be an age such as 7d, 12h or 30m, at most ${DURATION_DAYS_MAX}d` : null,
  cel: expressionMistake,
}

const EXCERPT_CHARS = 30

function expressionMistake(expression: string): string | null {
  const mistake = checkExpression(expression)
  if (mistake === null) return null
  const rest = expression.slice(mistake.offset, mistake.offset + EXCERPT_CHARS)
  const excerpt = rest.replaceAll(/\s+/g, ' ').trim()
  const where = excerpt === '' ? 'at its end' : `at "${excerpt}", character ${mistake.offset + 1}`
  return `${mistake.message} (${where})`
}

type Schema = {
  type?: string
  const?: string
  enum?: string[]
  format?: string
  maxLength?: number
  maxItems?: number
  examples?: string[]
  properties?: Record<string, Schema>
}

/** Describes a validation error of the schema in plain English. */
export function describeMistake({ keyword, params, parentSchema, data }: ErrorObject): string {
  const schema = parentSchema as Schema
  const fields = Object.keys(schema.properties ?? {})
  switch (keyword) {
    case 'required':
      return `is required and ${requirement(schema.properties?.[params.missingProperty] ?? {})}`
    case 'additionalProperties':
      return `is not a field here; the fields are ${fields.join(', ')}`
    case 'minProperties':
      return `must have at least one of the fields ${fields.join(', ')}`
    case 'type':
      return `${requirement(schema)}${schema.type === 'string' && isUnquoted(data) ? '; put the value in quotes' : ''}`
    default:
      return FORMATS[schema.format ?? '']?.(data as string) ?? requirement(schema)
  }
}

/** Whether YAML read a plain scalar as something other than text. */
function isUnquoted(data: unknown): boolean {
  return typeof data === 'number' || typeof data === 'boolean'
}

const NOUNS: Record<string, string> = { glob: 'a glob', age: 'an age', cel: 'a CEL expression' }

/** States which values a schema accepts, as the end of a sentence. */
function requirement({ type, const: only, enum: values, format, maxLength, maxItems, examples }: Schema): string {
  if (only !== undefined) return `must be ${either(ENGINES)}`
  if (values) return `must be ${either(values)}`
  if (type === 'boolean') return 'must be true or false'
  if (type === 'array') return `must be a list of 1 to ${maxItems} items`
  if (type === 'object') return 'must be a map of fields'
  const bound = maxLength === undefined ? '' : ` of at most ${maxLength} characters`
  return `must be ${NOUNS[format ?? ''] ?? 'text'}${bound}, such as ${either(examples ?? [])}`
}

function either(values: readonly string[]): string {
  return [values.slice(0, -1).join(', '), ...values.slice(-1)].filter((part) => part !== '').join(' or ')
}
