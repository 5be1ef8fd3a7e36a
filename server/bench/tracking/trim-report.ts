import { maskText } from './mask-text.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

/** What a tool may say of a rule and a tracker could read. The help is left out. */
const RULE_FIELDS = [
  'id',
  'name',
  'shortDescription',
  'properties',
  'defaultConfiguration',
  'relationships',
  'deprecatedIds',
]
const DRIVER_FIELDS = ['name', 'version', 'semanticVersion', 'organization', 'rules', 'notifications']
const RUN_FIELDS = [
  'tool',
  'results',
  'invocations',
  'originalUriBaseIds',
  'columnKind',
  'automationDetails',
  'versionControlProvenance',
  'artifacts',
  'taxonomies',
]
/** Parts of a result that are changes to the code, or repeat its locations. */
const LEFT_OUT = new Set(['fixes', 'codeFlows', 'graphs', 'webRequest', 'webResponse'])
const LONGEST_MESSAGE = 240
const LONGEST_PROPERTY = 120

/** Leaves out what no tracker reads and masks the source code that results quote. */
export function trimReport(report: JsonObject): JsonObject {
  return { version: report.version ?? '2.1.0', runs: objects(report.runs).map(trimRun) }
}

function trimRun(run: JsonObject): JsonObject {
  const tool = asObject(run.tool)
  const extensions = objects(tool.extensions).map(trimDriver)
  return {
    ...pick(run, RUN_FIELDS),
    tool: { driver: trimDriver(asObject(tool.driver)), ...(extensions.length > 0 && { extensions }) },
    results: objects(run.results).map((result) => trimResult(result) as JsonObject),
    ...(run.taxonomies !== undefined && { taxonomies: objects(run.taxonomies).map(trimTaxonomy) }),
  }
}

function trimDriver(driver: JsonObject): JsonObject {
  return { ...pick(driver, DRIVER_FIELDS), rules: objects(driver.rules).map(trimRule) }
}

function trimRule(rule: JsonObject): JsonObject {
  const properties = Object.entries(asObject(rule.properties)).filter(([, value]) => isShort(value))
  const trimmed = { ...pick(rule, RULE_FIELDS), properties: Object.fromEntries(properties) }
  const { text } = asObject(rule.shortDescription)
  return typeof text === 'string' ? { ...trimmed, shortDescription: { text: text.slice(0, LONGEST_MESSAGE) } } : trimmed
}

function trimTaxonomy(taxonomy: JsonObject): JsonObject {
  return {
    ...pick(taxonomy, ['name', 'guid']),
    taxa: objects(taxonomy.taxa).map((taxon) => pick(taxon, ['id', 'guid'])),
  }
}

function trimResult(value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((item) => trimResult(item))
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name))
  const trimmed = Object.fromEntries(kept.map(([name, item]) => [name, trimResult(item, name)]))
  if (typeof trimmed.text !== 'string') return trimmed
  return { ...trimmed, text: key === 'snippet' ? maskText(trimmed.text) : trimmed.text.slice(0, LONGEST_MESSAGE) }
}

function isShort(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isShort)
  return typeof value === 'string' ? value.length <= LONGEST_PROPERTY : value === null || typeof value !== 'object'
}

function pick(from: JsonObject, fields: string[]): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])))
}

function asObject(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : []
}
