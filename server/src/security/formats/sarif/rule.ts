import { type JsonObject, memberOf, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, boundedTexts, NAME_MAX, RULE_ID_MAX, TITLE_MAX, webUrl } from '../../vocabulary/bounded-text.ts'
import { cwesIn } from '../../vocabulary/cwe.ts'
import { scoreOf } from '../../vocabulary/severity.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { packageFactsIn } from './package-facts.ts'
import { descriptorReference, guidOf } from './rule-reference.ts'
import type { RunBudget } from './run-budget.ts'
import type { SarifComponent, SarifRule } from './sarif-run.ts'
import { statedCwes } from './weakness.ts'

const MESSAGE_MAX = 4000
const MESSAGES_MAX = 50
const LEVEL_MAX = 300
const RELATIONSHIPS_MAX = 20

/** Reads a rule (reportingDescriptor, §3.49). */
export function readRule(rule: JsonObject, component: SarifComponent): SarifRule {
  const short = textOf(memberOf(rule, 'shortDescription', 'text'))
  const full = textOf(memberOf(rule, 'fullDescription', 'text'))
  return {
    id: boundedText(textOf(rule.id), RULE_ID_MAX),
    guid: guidOf(rule.guid),
    name: boundedText(textOf(rule.name), NAME_MAX),
    description: boundedText(short ?? full, TITLE_MAX),
    helpUri: webUrl(textOf(rule.helpUri)),
    level: boundedText(textOf(memberOf(rule, 'defaultConfiguration', 'level')), LEVEL_MAX),
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

/** Reads a rule into its component. Leaves out its texts if the report has too many. */
export function keepRule(component: SarifComponent, index: number, value: unknown, budget: RunBudget): void {
  const object = objectOf(value)
  if (object === null || !budget.hasRoomForRule()) return
  const rule = readRule(object, component)
  if (!budget.hasRoomForRuleText(textLength(rule))) {
    rule.description = null
    rule.messages = new Map()
  }
  component.rules[index] = rule
  // A result without an index means the first rule with its id.
  if (rule.id !== null && !component.rulesById.has(rule.id)) component.rulesById.set(rule.id, rule)
  if (rule.guid !== null) component.rulesByGuid.set(rule.guid, rule)
}

function textLength(rule: SarifRule): number {
  const messages = [...rule.messages.values()].reduce((length, text) => length + text.length, 0)
  return messages + (rule.description?.length ?? 0)
}

/**
 * The ids at the beginning of a description: Wiz writes `CVE-2019-18276`, and Snyk
 * `(CVE-2024-45590) body-parser@1.19.0`. Later ids are of other vulnerabilities.
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

/** The message texts by id (multiformatMessageString, §3.12). */
export function readMessages(strings: unknown): Map<string, string> {
  const messages = new Map<string, string>()
  for (const [id, message] of Object.entries(objectOf(strings) ?? {}).slice(0, MESSAGES_MAX)) {
    const text = boundedText(textOf(memberOf(message, 'text')) ?? textOf(memberOf(message, 'markdown')), MESSAGE_MAX)
    if (text !== null && id.length <= RULE_ID_MAX) messages.set(id, text)
  }
  return messages
}
