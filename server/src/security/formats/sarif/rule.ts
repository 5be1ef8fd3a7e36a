import {
  getMember,
  type JsonObject,
  toArray,
  toInteger,
  toObject,
  toObjects,
  toText,
  toTexts,
} from '../../../platform/json/read-value.ts'
import {
  collectTexts,
  NAME_MAX,
  parseWebUrl,
  RULE_ID_MAX,
  TITLE_MAX,
  truncateText,
} from '../../vocabulary/bounded-text.ts'
import { collectCwes, toCweText } from '../../vocabulary/cwe.ts'
import { parseScore, parseSeverity, type Severity } from '../../vocabulary/severity.ts'
import { collectMentionedIds, collectStatedIds, collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { mergeFacts, parsePackageFacts, parseRulePackage, readPackageProperties } from './package-facts.ts'
import type {
  ComponentReference,
  DescriptorReference,
  RunBudget,
  SarifComponent,
  SarifRule,
  SarifRun,
} from './sarif-run.ts'

const MESSAGE_MAX = 4000
const MESSAGES_MAX = 50
const LEVEL_MAX = 300
const RELATIONSHIPS_MAX = 20
const DEPRECATED_IDS_MAX = 5

/** Reads a rule (reportingDescriptor, §3.49). */
export function readRule(rule: JsonObject, component: SarifComponent): SarifRule {
  const short = toText(getMember(rule, 'shortDescription', 'text'))
  const full = toText(getMember(rule, 'fullDescription', 'text'))
  const properties = toObject(rule.properties)
  const id = truncateText(toText(rule.id), RULE_ID_MAX)
  const tags = collectTexts(properties?.tags)
  return {
    id,
    deprecatedIds: collectTexts(rule.deprecatedIds).slice(0, DEPRECATED_IDS_MAX),
    guid: readGuid(rule.guid),
    name: truncateText(toText(rule.name), NAME_MAX),
    description: truncateText(short ?? full, TITLE_MAX),
    helpUri: parseWebUrl(toText(rule.helpUri)),
    level: truncateText(toText(getMember(rule, 'defaultConfiguration', 'level')), LEVEL_MAX),
    securitySeverity: parseScore(properties?.['security-severity']),
    severity: readSeverityWord(properties),
    ...readCvss(rule),
    tags,
    tagIds: collectVulnerabilityIds(tags),
    vulnIds: collectVulnerabilityIds([
      ...toTexts(rule.id),
      ...collectTexts(rule.deprecatedIds),
      ...toTexts(rule.name),
      ...leadingIds(short),
      ...leadingIds(full),
      ...collectStatedIds(collectValues(rule.properties)),
    ]),
    mentionedIds: collectMentionedIds([short, full, ...listHelpTexts(rule)].filter((text) => text !== null)),
    taxa: toObjects(rule.relationships)
      .slice(0, RELATIONSHIPS_MAX)
      .map((relation) => readDescriptorReference(toObject(relation.target))),
    cwes: collectCwes([...collectStatedCwes(rule), ...leadingCwes(short), ...leadingCwes(full)]),
    messages: readMessages(rule.messageStrings),
    purls: [...collectTexts(properties?.purls), ...collectTexts(properties?.purl)],
    package: mergeFacts([
      parseRulePackage(id),
      ...listHelpTexts(rule).map(parsePackageFacts),
      { ...readPackageProperties(properties), purl: null },
    ]),
    component,
  }
}

/** Reads a rule into its component. Leaves out its texts if the report has too many. */
export function collectRule(component: SarifComponent, index: number, value: unknown, budget: RunBudget): void {
  const object = toObject(value)
  if (object === null || !budget.hasRoomForRule()) return
  const rule = readRule(object, component)
  const messageChars = [...rule.messages.values()].reduce((length, text) => length + text.length, 0)
  if (!budget.hasRoomForRuleText(messageChars + (rule.description?.length ?? 0))) {
    rule.description = null
    rule.messages = new Map()
  }
  component.rules[index] = rule
  // A result without an index means the first rule with its id.
  if (rule.id !== null && !component.rulesById.has(rule.id)) component.rulesById.set(rule.id, rule)
  if (rule.guid !== null) component.rulesByGuid.set(rule.guid, rule)
}

/**
 * The ids at the beginning of a description: Wiz writes `CVE-2019-18276`, and Snyk
 * `(CVE-2024-45590) body-parser@1.19.0`. Later ids are of other vulnerabilities.
 */
function leadingIds(text: string | null): string[] {
  const match = /^(?:\(([^)]{1,500})\)|(\S{1,100}))/.exec(text ?? '')
  return match === null ? [] : [match[1] ?? match[2] ?? '']
}

/** The CWE with which a description begins. Veracode writes `CWE-89: Improper Neutralization …`. */
function leadingCwes(text: string | null): string[] {
  return /^\W{0,3}cwe[-: ]?\d{1,5}(?!\d)/i.exec(text ?? '')?.slice() ?? []
}

function listHelpTexts(rule: JsonObject): string[] {
  return [...toTexts(getMember(rule, 'help', 'text')), ...toTexts(getMember(rule, 'help', 'markdown'))]
}

const VALUES_MAX = 200

/** The texts in the members of an object, and in their lists. */
export function collectValues(object: unknown): string[] {
  return Object.values(toObject(object) ?? {})
    .slice(0, VALUES_MAX)
    .flatMap(collectTexts)
}

/**
 * The severity that `severity` in the properties of a rule or result names. AppScan writes
 * `Severity`.
 */
export function readSeverityWord(properties: JsonObject | null): Severity | null {
  const name = Object.keys(properties ?? {}).find((key) => key.toLowerCase() === 'severity')
  return name === undefined ? null : parseSeverity(toText(properties?.[name]))
}

function readCvss(rule: JsonObject): Pick<SarifRule, 'cvssVersion' | 'cvssScore' | 'cvssVector'> {
  const properties = toObject(rule.properties)
  const text = truncateText(toText(properties?.cvssv3_vector ?? properties?.cvssVector), NAME_MAX)
  const vector = text !== null && /^CVSS:\d\.\d\/[A-Z:/]+$/i.test(text) ? text : null
  return {
    cvssVersion: vector?.slice('CVSS:'.length, vector.indexOf('/')) ?? null,
    cvssScore: parseScore(properties?.cvssv3_baseScore ?? properties?.cvssScore),
    cvssVector: vector,
  }
}

/** The message texts by id (multiformatMessageString, §3.12). */
export function readMessages(strings: unknown): Map<string, string> {
  const messages = new Map<string, string>()
  for (const [id, message] of Object.entries(toObject(strings) ?? {}).slice(0, MESSAGES_MAX)) {
    const text = truncateText(toText(getMember(message, 'text')) ?? toText(getMember(message, 'markdown')), MESSAGE_MAX)
    if (text !== null && id.length <= RULE_ID_MAX) messages.set(id, text)
  }
  return messages
}

const HIERARCHY_STEPS_MAX = 10

function componentReference(value: unknown): ComponentReference | null {
  const name = truncateText(toText(getMember(value, 'name')), NAME_MAX)
  const guid = readGuid(getMember(value, 'guid'))
  const index = toInteger(getMember(value, 'index'), 0)
  return name === null && guid === null && index === null ? null : { name, guid, index }
}

export function readDescriptorReference(value: JsonObject | null): DescriptorReference {
  return {
    id: truncateText(toText(value?.id), RULE_ID_MAX),
    guid: readGuid(value?.guid),
    index: toInteger(value?.index, 0),
    component: componentReference(value?.toolComponent),
  }
}

/** A guid in lower case, because guids are compared without regard to case (§3.5.3). */
export function readGuid(value: unknown): string | null {
  return truncateText(toText(value), NAME_MAX)?.toLowerCase() ?? null
}

/** Finds a component by index, else by guid, else by name. */
function findComponent<T extends { name: string | null; guid: string | null }>(
  reference: ComponentReference,
  components: readonly (T | undefined)[],
): T | undefined {
  if (reference.index !== null) return components[reference.index]
  return components.find(
    (component) =>
      component !== undefined &&
      (reference.guid === null ? component.name === reference.name : component.guid === reference.guid),
  )
}

/**
 * The reference of a result to its rule: `rule`, else `ruleId` and `ruleIndex` (§3.27.5 to
 * §3.27.7).
 */
export function readRuleReference(result: JsonObject): DescriptorReference {
  const id = truncateText(toText(result.ruleId), RULE_ID_MAX)
  const index = toInteger(result.ruleIndex, 0)
  const rule = toObject(result.rule)
  if (rule === null) return { id, guid: null, index, component: null }
  const reference = readDescriptorReference(rule)
  return { ...reference, id: reference.id ?? id, index: reference.index ?? index }
}

/**
 * Finds a rule; undefined if the report does not describe it. If id and index disagree, a rule with
 * the id counts before the rule at the index: some tools write wrong ids, others wrong indexes.
 */
export function findRule(run: SarifRun, reference: DescriptorReference): SarifRule | undefined {
  const { id, guid, index, component } = reference
  const home = component === null ? run.driver : (findComponent(component, run.extensions) ?? run.driver)
  const indexed = index === null ? undefined : home.rules[index]
  if (id === null && guid === null) return indexed
  if (indexed !== undefined && (indexed.guid === (guid ?? undefined) || isOfRule(id, indexed.id))) return indexed
  const components = [home, run.driver, ...run.extensions]
  return (guid === null ? undefined : byGuid(components, guid)) ?? byId(components, id) ?? indexed
}

/** True for the id of the rule, and for an id below it like `CA1000/1` (§3.27.5). */
function isOfRule(id: string | null, ruleId: string | null): boolean {
  return id !== null && ruleId !== null && (id === ruleId || id.startsWith(`${ruleId}/`))
}

function byGuid(components: SarifComponent[], guid: string): SarifRule | undefined {
  return components.map((component) => component.rulesByGuid.get(guid)).find((rule) => rule !== undefined)
}

/** Finds the rule with this id, else with the id one step up in the hierarchy, and so on. */
function byId(components: SarifComponent[], id: string | null): SarifRule | undefined {
  let name = id ?? ''
  for (let step = 0; name !== '' && step < HIERARCHY_STEPS_MAX; step++) {
    for (const component of components) {
      const rule = component.rulesById.get(name)
      if (rule !== undefined) return rule
    }
    name = name.slice(0, Math.max(name.lastIndexOf('/'), 0))
  }
  return undefined
}

/** The guids of the CWE taxonomy, by which tools refer to it without including it in the report. */
const CWE_GUIDS = ['25f72d7e-8a92-459d-ad67-64853f788765', 'ffc64c90-42b6-44ce-8beb-f6b7dae649e5']
const TAXA_MAX = 50

/** The CWE ids of a rule: of its relationships (§3.49.15), properties and tags, and its own id. */
export function collectRuleCwes(run: SarifRun, rule: SarifRule): string[] {
  return collectCwes([...rule.taxa.map((taxon) => taxonText(run, taxon)), ...rule.cwes, ...rule.tags, rule.id ?? ''])
}

/** The CWE ids of a result: of its taxa (§3.27.8), tags and properties, and then of its rule. */
export function collectResultCwes(
  run: SarifRun,
  result: JsonObject,
  rule: SarifRule | undefined,
  ruleId: string | null,
): string[] {
  const properties = toObject(result.properties)
  const taxa = toObjects(toArray(result.taxa).slice(0, TAXA_MAX)).map(readDescriptorReference)
  const own = [
    ...taxa.map((taxon) => taxonText(run, taxon)),
    ...collectTexts(properties?.tags),
    ...collectStatedCwes(result),
  ]
  if (own.length === 0 && rule !== undefined) return rule.cwes
  return collectCwes([...own, ...(rule?.cwes ?? [ruleId ?? ''])])
}

/** The id of a taxon, as a CWE id if its taxonomy is the CWE. */
function taxonText(run: SarifRun, { id, index, component }: DescriptorReference): string {
  const taxonomy = component === null ? undefined : findComponent(component, run.taxonomies)
  const taxonId = id ?? (index === null ? undefined : taxonomy?.taxonIds[index]) ?? ''
  const guid = component?.guid ?? taxonomy?.guid ?? ''
  const isCwe = (component?.name ?? taxonomy?.name ?? '').toUpperCase() === 'CWE' || CWE_GUIDS.includes(guid)
  return isCwe ? toCweText(taxonId) : taxonId
}

/** Properties with CWE ids. Snyk Code writes `"cwe": ["CWE-798"]`, others bare numbers. */
const CWE_PROPERTIES = ['cwe', 'cwes', 'CWE', 'cweId', 'cwe_id', 'cwe-id']
const CWE_VALUES_MAX = 50

/** The texts with CWE ids in the properties of a rule or result. */
function collectStatedCwes(described: unknown): string[] {
  return CWE_PROPERTIES.flatMap((name) => getMember(described, 'properties', name) ?? [])
    .slice(0, CWE_VALUES_MAX)
    .map(toCweText)
}
