import type { ErrorObject } from 'ajv'
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml'
import { DURATION_DAYS_MAX, parseDurationMs } from '../../platform/clock.ts'
import { validateGlob } from '../../platform/glob.ts'
import { checkExpression } from '../engines/cel-expression.ts'
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
    case 'type': {
      // YAML reads a plain scalar such as 1 or true as something other than text.
      const isUnquoted = schema.type === 'string' && (typeof data === 'number' || typeof data === 'boolean')
      return `${requirement(schema)}${isUnquoted ? '; put the value in quotes' : ''}`
    }
    default:
      return FORMATS[schema.format ?? '']?.(data as string) ?? requirement(schema)
  }
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

export const POLICY_FILE_BYTES_MAX = 64 * 1024

type Position = Pick<PolicyMistake, 'line' | 'column'>

/** The library reports an overflow of the stack as a mistake in the file. */
const STACK_OVERFLOW = /call stack|stack overflow/i

/** A YAML document as a plain value, with the position of each of its parts. */
export class PolicyDocument {
  readonly value: unknown
  readonly #document: Document
  readonly #lines: LineCounter

  /** Throws `PolicyFileError` unless the text is one YAML 1.2 map without aliases. */
  constructor(text: string) {
    if (Buffer.byteLength(text) > POLICY_FILE_BYTES_MAX) {
      throw createFileError(`a policy file can have at most ${POLICY_FILE_BYTES_MAX} bytes`)
    }
    this.#lines = new LineCounter()
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: true })
    const mistakes = this.#syntaxMistakes()
    if (mistakes.length > 0) throw new PolicyFileError(mistakes)
    if (!isMap(this.#document.contents)) {
      throw createFileError('a policy file must be a map with the fields name, mode, bindings and rules')
    }
    this.value = this.#document.toJS()
  }

  /** Position of the value at a path, or of the innermost part of the path that exists. */
  valueAt(path: readonly string[]): Position {
    const node = path.length === 0 ? this.#document.contents : this.#document.getIn(path, true)
    return isNode(node) ? this.#startOf(node) : this.valueAt(path.slice(0, -1))
  }

  /** Position of the last key in a path. */
  keyAt(path: readonly string[]): Position {
    const parent = path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true)
    const items = isMap(parent) ? parent.items : []
    const key = items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))?.key
    return isNode(key) ? this.#startOf(key) : this.valueAt(path.slice(0, -1))
  }

  #syntaxMistakes(): PolicyMistake[] {
    const { errors, warnings } = this.#document
    const overflow = errors.find(({ message }) => STACK_OVERFLOW.test(message))
    if (overflow) return [{ ...this.#position(overflow.pos[0]), path: '', message: 'the file is nested too deeply' }]
    return [
      ...[...errors, ...warnings].map(({ pos, message }) => ({ ...this.#position(pos[0]), path: '', message })),
      ...this.#unsupportedNodes(),
    ]
  }

  /** Aliases are refused, because a few lines of them can expand to millions of values. */
  #unsupportedNodes(): PolicyMistake[] {
    const mistakes: PolicyMistake[] = []
    const refuse = (node: object, message: string) => mistakes.push({ ...this.#startOf(node), path: '', message })
    visit(this.#document, {
      Alias: (_key, node) => {
        refuse(node, 'aliases are not allowed; repeat the value')
      },
      Pair: (_key, { key }) => {
        if (isMap(key) || isSeq(key)) refuse(key, 'a key must be text')
      },
    })
    return mistakes
  }

  #startOf(node: object): Position {
    return this.#position((node as ParsedNode).range?.[0] ?? 0)
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}
