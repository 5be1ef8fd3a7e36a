import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { type Component, componentOf, UNKNOWN_COMPONENT } from '../dependency-finding.ts'
import { FINDINGS_MAX } from '../finding-batch.ts'
import { referenceKey } from '../reference-key.ts'
import { classOf, identifiersOf, idOf, property, referencesOf } from './element-3.ts'

/** What is kept of all packages together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 32 * 1024 * 1024
const PURL_TYPES = ['packageUrl', 'purl']

type Entry = { element: { name: string | null; version: string | null; purl: string | null }; identifiers: string[] }

/** The packages that statements are about. Some writers keep a package's URL in an element of its own. */
export class PackageIndex {
  readonly #wanted: ReadonlySet<string>
  readonly #packages = new Map<string, Entry>()
  readonly #purls = new Map<string, string>()
  #textLeft = KEPT_TEXT_MAX

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted
  }

  add(element: JsonObject): void {
    const id = idOf(element)
    if (id === null || this.#textLeft < 0) return
    const key = referenceKey(id)
    if (this.#wanted.has(key)) this.#packages.set(key, this.#entryOf(element))
    else if (classOf(element) === 'ExternalIdentifier') this.#addPurl(key, element)
  }

  get(key: string): Component {
    const entry = this.#packages.get(key)
    // A reference out of the document may be a package URL itself.
    if (entry === undefined) return { ...UNKNOWN_COMPONENT, ...purlOnly(key) }
    const purl = entry.element.purl ?? entry.identifiers.map((identifier) => this.#purls.get(identifier)).find(Boolean)
    return componentOf({ ...entry.element, purl: purl ?? null })
  }

  #entryOf(element: JsonObject): Entry {
    const name = textOf(element.name)
    const version = textOf(property(element, 'packageVersion'))
    const purl = textOf(property(element, 'packageUrl')) ?? identifiersOf(element, PURL_TYPES)[0] ?? null
    const { name: kept, version: keptVersion, purl: keptPurl } = componentOf({ name, version, purl })
    this.#textLeft -= (kept?.length ?? 0) + (keptVersion?.length ?? 0) + (keptPurl?.length ?? 0)
    const identifiers = keptPurl === null ? referencesOf(element.externalIdentifier).slice(0, 10).map(referenceKey) : []
    return { element: { name: kept, version: keptVersion, purl: keptPurl }, identifiers }
  }

  #addPurl(key: string, element: JsonObject): void {
    const purl = textOf(element.identifier)
    if (purl === null || !PURL_TYPES.includes(textOf(element.externalIdentifierType) ?? '')) return
    this.#textLeft -= purl.length
    if (this.#purls.size < FINDINGS_MAX) this.#purls.set(key, purl)
  }
}

function purlOnly(key: string): Partial<Component> {
  const component = componentOf({ name: null, version: null, purl: key })
  return component.purl === null ? {} : component
}
