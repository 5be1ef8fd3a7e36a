import { hash } from 'node:crypto'
import { createSelectionTree, type SelectionNode } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { JsonStore } from '../../../platform/json/json-store.ts'
import { type JsonObject, toObjects, toText } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, PATH_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import { decodePercents } from '../../vocabulary/package-url.ts'
import { CheckoutDirectories, computeCheckout, type KnownRepository, ReportPaths } from '../report/checkout.ts'
import { type Component, toComponent, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import { ListedComponents } from '../report/listed-components.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import { FINDINGS_MAX, type ReportWarnings } from '../report/report-reading.ts'

const LISTS = ['components[*]', 'services[*]', 'metadata.component']
const MEMBERS = ['bom-ref', 'group', 'name', 'version', 'purl', 'properties', 'evidence.occurrences']
const SELECTION = defineSelection(
  LISTS.flatMap((list) => [`${list}:type`, ...MEMBERS.map((member) => `${list}.${member}`)]),
  true,
)

/** The length of all kept texts together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 32 * 1024 * 1024

/**
 * A selection that also finds components and services nested in others at any depth, and those
 * nested in the document's subject `withSubject`. They have the same path as at the top; the number
 * of indexes tells the depth.
 */
export function defineSelection(paths: readonly string[], withSubject = false): SelectionNode {
  const tree = createSelectionTree(paths)
  const subject = tree.members.get('metadata')?.members.get('component')
  const components = tree.members.get('components')
  const services = tree.members.get('services')
  if (components !== undefined) {
    components.element?.members.set('components', components)
    if (withSubject) subject?.members.set('components', components)
  }
  if (services !== undefined) services.element?.members.set('services', services)
  return tree
}

/**
 * The second pass: which components there are, and the components, services and document subject to
 * which vulnerabilities refer.
 */
export async function readComponents(
  source: ReportSource,
  affected: ComponentIndex,
  warnings: ReportWarnings,
): Promise<void> {
  const reader = new ComponentReader(affected, warnings)
  for await (const batch of selectJson(source.open(), SELECTION)) for (const selected of batch) reader.read(selected)
  reader.closeFrom(0)
}

/** Builds components from their members, which are before or after the nested components. */
class ComponentReader {
  readonly #affected: ComponentIndex
  readonly #warnings: ReportWarnings
  /** The unfinished components by depth. The document's subject is at depth 0. */
  readonly #open: (JsonObject | undefined)[] = []
  #textLeft = KEPT_TEXT_MAX

  constructor(affected: ComponentIndex, warnings: ReportWarnings) {
    this.#affected = affected
    this.#warnings = warnings
  }

  read({ path, keys, value }: SelectedValue): void {
    const depth = keys.length
    if (path.endsWith(':type')) {
      this.closeFrom(depth)
      this.#open[depth] = {}
      return
    }
    const component = this.#open[depth]
    if (component !== undefined) component[path.slice(path.lastIndexOf('.') + 1)] = value
  }

  closeFrom(depth: number): void {
    for (const members of this.#open.splice(depth)) {
      if (members === undefined) continue
      const ref = toText(members['bom-ref'])
      this.#affected.listed.add({
        purl: toText(members.purl),
        name: readName(members),
        version: toText(members.version),
      })
      if (ref !== null && this.#affected.wants(ref)) this.#keep(ref, readComponent(members))
    }
  }

  #keep(ref: string, component: Component): void {
    const { name, version, purl, path } = component
    this.#textLeft -= [name, version, purl, path].reduce((sum, text) => sum + (text?.length ?? 0), 0)
    if (this.#textLeft >= 0) this.#affected.add(ref, component)
    else this.#warnings.add('The names of the vulnerable components are too long together; some were not read.')
  }
}

/** The name of a component with its group, as in a package URL. */
function readName(members: JsonObject): string | null {
  const name = toText(members.name)
  const group = toText(members.group)
  return name !== null && group !== null ? `${group}/${name}` : name
}

function readComponent(members: JsonObject): Component {
  return toComponent({
    name: readName(members),
    version: toText(members.version),
    purl: toText(members.purl),
    path: findPath(members),
  })
}

/**
 * Properties with the path of the file that declares the component: Trivy, cdxgen, Syft and Grype.
 */
const PATH_PROPERTIES = ['aquasecurity:trivy:FilePath', 'SrcFile', 'syft:location:0:path']

/** The file that declares the component. The first of several by name: tools change their order. */
export function findPath({ properties, occurrences }: JsonObject): string | null {
  const stated = toObjects(properties)
  const candidates = [
    ...PATH_PROPERTIES.map((name) => stated.filter((property) => property.name === name).map(({ value }) => value)),
    toObjects(occurrences).map(({ location }) => location),
  ]
  for (const values of candidates) {
    const [path] = values
      .map(toText)
      .filter((text) => text !== null)
      .map(withoutLine)
      .sort()
    if (path !== undefined) return truncateText(path, PATH_MAX)
  }
  return null
}

/** The path of a location like `src/App.java#12`, as cdxgen writes it. */
function withoutLine(location: string): string {
  return location
    .trim()
    .replaceAll('\\', '/')
    .replace(/[#:]\d{1,9}$/, '')
    .replace(/^(?:\.\/)+/, '')
}

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
const HASH = /^[0-9a-f]{12,128}$/i

const NOT_FOUND = -1

/**
 * The components to which vulnerabilities refer, by `bom-ref`; at most as many as there are
 * findings.
 */
export class ComponentIndex {
  /** All components of the document. */
  readonly listed = new ListedComponents()
  readonly paths = new ReportPaths()
  /** True if the paths are those of an image. */
  isInImage = false
  readonly #checkout = new CheckoutDirectories()
  readonly #components = new JsonStore()
  /** The number of each component in the store, by the key of its `bom-ref`. */
  readonly #numbers = new Map<string, number>()
  #ownSerial: string | null = null

  set serialNumber(serialNumber: string | null) {
    this.#ownSerial = serialNumber?.toLowerCase().replace(/^urn:uuid:/, '') ?? null
  }

  /**
   * Infers the checkout that is removed from the paths of components. A guess is not used: the
   * absolute paths of many documents are paths in an image.
   */
  setCheckout({ name, paths }: KnownRepository): void {
    const repositoryPaths = [...paths, ...this.paths.relative]
    const { directories, isGuess } = computeCheckout([...this.paths.absolute], {
      name,
      paths: repositoryPaths,
      workingDirectories: [],
    })
    this.#checkout.set(isGuess ? [] : directories)
  }

  /** Adds the reference of a vulnerability. */
  want(ref: string): void {
    const key = hashKey(parseBomLink(ref)?.ref ?? ref)
    if (this.#numbers.size < FINDINGS_MAX && !this.#numbers.has(key)) this.#numbers.set(key, NOT_FOUND)
  }

  /** True if the component is still needed. The first of several with the same `bom-ref` counts. */
  wants(ref: string): boolean {
    return this.#numbers.get(hashKey(ref)) === NOT_FOUND
  }

  add(ref: string, { name, version, purl, path }: Component): void {
    this.paths.add(path)
    this.#numbers.set(hashKey(ref), this.#components.add([name, version, purl, path]))
  }

  /**
   * The component of a reference. If it is not in this document, a component made from the
   * reference.
   */
  resolve(ref: string): Component {
    const link = parseBomLink(ref)
    const isElsewhere = link !== null && link.serialNumber !== this.#ownSerial
    const name = link?.ref ?? ref
    return (isElsewhere ? null : this.#find(name)) ?? parseReference(name)
  }

  #find(ref: string): Component | null {
    const number = this.#numbers.get(hashKey(ref)) ?? NOT_FOUND
    if (number === NOT_FOUND) return null
    const [name, version, purl, path] = this.#components.get(number) as [string, string, string, string | null]
    return { name, version, purl, path: path === null ? null : this.#checkout.relative(path, this.isInImage) }
  }
}

/** A short key, however long the reference is. */
function hashKey(ref: string): string {
  return hash('sha256', ref, 'binary')
}

/** Many tools use the package URL as reference. UUIDs and hashes differ in each document. */
function parseReference(ref: string): Component {
  const component = toComponent({ name: null, version: null, purl: ref })
  if (component.purl !== null) return component
  if (UUID.test(ref) || HASH.test(ref)) return UNKNOWN_COMPONENT
  return { ...UNKNOWN_COMPONENT, name: truncateText(ref, NAME_MAX) }
}

type BomLink = { serialNumber: string; ref: string }

/** Parses a reference to an element of a document: `urn:cdx:serial/version#ref` ("BOM-Link"). */
export function parseBomLink(text: string): BomLink | null {
  const match = /^urn:cdx:([0-9a-f-]{36})\/\d{1,10}#(.+)$/is.exec(text)
  if (match === null) return null
  const [, serialNumber = '', ref = ''] = match
  return { serialNumber: serialNumber.toLowerCase(), ref: decodePercents(ref) }
}
