import { Ajv, type ErrorObject } from 'ajv'
import { invalidPolicy } from '../../errors/deployments.ts'
import { parseDurationMs } from '../../platform/clock.ts'
import { lazy } from '../../platform/lazy.ts'
import type { CelRule, EvidenceTerms, PolicyDefinition, PolicyEngine } from '../policies/policy.schema.ts'
import {
  createFileError,
  describeMistake,
  FORMATS,
  PolicyDocument,
  PolicyFileError,
  type PolicyMistake,
} from './policy-document.ts'
import { POLICY_SCHEMAS, type PolicyFileContent } from './policy-file.schema.ts'

/** A policy file whose bundle, if any, has not been read. `file` is relative to the policy file. */
type PolicyFile = Omit<PolicyDefinition, 'engine'> & {
  engine: Exclude<PolicyEngine, { type: 'wasm' }> | WasmFile
}
type WasmFile = EvidenceTerms & { type: 'wasm'; file: string; entrypoint: string }

const ajv = lazy(() => {
  const created = new Ajv({ allErrors: true, verbose: true, strict: false })
  for (const [name, mistakeIn] of Object.entries(FORMATS))
    created.addFormat(name, { type: 'string', validate: (text) => mistakeIn(text) === null })
  return created
})
const checks = {
  cel: lazy(() => ajv().compile(POLICY_SCHEMAS.cel)),
  opa: lazy(() => ajv().compile(POLICY_SCHEMAS.opa)),
  wasm: lazy(() => ajv().compile(POLICY_SCHEMAS.wasm)),
}

/** Parses a policy file. Throws `PolicyFileError` with every mistake and its position. */
export function parsePolicyFile(text: string): PolicyFile {
  const document = new PolicyDocument(text)
  const { value } = document
  const mistakes = [...schemaMistakes(document), ...repeatedRules(document)]
  if (mistakes.length > 0) throw new PolicyFileError(mistakes)
  return toPolicyFile(value as PolicyFileContent)
}

/** The first mistake at each path; later ones at the same path follow from it. */
function schemaMistakes(document: PolicyDocument): PolicyMistake[] {
  const { engine } = document.value as { engine?: unknown }
  const check = checks[engine === 'opa' || engine === 'wasm' ? engine : 'cel']()
  check(document.value)
  const byPath = new Map<string, PolicyMistake>()
  for (const error of check.errors ?? []) {
    const mistake = toMistake(document, error)
    if (!byPath.has(mistake.path)) byPath.set(mistake.path, mistake)
  }
  return [...byPath.values()]
}

function toMistake(document: PolicyDocument, error: ErrorObject): PolicyMistake {
  // RFC 6901 §4.
  const tokens = error.instancePath.split('/').slice(1)
  const path = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>
  const named = missingProperty ?? additionalProperty
  const full = named === undefined ? path : [...path, named]
  const position = additionalProperty === undefined ? document.valueAt(full) : document.keyAt(full)
  return { ...position, path: displayPath(full), message: describeMistake(error) }
}

function displayPath(path: readonly string[]): string {
  return path
    .map((name, index) => (index > 0 && /^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? '' : '.'}${name}`))
    .join('')
}

function repeatedRules(document: PolicyDocument): PolicyMistake[] {
  const { rules } = document.value as { rules?: unknown }
  if (!Array.isArray(rules)) return []
  const ids = rules.map((rule: { rule?: unknown } | null) => rule?.rule)
  return ids.flatMap((id, index) => {
    if (typeof id !== 'string' || ids.indexOf(id) === index) return []
    const path = ['rules', String(index), 'rule']
    return [{ ...document.valueAt(path), path: displayPath(path), message: `another rule has the same id: ${id}` }]
  })
}

/** Fills in defaults. `applyPolicy` hashes the JSON, so the order of members must not change. */
function toPolicyFile(content: PolicyFileContent): PolicyFile {
  const { name, mode, bindings, scope = 'commit' } = content
  const { environments = null, repositories = null, branches = null, workflows } = bindings ?? {}
  const lists = { environments, repositories, branches, ...(workflows && { workflows }) }
  const bound = bindings === undefined ? null : lists
  return { name, mode, bindings: bound, engine: toEngine(content), scope }
}

function toEngine(content: PolicyFileContent): PolicyFile['engine'] {
  switch (content.engine) {
    case 'opa':
      return { type: 'opa', decision: content.decision, ...toTerms(content) }
    case 'wasm':
      return { type: 'wasm', file: content.bundle, entrypoint: content.entrypoint, ...toTerms(content) }
    default:
      return { type: 'cel', rules: content.rules.map(toRule) }
  }
}

type RuleContent = Extract<PolicyFileContent, { rules: unknown }>['rules'][number]
type TermsContent = Pick<RuleContent, 'trust' | 'max_age' | 'bad_news' | 'absent_evidence' | 'evidence' | 'tools'>

function toRule(content: RuleContent): CelRule {
  const { rule, name = rule, expression, blocking = true, reason = null } = content
  return { rule, name, expression, blocking, reason, ...toTerms(content) }
}

function toTerms(content: TermsContent): EvidenceTerms {
  const { trust = 'default', max_age, absent_evidence = 'error', bad_news, evidence, tools } = content
  return {
    trust,
    max_age_ms: max_age === undefined ? null : parseDurationMs(max_age),
    absent_evidence,
    ...(bad_news && { bad_news }),
    ...(evidence && { evidence }),
    ...(tools && { tools }),
  }
}

const MISTAKES_SHOWN_MAX = 100

type Validated = { valid: boolean; mistakes: PolicyMistake[]; definition: PolicyDefinition | null }

/** Checks the text of a policy file, and returns its mistakes or its content. */
export function validatePolicyText(text: string): Validated {
  try {
    const { engine, ...policy } = parsePolicyFile(text)
    // The text comes without other files.
    if (engine.type === 'wasm')
      throw createFileError('engine: wasm needs a bundle; apply the file with "policy apply" at the command line')
    return { valid: true, mistakes: [], definition: { ...policy, engine } }
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    return { valid: false, mistakes: error.mistakes.slice(0, MISTAKES_SHOWN_MAX), definition: null }
  }
}

/** Reads the text of a policy file. Throws 400 `invalid_policy` with its mistakes. */
export function readPolicyText(text: string): PolicyDefinition {
  const { definition, mistakes } = validatePolicyText(text)
  if (definition !== null) return definition
  const [{ line, column, path, message } = { line: 1, column: 1, path: '', message: '' }] = mistakes
  const first = `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`
  throw invalidPolicy(first, mistakes)
}
