import { integerOf, type JsonObject, memberOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, RULE_ID_MAX } from '../../vocabulary/bounded-text.ts'

/** How a SARIF object points at a tool component (§3.54) or at a descriptor in one (§3.52). */
export type ComponentReference = { name: string | null; guid: string | null; index: number | null }
export type DescriptorReference = {
  id: string | null
  guid: string | null
  index: number | null
  component: ComponentReference | null
}

export function componentReference(value: unknown): ComponentReference | null {
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

/** Guids are compared without regard to case (§3.5.3). */
export function guidOf(value: unknown): string | null {
  return boundedText(textOf(value), NAME_MAX)?.toLowerCase() ?? null
}

/** The component that is meant among these: by index, else guid, else name. Undefined when none is. */
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
