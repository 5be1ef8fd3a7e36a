import { hash } from 'node:crypto'
import { JsonStore } from '../../../platform/json/json-store.ts'
import { type JsonObject, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/read-value.ts'

/**
 * The class of an element without profile or namespace: `Vulnerability` of
 * `security_Vulnerability`.
 */
export function classOf(element: JsonObject): string {
  const [type = ''] = textsOf(element.type ?? element['@type'])
  return type.slice(0, 300).replace(/^.*[/#_:]/s, '')
}

/** The id by which other elements refer to this one: an IRI or the label of a blank node. */
export function idOf(element: JsonObject): string | null {
  return textOf(element.spdxId) ?? textOf(element['@id'])
}

/** A property of the security or software profile. Early writers leave out the profile's prefix. */
export function property(element: JsonObject, name: string): unknown {
  return element[`security_${name}`] ?? element[`software_${name}`] ?? element[name]
}

/**
 * The ids in a reference: one or several, each a text or, in a few documents, the whole element.
 */
export function referencesOf(value: unknown): string[] {
  const inline = objectOf(value) === null ? objectsOf(value) : [value as JsonObject]
  return [...textsOf(value), ...inline.map(idOf).filter((id) => id !== null)]
}

/** The identifiers within an element that have one of these types: `cve`, `packageUrl`, `cpe23`. */
export function identifiersOf(element: JsonObject, types: readonly string[]): string[] {
  return objectsOf(element.externalIdentifier)
    .filter(({ externalIdentifierType }) => types.includes(textOf(externalIdentifierType) ?? ''))
    .map(({ identifier }) => textOf(identifier))
    .filter((identifier) => identifier !== null)
}

/** The length kept of an id that names a vulnerability or package of another document. */
const ID_KEPT_MAX = 1000

/** Numbers for the ids of elements, because a graph repeats each id many times. */
export class ElementIds {
  readonly #ids = new JsonStore()
  /** The number of each id, by the id's hash. */
  readonly #numbers = new Map<string, number>()
  /** The number of each id's value in the store, by the number of the id. */
  readonly #stored: number[] = []

  /** The number of an id. An unknown id gets a new number. */
  numberOf(id: string): number {
    const key = keyOf(id)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#stored.push(this.#ids.add(id.slice(0, ID_KEPT_MAX))) - 1
    this.#numbers.set(key, number)
    return number
  }

  find(id: string): number | undefined {
    return this.#numbers.get(keyOf(id))
  }

  /** The id with this number; of a long id its beginning. */
  idOf(number: number): string {
    return this.#ids.get(this.#stored[number] as number) as string
  }
}

function keyOf(id: string): string {
  return hash('sha256', id, 'binary')
}
