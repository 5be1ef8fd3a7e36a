import { type JsonObject, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/read-value.ts'

/** The class of an element, without its profile or the address before it: `security_Vulnerability` is `Vulnerability`. */
export function classOf(element: JsonObject): string {
  const [type = ''] = textsOf(element.type ?? element['@type'])
  return type.slice(0, 300).replace(/^.*[/#_:]/s, '')
}

/** What other elements refer to it by: an IRI or a blank node's label. */
export function idOf(element: JsonObject): string | null {
  return textOf(element.spdxId) ?? textOf(element['@id'])
}

/** A property of the security or software profile, with its profile's prefix or, as early writers have it, without. */
export function property(element: JsonObject, name: string): unknown {
  return element[`security_${name}`] ?? element[`software_${name}`] ?? element[name]
}

/** References to other elements: one or several, each an id or, which few write, the element itself. */
export function referencesOf(value: unknown): string[] {
  const inline = objectOf(value) === null ? objectsOf(value) : [value as JsonObject]
  return [...textsOf(value), ...inline.map(idOf).filter((id) => id !== null)]
}

/** The identifiers that stand in an element, by their type: `cve`, `packageUrl`, `cpe23`. */
export function identifiersOf(element: JsonObject, types: readonly string[]): string[] {
  return objectsOf(element.externalIdentifier)
    .filter(({ externalIdentifierType }) => types.includes(textOf(externalIdentifierType) ?? ''))
    .map(({ identifier }) => textOf(identifier))
    .filter((identifier) => identifier !== null)
}
