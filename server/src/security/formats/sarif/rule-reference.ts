import { integerOf, type JsonObject, memberOf, objectOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, RULE_ID_MAX } from '../../vocabulary/bounded-text.ts'
import type { ComponentReference, DescriptorReference, SarifComponent, SarifRule, SarifRun } from './sarif-run.ts'

const HIERARCHY_STEPS_MAX = 10

function componentReference(value: unknown): ComponentReference | null {
  const name = boundedText(textOf(memberOf(value, 'name')), NAME_MAX)
  const guid = guidOf(memberOf(value, 'guid'))
  const index = integerOf(memberOf(value, 'index'), 0)
  return name === null && guid === null && index === null ? null : { name, guid, index }
}

export function descriptorReference(value: JsonObject | null): DescriptorReference {
  return {
    id: boundedText(textOf(value?.id), RULE_ID_MAX),
    guid: guidOf(value?.guid),
    index: integerOf(value?.index, 0),
    component: componentReference(value?.toolComponent),
  }
}

/** A guid in lower case, because guids are compared without regard to case (§3.5.3). */
export function guidOf(value: unknown): string | null {
  return boundedText(textOf(value), NAME_MAX)?.toLowerCase() ?? null
}

/** Finds a component by index, else by guid, else by name. */
export function findComponent<T extends { name: string | null; guid: string | null }>(
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
export function ruleReference(result: JsonObject): DescriptorReference {
  const id = boundedText(textOf(result.ruleId), RULE_ID_MAX)
  const index = integerOf(result.ruleIndex, 0)
  const rule = objectOf(result.rule)
  if (rule === null) return { id, guid: null, index, component: null }
  const reference = descriptorReference(rule)
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
