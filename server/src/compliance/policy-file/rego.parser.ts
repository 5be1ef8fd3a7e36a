import { parseDocument } from 'yaml'
import type { Scope } from '../../ci/evidence/evidence-scope.ts'
import { validateGlob } from '../../platform/glob.ts'
import { PACKAGE_PLACE } from '../engines/evaluate-rego.ts'
import {
  NARROW_SCOPES,
  type PolicyBindings,
  type PolicyDefinition,
  type PolicyMode,
  type RegoDialect,
} from '../policies/policy.schema.ts'
import { EVERYTHING } from '../policies/policy-binding.ts'
import { POLICY_FILE_BYTES_MAX, PolicyFileError, type PolicyMistake } from './policy-document.ts'

/** The packages of policies, and the member of `custom` that holds their settings. */
const PACKAGES: Record<string, { dialect: RegoDialect; custom: string }> = {
  'shiplock.policy': { dialect: 'shiplock', custom: 'shiplock' },
  'prodgator.policy': { dialect: 'prodgator', custom: 'prodgator' },
  'spindle.policy': { dialect: 'prodgator', custom: 'spindle' },
}

const PACKAGE = /package[ \t]+([\w.]+)[ \t]*(?=[#\r\n]|$)/y
const FORMAT = 1
const NAME_CHARS_MAX = 100
const BINDINGS_MAX = 50

/**
 * Parses a policy in Rego: its METADATA block (OPA documentation, "Annotations") with `title` and
 * `custom.shiplock: {format: 1, mode, scope, bindings: [{environment, workflow, branch}]}`, and a
 * module that defines `results`. Throws `PolicyFileError`. Only OPA can tell whether the module
 * compiles.
 */
export function parseRego(text: string): PolicyDefinition {
  if (Buffer.byteLength(text) > POLICY_FILE_BYTES_MAX)
    throw refusal(`a policy file can have at most ${POLICY_FILE_BYTES_MAX} bytes`)
  const names = listRegoNames(text)
  const { head, tail, dialect, custom } = splitAtPackage(text, names[0]?.offset ?? 0)
  const forbidden = forbiddenNames(names.slice(1))
  if (forbidden.length > 0) throw new PolicyFileError(forbidden)
  const { title, settings } = readMetadata(head, custom)
  const module = `${head}${PACKAGE_PLACE}${tail}`
  const engine = { type: 'rego', module, dialect, trust: 'any', max_age_ms: null, absent_evidence: 'error' } as const
  const bindings = parseBindings(settings)
  return { name: title, mode: parseMode(settings), bindings, engine, scope: parseScope(settings) }
}

/** The package must be the first name in the module: a later one could stand in a string. */
function splitAtPackage(text: string, offset: number) {
  PACKAGE.lastIndex = offset
  const declared = PACKAGE.exec(text)
  const known = declared && Object.hasOwn(PACKAGES, declared[1] as string) ? PACKAGES[declared[1] as string] : undefined
  if (!declared || !known) throw refusal(`the module must start with package ${Object.keys(PACKAGES).join(' or ')}`)
  return { head: text.slice(0, offset), tail: text.slice(offset + declared[0].length), ...known }
}

/**
 * Names that reach beyond the module: other policies on the server, the network, and the settings
 * of the server, which may hold secrets. A second package would be one of another policy, and the
 * expressions in template strings could contain any of these names.
 */
const FORBIDDEN: Record<string, string> = {
  data: 'read other packages',
  http: 'read the network',
  net: 'read the network',
  opa: 'read the settings of the server',
  package: 'declare another package',
  $: 'contain template strings',
}

function forbiddenNames(names: RegoName[]): PolicyMistake[] {
  return names.flatMap(({ name, line, column }) => {
    const what = Object.hasOwn(FORBIDDEN, name) ? FORBIDDEN[name] : undefined
    return what === undefined ? [] : [{ line, column, path: '', message: `a policy cannot ${what} (${name})` }]
  })
}

type Settings = { format?: unknown; mode?: unknown; bindings?: unknown; scope?: unknown }

/** Reads the last METADATA block before the package. */
function readMetadata(head: string, custom: string): { title: string; settings: Settings } {
  const lines = head.split('\n')
  const start = lines.findLastIndex((line) => /^#[ \t]*METADATA[ \t]*$/.test(line))
  if (start < 0) throw refusal('a METADATA block before the package is required')
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('#'))
  const block = lines.slice(start + 1, end < 0 ? undefined : end).map((line) => line.slice(1))
  const metadata = parseBlock(block.join('\n'), start + 2)
  const { title, custom: all } = metadata as { title?: unknown; custom?: Record<string, unknown> }
  const settings = all?.[custom]
  if (typeof title !== 'string' || title.trim() === '' || title.length > NAME_CHARS_MAX)
    throw refusal(`title: must be text of at most ${NAME_CHARS_MAX} characters`, start + 1)
  if (typeof settings !== 'object' || settings === null)
    throw refusal(`custom.${custom}: is required and must be a map`, start + 1)
  const known: Settings = settings
  if (known.format !== FORMAT) throw refusal(`custom.${custom}.format: must be ${FORMAT}`)
  return { title: title.trim(), settings: known }
}

function parseBlock(yaml: string, line: number): unknown {
  const document = parseDocument(yaml, { prettyErrors: false })
  if (document.errors[0]) throw refusal(`the METADATA block is not valid YAML: ${document.errors[0].message}`, line)
  return document.toJS({ maxAliasCount: 0 }) ?? {}
}

function parseMode({ mode }: Settings): PolicyMode {
  if (mode === 'enforce' || mode === 'monitor') return mode
  throw refusal('mode: must be monitor or enforce')
}

function parseScope({ scope }: Settings): Scope {
  const narrow = NARROW_SCOPES.find((known) => known === scope)
  if (scope === undefined || narrow !== undefined) return narrow ?? 'commit'
  throw refusal(`scope: must be ${NARROW_SCOPES.join(' or ')}`)
}

function parseBindings({ bindings = [] }: Settings): PolicyDefinition['bindings'] {
  if (!Array.isArray(bindings) || bindings.length > BINDINGS_MAX)
    throw refusal(`bindings: must be a list of at most ${BINDINGS_MAX} maps`)
  return bindings.length === 0 ? EVERYTHING : bindings.map(toBindings)
}

const BINDING_FIELDS = ['environment', 'workflow', 'branch']

function toBindings(binding: unknown, index: number): PolicyBindings {
  if (typeof binding !== 'object' || binding === null) throw refusal(`bindings[${index}]: must be a map`)
  for (const [field, value] of Object.entries(binding)) {
    const at = `bindings[${index}].${field}`
    if (!BINDING_FIELDS.includes(field))
      throw refusal(`${at}: is not a field; the fields are ${BINDING_FIELDS.join(', ')}`)
    const mistake = typeof value === 'string' ? validateGlob(value) : 'must be text'
    if (mistake !== null) throw refusal(`${at}: ${mistake}`)
  }
  const { environment, workflow, branch } = binding as Record<string, string | undefined>
  const listed = (glob: string | undefined) => (glob === undefined ? null : [glob])
  return {
    environments: listed(environment),
    repositories: null,
    branches: listed(branch),
    ...(workflow !== undefined && { workflows: [workflow] }),
  }
}

function refusal(message: string, line = 1): PolicyFileError {
  return new PolicyFileError([{ line, column: 1, path: '', message }])
}

/**
 * A name in a Rego module that does not follow a dot: a variable, keyword, import or built-in. `$`
 * stands for the start of a template string, whose text contains expressions.
 */
type RegoName = { name: string; offset: number; line: number; column: number }

const WORD = /\$|[\p{L}_][\p{L}\p{N}_]*/uy
const STRING = /"(?:[^"\\\n]|\\.)*"?/y
const RAW_STRING = /`[^`]*`?/y
const COMMENT = /#[^\n]*/y

/**
 * Lists the names that a module uses outside of strings and comments (Rego language reference,
 * "Lexical grammar"). Names after a dot are members of another value and are left out.
 */
function listRegoNames(module: string): RegoName[] {
  const names: RegoName[] = []
  let line = 1
  let lineStart = 0
  let isMember = false
  for (let offset = 0; offset < module.length; ) {
    const word = match(WORD, module, offset)
    if (word !== null && !isMember) names.push({ name: word, offset, line, column: offset - lineStart + 1 })
    const token = word ?? match(STRING, module, offset) ?? match(RAW_STRING, module, offset)
    const text = token ?? match(COMMENT, module, offset) ?? (module[offset] as string)
    if (text.trim() !== '') isMember = text === '.'
    for (const { index } of text.matchAll(/\n/g)) {
      line += 1
      lineStart = offset + index + 1
    }
    offset += text.length
  }
  return names
}

function match(pattern: RegExp, text: string, offset: number): string | null {
  pattern.lastIndex = offset
  return pattern.exec(text)?.[0] ?? null
}
