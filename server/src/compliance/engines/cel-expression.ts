import { type ASTNode, Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { rejectTruncated } from '../policies/evidence-view.ts'
import { findSourceNotImported } from '../policies/found-evidence.ts'
import { PolicyInput } from '../policies/policy-input.schema.ts'
import { createErrorAnswer, normalizeText, type RuleAnswer } from '../policies/policy-verdict.ts'

/** The keywords of JSON Schema that the policy input uses. */
type SchemaNode = {
  type?: string
  format?: string
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  anyOf?: SchemaNode[]
}

/** A CEL type, and a function that converts a JSON value to it. */
type CelType = { type: string; read: (value: unknown) => unknown }

const SCALARS: Record<string, CelType> = {
  string: { type: 'string', read: (value) => value },
  boolean: { type: 'bool', read: (value) => value },
  integer: { type: 'int', read: (value) => BigInt(value as number) },
  number: { type: 'double', read: (value) => value },
}
const TIMESTAMP: CelType = { type: 'google.protobuf.Timestamp', read: (value) => new Date(value as string) }
/** JSON objects without a schema. Their numbers are doubles in CEL. */
const FREE_FORM: CelType = { type: 'map<string, dyn>', read: (value) => value }

/** Limits on the size of one expression. The process that evaluates it limits its time. */
const LIMITS = { maxAstNodes: 1000, maxDepth: 40, maxListElements: 200, maxMapEntries: 50, maxCallArguments: 16 }

/** The CEL environment with every member of the policy input as a typed variable. */
const celEnvironment = new Environment({ limits: LIMITS })

const MATCHES = 'matches'
/**
 * What `matches` is when it is evaluated: regular expressions of CEL are those of RE2, in linear
 * time. The library has those of JavaScript, and takes no other function of that name.
 */
const MATCHES_LINEAR = 'matches_linear'
const PATTERNS_MAX = 200
const patterns = new Map<string, RE2JS>()

celEnvironment.registerFunction(`string.${MATCHES_LINEAR}(string): bool`, (value: string, pattern: string) =>
  compilePattern(pattern).test(value),
)

function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern)
  if (known) return known
  const compiled = RE2JS.compile(pattern)
  if (patterns.size >= PATTERNS_MAX) patterns.clear()
  patterns.set(pattern, compiled)
  return compiled
}

/** Changes the calls of `matches` in a parsed expression. Those in macros are the same nodes. */
function replaceMatches(node: unknown): void {
  if (Array.isArray(node)) for (const item of node) replaceMatches(item)
  if (!isNode(node)) return
  if (node.op === 'rcall' && node.args[0] === MATCHES) node.args[0] = MATCHES_LINEAR
  replaceMatches(node.args)
}

const members = Object.entries((PolicyInput as unknown as SchemaNode).properties ?? {}).map(([name, schema]) => {
  const { type, read } = celType(name, schema)
  celEnvironment.registerVariable(name, type)
  return [name, read] as const
})

/** Converts a policy input to CEL values. Null members are absent, for `has(run.branch)`. */
export function toCelInput(input: PolicyInput): Record<string, unknown> {
  const present = members.filter(([name]) => input[name as keyof PolicyInput] !== undefined)
  return Object.fromEntries(present.map(([name, read]) => [name, read(input[name as keyof PolicyInput])]))
}

/** Returns the CEL type for a part of the input. Registers a separate type for each object. */
function celType(path: string, schema: SchemaNode): CelType {
  if (schema.anyOf) return nullableType(path, schema.anyOf)
  if (schema.properties) return objectType(path, schema.properties)
  if (schema.items) return listType(path, schema.items)
  if (schema.format === 'date-time') return TIMESTAMP
  return SCALARS[schema.type ?? ''] ?? FREE_FORM
}

/** A null object becomes an empty one, so that `has` works. Other nulls are left out. */
function nullableType(path: string, [schema = {}]: SchemaNode[]): CelType {
  const { type, read } = celType(path, schema)
  if (schema.properties) return { type, read: (value) => read(value ?? {}) }
  return { type, read: (value) => (value === null ? undefined : read(value)) }
}

function listType(path: string, items: SchemaNode): CelType {
  const { type, read } = celType(path, items)
  return { type: `list<${type}>`, read: (value) => (value as unknown[]).map(read) }
}

function objectType(path: string, properties: Record<string, SchemaNode>): CelType {
  const fields = Object.entries(properties).map(([name, schema]) => [name, celType(`${path}.${name}`, schema)] as const)
  const Class = class {}
  const types = Object.fromEntries(fields.map(([name, { type }]) => [name, type]))
  celEnvironment.registerType(`input.${path}`, { ctor: Class, fields: types })
  const read = (value: unknown) => {
    const object = new Class() as Record<string, unknown>
    for (const [name, field] of fields) {
      const given = (value as Record<string, unknown>)[name]
      const converted = given === undefined ? undefined : field.read(given)
      if (converted !== undefined) object[name] = converted
    }
    return object
  }
  return { type: `input.${path}`, read }
}

const MEMBERS = new Set(Object.keys(PolicyInput.properties))
const ITEMS_SHOWN_MAX = 10

/** Lists the input values that an expression reads, such as `findings.open.critical = 2`. */
function describeDecisiveValues(ast: ASTNode, input: PolicyInput): string | null {
  const paths = [...new Set(pathsIn(ast))].filter((path) => MEMBERS.has(path.split('.', 1)[0] as string))
  if (paths.length === 0) return null
  return normalizeText(paths.map((path) => `${path} = ${describe(valueAt(input, path))}`).join('; '))
}

/** Returns each chain of member accesses, such as `a.b.c`. Includes variables of macros. */
function pathsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(pathsIn)
  if (!isNode(node)) return []
  const path = getPath(node)
  return path === null ? pathsIn(node.args) : [path]
}

function getPath({ op, args }: ASTNode): string | null {
  if (op === 'id') return args as string
  if (op !== '.') return null
  const [receiver, name] = args as [ASTNode, string]
  const path = getPath(receiver)
  return path === null ? null : `${path}.${name}`
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

function valueAt(input: PolicyInput, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  }, input)
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'absent'
  if (!Array.isArray(value)) return JSON.stringify(value)
  const shown = value.slice(0, ITEMS_SHOWN_MAX).map(describeItem)
  const more = value.length > shown.length ? [`and ${value.length - shown.length} more`] : []
  return value.length === 0 ? 'none' : [...shown, ...more].join(', ')
}

/** Describes an item of a list by the members that identify it. */
function describeItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item)
  const { kind, name, status, tool, path, number, at } = item as Record<string, unknown>
  const parts = [kind, tool, path, number, name, status].filter((part) => part !== undefined)
  return tool === undefined ? parts.join(' ') : `${parts.join(' ')} at ${at}`
}

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
    const decided = toAnswer(compiled(celInput))
    const isOfReports = pathsIn(compiled.ast).some((path) => REPORTED.has(path.split('.', 1)[0] as string))
    const answer = isOfReports ? rejectTruncated(decided, input) : decided
    return { ...answer, evidence: answer.evidence ?? describeDecisiveValues(compiled.ast, input) }
  } catch (error) {
    if (!(error instanceof EvaluationError)) return createErrorAnswer((error as Error).message)
    return createErrorAnswer(explainAbsence(error, input) ?? error.summary)
  }
}

/** What jobs have reported. */
const REPORTED = new Set(['reports', 'attestations', 'artifacts'])

/** Why an expression could not read what the input does not say. Null for other errors. */
function explainAbsence({ code, summary }: EvaluationError, { evidence }: PolicyInput): string | null {
  if (code === 'unknown_variable' && evidence.missing !== null) return `evidence_missing: ${evidence.missing}`
  const source = code === 'no_such_key' ? findSourceNotImported(summary.replace('No such key: ', ''), evidence) : null
  if (source === null) return null
  return (
    `no_data: ${source.toUpperCase()} was never imported. Import it (shiplock-server intel import --${source} FILE), ` +
    'or set absent_evidence: pass in the rule.'
  )
}

const COMPILED_MAX = 2000
const compiledExpressions = new Map<string, ParseResult>()

function compile(expression: string): ParseResult {
  const known = compiledExpressions.get(expression)
  if (known) return known
  const compiled = celEnvironment.parse(expression)
  replaceMatches(compiled.ast)
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
