import { JsonStore } from '../../../platform/json/json-store.ts'
import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { type Component, componentOf, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import { FINDINGS_MAX } from '../report/finding-batch.ts'
import { classOf, identifiersOf, idOf, property, referencesOf } from './element-3.ts'
import { References } from './references-3.ts'

/** What is kept of all packages together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 32 * 1024 * 1024
const PURL_TYPES = ['packageUrl', 'purl']
const IDENTIFIERS_MAX = 10

type Entry = {
  name: string | null
  version: string | null
  purl: string | null
  /** Elements of which one may hold its package URL. */
  identifiers: number[]
}

/** The packages that statements are about. Some writers keep a package's URL in an element of its own. */
export class PackageIndex {
  readonly #references: References
  readonly #wanted: ReadonlySet<number>
  readonly #store = new JsonStore()
  /** By number of the reference: the package, as a number in the store. */
  readonly #packages = new Map<number, number>()
  readonly #identifiers = new References()
  readonly #purls = new Map<number, number>()
  #textLeft = KEPT_TEXT_MAX

  /** `wanted` are the numbers of the packages among the references. */
  constructor(references: References, wanted: ReadonlySet<number>) {
    this.#references = references
    this.#wanted = wanted
  }

  add(element: JsonObject): void {
    const id = idOf(element)
    if (id === null || this.#textLeft < 0) return
    const number = this.#references.find(id)
    if (number !== undefined && this.#wanted.has(number))
      this.#packages.set(number, this.#store.add(this.#entryOf(element)))
    else if (classOf(element) === 'ExternalIdentifier') this.#addPurl(id, element)
  }

  get(reference: number): Component {
    const number = this.#packages.get(reference)
    // A reference out of the document may be a package URL itself.
    if (number === undefined) return { ...UNKNOWN_COMPONENT, ...purlOnly(this.#references.nameOf(reference)) }
    const { name, version, purl, identifiers } = this.#store.get(number) as Entry
    return componentOf({ name, version, purl: purl ?? this.#purlIn(identifiers) })
  }

  #purlIn(identifiers: number[]): string | null {
    const [number] = identifiers.map((identifier) => this.#purls.get(identifier)).filter((purl) => purl !== undefined)
    return number === undefined ? null : (this.#store.get(number) as string)
  }

  #entryOf(element: JsonObject): Entry {
    const stated = textOf(property(element, 'packageUrl')) ?? identifiersOf(element, PURL_TYPES)[0] ?? null
    const version = textOf(property(element, 'packageVersion'))
    const { name, version: kept, purl } = componentOf({ name: textOf(element.name), version, purl: stated })
    this.#textLeft -= (name?.length ?? 0) + (kept?.length ?? 0) + (purl?.length ?? 0)
    const identifiers = purl === null ? referencesOf(element.externalIdentifier).slice(0, IDENTIFIERS_MAX) : []
    return { name, version: kept, purl, identifiers: identifiers.map((id) => this.#identifiers.numberOf(id)) }
  }

  #addPurl(id: string, element: JsonObject): void {
    const purl = textOf(element.identifier)
    if (purl === null || purl.length > PATH_MAX || !PURL_TYPES.includes(textOf(element.externalIdentifierType) ?? ''))
      return
    this.#textLeft -= purl.length
    if (this.#purls.size < FINDINGS_MAX) this.#purls.set(this.#identifiers.numberOf(id), this.#store.add(purl))
  }
}

function purlOnly(name: string): Partial<Component> {
  const component = componentOf({ name: null, version: null, purl: name })
  return component.purl === null ? {} : component
}
