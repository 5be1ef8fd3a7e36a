import { DURATION_DAYS_MAX, durationMs } from '../../platform/duration.ts'
import { checkExpression } from '../cel/check-expression.ts'
import type { EvidenceTerms } from '../input-view.ts'
import type { CelRule } from '../policy.schema.ts'
import type { YamlFields } from './yaml-fields.ts'

/** `file` is the path of the bundle, from the policy file's own directory. */
export type EngineFile =
  | { type: 'cel'; rules: CelRule[] }
  | (EvidenceTerms & { type: 'opa'; decision: string })
  | (EvidenceTerms & { type: 'wasm'; file: string; entrypoint: string })

const RULES_MAX = 50
const EXPRESSION_CHARS_MAX = 4000
const RULE = { max: 64, pattern: /^[a-z0-9][a-z0-9_.-]*$/, form: 'an id like no-critical-findings' }
const PATH = { max: 200, pattern: /^[A-Za-z_][\w-]*(?:\/[A-Za-z_][\w-]*)*$/, form: 'a path like shiplock/release' }
const DURATION = { max: 10, form: `a time like 7d, 12h or 30m, at most ${DURATION_DAYS_MAX}d` }
const FILE = { max: 500, form: 'a path from where the policy file is' }

/** Which engine answers, and what it needs to. Null where that is not known. */
export function readEngine(fields: YamlFields): EngineFile | null {
  const type = fields.oneOf('engine', ['cel', 'opa', 'wasm'], 'cel')
  if (type === 'cel') return readRules(fields)
  const terms = readTerms(fields)
  if (type === 'opa') {
    const decision = fields.text('decision', PATH)
    return decision === null ? null : { type, decision, ...terms }
  }
  const [file, entrypoint] = [fields.text('bundle', FILE), fields.text('entrypoint', PATH)]
  return file === null || entrypoint === null ? null : { type, file, entrypoint, ...terms }
}

function readRules(fields: YamlFields): EngineFile | null {
  const items = fields.maps('rules', RULES_MAX)
  if (!fields.has('rules')) fields.refuse('rules', 'is missing; a policy has at least one rule')
  const ids = new Set<string>()
  const rules = items?.flatMap((item) => readRule(item, ids) ?? [])
  return rules ? { type: 'cel', rules } : null
}

function readRule(fields: YamlFields, ids: Set<string>): CelRule | null {
  const rule = fields.text('rule', RULE)
  const name = fields.optionalText('name', { max: 200 })
  const expression = readExpression(fields)
  const reason = fields.optionalText('reason', { max: 500 })
  const blocking = fields.boolean('blocking', true)
  const terms = readTerms(fields)
  fields.refuseUnknown()
  if (rule !== null && ids.has(rule)) fields.refuse('rule', `is the id of another rule, too: ${rule}`)
  if (rule === null || expression === null) return null
  ids.add(rule)
  return { rule, name: name ?? rule, expression, blocking, reason, ...terms }
}

function readExpression(fields: YamlFields): string | null {
  const form = 'an expression like findings.open.critical == 0'
  const expression = fields.text('expression', { max: EXPRESSION_CHARS_MAX, form })
  const mistake = expression === null ? null : checkExpression(expression)
  if (mistake) fields.refuse('expression', `${mistake.message}${placeIn(expression as string, mistake.offset)}`)
  return expression
}

const EXCERPT_CHARS = 30

function placeIn(expression: string, offset: number): string {
  const rest = expression
    .slice(offset, offset + EXCERPT_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return rest === '' ? ' (at its end)' : ` (at "${rest}", character ${offset + 1})`
}

function readTerms(fields: YamlFields): EvidenceTerms {
  const trust = fields.has('trust') ? fields.oneOf('trust', ['any'], 'any') : null
  const text = fields.optionalText('max_age', DURATION)
  const max_age_ms = text === null ? null : durationMs(text)
  if (text !== null && max_age_ms === null) fields.refuse('max_age', `must be ${DURATION.form}`)
  return { trust, max_age_ms }
}
