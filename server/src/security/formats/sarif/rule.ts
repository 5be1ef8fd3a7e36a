import {
  integerOf,
  type JsonObject,
  memberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, RULE_ID_MAX, TITLE_MAX, webUrl } from '../../vocabulary/bounded-text.ts'
import { cwesIn } from '../../vocabulary/cwe.ts'
import { scoreOf } from '../../vocabulary/severity.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-ids.ts'
import { type DescriptorReference, descriptorReference, findComponent, guidOf } from './component-reference.ts'
import { packageFactsIn } from './package-facts.ts'
import type { RunBudget } from './run-budget.ts'
import type { SarifComponent, SarifRule, SarifRun } from './sarif-run.ts'
import { statedCwes } from './stated-cwe.ts'

const MESSAGE_MAX = 4000
const MESSAGES_MAX = 50
const TAGS_MAX = 50
const TAG_MAX = 300
const RELATIONSHIPS_MAX = 20
const HIERARCHY_STEPS_MAX = 10

/** What results need of a rule (reportingDescriptor, §3.49). */
export function readRule(rule: JsonObject, component: SarifComponent): SarifRule {
  const short = textOf(memberOf(rule, 'shortDescription', 'text'))
  const full = textOf(memberOf(rule, 'fullDescription', 'text'))
  return {
    id: boundedText(textOf(rule.id), RULE_ID_MAX),
    guid: guidOf(rule.guid),
    name: boundedText(textOf(rule.name), NAME_MAX),
    description: boundedText(short ?? full, TITLE_MAX),
    helpUri: webUrl(textOf(rule.helpUri)),
    level: boundedText(textOf(memberOf(rule, 'defaultConfiguration', 'level')), TAG_MAX),
    securitySeverity: scoreOf(memberOf(rule, 'properties', 'security-severity')),
    ...cvssOf(rule),
    tags: boundedTexts(memberOf(rule, 'properties', 'tags')),
    vulnIds: vulnerabilityIds([
      ...textsOf(rule.id),
      ...boundedTexts(rule.deprecatedIds),
      ...textsOf(rule.name),
      ...leadingIds(short),
      ...leadingIds(full),
    ]),
    taxa: objectsOf(rule.relationships)
      .slice(0, RELATIONSHIPS_MAX)
      .map((relation) => descriptorReference(objectOf(relation.target))),
    cwes: cwesIn(statedCwes(rule)),
    messages: readMessages(rule.messageStrings),
    purls: boundedTexts(memberOf(rule, 'properties', 'purls')),
    package: packageFactsIn(textOf(memberOf(rule, 'help', 'text'))),
    component,
  }
}

/** Adds a rule to its component, without its texts where these have become too many. */
export function keepRule(component: SarifComponent, index: number, value: unknown, budget: RunBudget): void {
  const object = objectOf(value)
  if (object === null || !budget.hasRoomForRule()) return
  const rule = readRule(object, component)
  if (!budget.hasRoomForRuleText(textLength(rule))) {
    rule.description = null
    rule.messages = new Map()
  }
  component.rules[index] = rule
  // Of two rules with one id the first is meant where a result has no index.
  if (rule.id !== null && !component.rulesById.has(rule.id)) component.rulesById.set(rule.id, rule)
  if (rule.guid !== null) component.rulesByGuid.set(rule.guid, rule)
}

function textLength(rule: SarifRule): number {
  const messages = [...rule.messages.values()].reduce((length, text) => length + text.length, 0)
  return messages + (rule.description?.length ?? 0)
}

/**
 * The beginning of a description, where tools put the rule's ids: Wiz `CVE-2019-18276`, Snyk `(CVE-2024-45590) body-parser@1.19.0`.
 * What follows names other vulnerabilities too, `incomplete fix for CVE-…`.
 */
function leadingIds(text: string | null): string[] {
  const match = /^(?:\(([^)]{1,500})\)|(\S{1,100}))/.exec(text ?? '')
  return match === null ? [] : [match[1] ?? match[2] ?? '']
}

function cvssOf(rule: JsonObject): Pick<SarifRule, 'cvssVersion' | 'cvssScore' | 'cvssVector'> {
  const properties = objectOf(rule.properties)
  const vector = cvssVectorOf(properties?.cvssv3_vector ?? properties?.cvssVector)
  return {
    cvssVersion: vector?.slice('CVSS:'.length, vector.indexOf('/')) ?? null,
    cvssScore: scoreOf(properties?.cvssv3_baseScore ?? properties?.cvssScore),
    cvssVector: vector,
  }
}

function cvssVectorOf(value: unknown): string | null {
  const text = boundedText(textOf(value), NAME_MAX)
  return text !== null && /^CVSS:\d\.\d\/[A-Z:/]+$/i.test(text) ? text : null
}

export function boundedTexts(value: unknown): string[] {
  const texts = textsOf(value)
    .slice(0, TAGS_MAX)
    .map((text) => boundedText(text, TAG_MAX))
  return texts.filter((text) => text !== null)
}

/** Message texts by id (multiformatMessageString, §3.12). */
export function readMessages(strings: unknown): Map<string, string> {
  const messages = new Map<string, string>()
  for (const [id, message] of Object.entries(objectOf(strings) ?? {}).slice(0, MESSAGES_MAX)) {
    const text = boundedText(textOf(memberOf(message, 'text')) ?? textOf(memberOf(message, 'markdown')), MESSAGE_MAX)
    if (text !== null && id.length <= RULE_ID_MAX) messages.set(id, text)
  }
  return messages
}

/** How a result names its rule (§3.27.5 to §3.27.7): `rule`, completed by `ruleId` and `ruleIndex`. */
export function ruleReference(result: JsonObject): DescriptorReference {
  const id = boundedText(textOf(result.ruleId), RULE_ID_MAX)
  const index = integerOf(result.ruleIndex, 0)
  const rule = objectOf(result.rule)
  if (rule === null) return { id, guid: null, index, component: null }
  const reference = descriptorReference(rule)
  return { ...reference, id: reference.id ?? id, index: reference.index ?? index }
}

/**
 * The rule that is meant, undefined when the report does not describe it. Where id and index disagree the rule that has
 * the id is taken, and the one at the index when none has it: real tools write either wrong.
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

/** True for the rule's own id and for a hierarchical one below it, `CA1000/1` (§3.27.5). */
function isOfRule(id: string | null, ruleId: string | null): boolean {
  return id !== null && ruleId !== null && (id === ruleId || id.startsWith(`${ruleId}/`))
}

function byGuid(components: SarifComponent[], guid: string): SarifRule | undefined {
  return components.map((component) => component.rulesByGuid.get(guid)).find((rule) => rule !== undefined)
}

/** The rule with this id, else with the id one step up its hierarchy, and so on. */
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
