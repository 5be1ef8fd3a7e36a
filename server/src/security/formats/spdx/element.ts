import { hash } from 'node:crypto'
import { JsonStore } from '../../../platform/json/json-store.ts'
import { type JsonObject, toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { type Component, toComponent, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import { FINDINGS_MAX } from '../report/report-reading.ts'

/**
 * The class of an element without profile or namespace: `Vulnerability` of
 * `security_Vulnerability`.
 */
export function getClass(element: JsonObject): string {
  const [type = ''] = toTexts(element.type ?? element['@type'])
  return type.slice(0, 300).replace(/^.*[/#_:]/s, '')
}

/** The id by which other elements refer to this one: an IRI or the label of a blank node. */
export function getId(element: JsonObject): string | null {
  return toText(element.spdxId) ?? toText(element['@id'])
}

/** A property of the security or software profile. Early writers leave out the profile's prefix. */
export function getProperty(element: JsonObject, name: string): unknown {
  return element[`security_${name}`] ?? element[`software_${name}`] ?? element[name]
}

/**
 * The ids in a reference: one or several, each a text or, in a few documents, the whole element.
 */
export function listReferences(value: unknown): string[] {
  const inline = toObject(value) === null ? toObjects(value) : [value as JsonObject]
  return [...toTexts(value), ...inline.map(getId).filter((id) => id !== null)]
}

/** The identifiers within an element that have one of these types: `cve`, `packageUrl`, `cpe23`. */
export function listIdentifiers(element: JsonObject, types: readonly string[]): string[] {
  return toObjects(element.externalIdentifier)
    .filter(({ externalIdentifierType }) => types.includes(toText(externalIdentifierType) ?? ''))
    .map(({ identifier }) => toText(identifier))
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
  assignNumber(id: string): number {
    const key = hashKey(id)
    const earlier = this.#numbers.get(key)
    if (earlier !== undefined) return earlier
    const number = this.#stored.push(this.#ids.add(id.slice(0, ID_KEPT_MAX))) - 1
    this.#numbers.set(key, number)
    return number
  }

  find(id: string): number | undefined {
    return this.#numbers.get(hashKey(id))
  }

  /** The id with this number; of a long id its beginning. */
  getId(number: number): string {
    return this.#ids.get(this.#stored[number] as number) as string
  }
}

function hashKey(id: string): string {
  return hash('sha256', id, 'binary')
}

/** The length of all kept texts together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 32 * 1024 * 1024
const PURL_TYPES = ['packageUrl', 'purl']
const IDENTIFIERS_MAX = 10

type StoredPackage = {
  name: string | null
  version: string | null
  purl: string | null
  /** Numbers of elements of class ExternalIdentifier, one of which may contain its package URL. */
  identifiers: number[]
}

/** The packages with statements. Some writers put a package's URL into a separate element. */
export class PackageIndex {
  readonly #ids: ElementIds
  readonly #wanted: ReadonlySet<number>
  readonly #store = new JsonStore()
  /** The number of each package in the store, by the number of its id. */
  readonly #packages = new Map<number, number>()
  /** The ids of elements of class ExternalIdentifier, and the number of each one's package URL. */
  readonly #identifiers = new ElementIds()
  readonly #purls = new Map<number, number>()
  #textLeft = KEPT_TEXT_MAX

  /** `wanted` contains the numbers of the packages among `ids`. */
  constructor(ids: ElementIds, wanted: ReadonlySet<number>) {
    this.#ids = ids
    this.#wanted = wanted
  }

  add(element: JsonObject): void {
    const id = getId(element)
    if (id === null || this.#textLeft < 0) return
    const number = this.#ids.find(id)
    if (number !== undefined && this.#wanted.has(number))
      this.#packages.set(number, this.#store.add(this.#toStored(element)))
    else if (getClass(element) === 'ExternalIdentifier') this.#addPurl(id, element)
  }

  /**
   * The package with this number. The id of a package outside the document may be a package URL.
   */
  get(number: number): Component {
    const stored = this.#packages.get(number)
    if (stored === undefined) {
      const component = toComponent({ name: null, version: null, purl: this.#ids.getId(number) })
      return component.purl === null ? UNKNOWN_COMPONENT : component
    }
    const { name, version, purl, identifiers } = this.#store.get(stored) as StoredPackage
    return toComponent({ name, version, purl: purl ?? this.#purlIn(identifiers) })
  }

  #purlIn(identifiers: number[]): string | null {
    const [stored] = identifiers.map((identifier) => this.#purls.get(identifier)).filter((purl) => purl !== undefined)
    return stored === undefined ? null : (this.#store.get(stored) as string)
  }

  #toStored(element: JsonObject): StoredPackage {
    const stated = toText(getProperty(element, 'packageUrl')) ?? listIdentifiers(element, PURL_TYPES)[0] ?? null
    const version = toText(getProperty(element, 'packageVersion'))
    const { name, version: kept, purl } = toComponent({ name: toText(element.name), version, purl: stated })
    this.#textLeft -= (name?.length ?? 0) + (kept?.length ?? 0) + (purl?.length ?? 0)
    const identifiers = purl === null ? listReferences(element.externalIdentifier).slice(0, IDENTIFIERS_MAX) : []
    return { name, version: kept, purl, identifiers: identifiers.map((id) => this.#identifiers.assignNumber(id)) }
  }

  #addPurl(id: string, element: JsonObject): void {
    const purl = toText(element.identifier)
    if (purl === null || purl.length > PATH_MAX || !PURL_TYPES.includes(toText(element.externalIdentifierType) ?? ''))
      return
    this.#textLeft -= purl.length
    if (this.#purls.size < FINDINGS_MAX) this.#purls.set(this.#identifiers.assignNumber(id), this.#store.add(purl))
  }
}
