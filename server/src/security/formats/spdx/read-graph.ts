import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, toObject, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import { collectDigests, normalizeSubject } from '../../vocabulary/stream-name.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { createDependencyFinding } from '../report/dependency-finding.ts'
import { ReportError, type ReportSource, type ReportTool } from '../report/parsed-report.ts'
import { EntryCount, type FindingBatch, type ReportWarnings } from '../report/report-reading.ts'
import { getClass, getId, getProperty, listReferences, PackageIndex } from './element.ts'
import { createVulnerability, parseTool, type SpdxContents } from './vulnerability.ts'
import { type Assessed, VulnerabilityGraph } from './vulnerability-graph.ts'

/** Members of an element that can be long and that findings do not need. */
const UNREAD_MEMBERS = [
  'element',
  'verifiedUsing',
  'comment',
  'extension',
  'software_copyrightText',
  'software_attributionText',
]

/** Where the elements are: in the member `@graph`, or the document itself is the only one. */
const ELEMENTS = { graph: '@graph[*]', element: '' }

/**
 * Reads an SPDX 3.x document, elements in any order. The first pass collects the statements about
 * vulnerabilities, the second pass the packages they are about; without statements there is only
 * one pass. Vulnerabilities without a statement about a package are ignored: distributions list
 * thousands.
 */
export async function readGraph(
  source: ReportSource,
  layout: keyof typeof ELEMENTS,
  batch: FindingBatch,
  warnings: ReportWarnings,
): Promise<SpdxContents> {
  const elements = ELEMENTS[layout]
  const reader = new GraphReader(warnings)
  const selection = createSelectionTree(['@context', '@graph:type', elements], { [elements]: UNREAD_MEMBERS })
  for await (const selected of selectJson(source.open(), selection)) for (const value of selected) reader.read(value)
  if (layout === 'graph') reader.refuseUnlessGraph()
  else reader.refuseUnlessElement()
  const subject = reader.graph.hasStatements ? await findSubject(source, elements, reader.roots) : null
  const tool = { ...reader.tools.tool(), ...subject }
  const writer = new FindingWriter(tool, reader.graph, await readVulnerablePackages(source, elements, reader.graph))
  for (const assessed of reader.graph.assessed()) {
    writer.write(assessed, batch)
    await batch.flushFull()
  }
  if (writer.unnamed > 0) {
    warnings.add(`Statements that do not name a vulnerability were skipped (${writer.unnamed} in total).`)
  }
  return {
    tool,
    hasStatements: reader.graph.hasStatements,
    components: reader.packages,
    skipped: reader.elements.skipped + writer.unnamed,
    isIncomplete: reader.graph.isIncomplete,
  }
}

/** The image or project that the document is about: the package that it names as its root. */
async function findSubject(
  source: ReportSource,
  elements: string,
  roots: ReadonlySet<string>,
): Promise<Pick<ReportTool, 'subject' | 'digests'> | null> {
  if (roots.size === 0) return null
  const selection = createSelectionTree([elements], { [elements]: [...UNREAD_MEMBERS, 'rootElement'] })
  for await (const selected of selectJson(source.open(), selection)) {
    for (const { value } of selected) {
      const element = toObject(value)
      if (element === null || !PACKAGE_CLASSES.has(getClass(element)) || !roots.has(getId(element) ?? '')) continue
      const isImage = toText(getProperty(element, 'primaryPurpose'))?.toLowerCase() === 'container'
      const purl = toText(getProperty(element, 'packageUrl'))
      const name = truncateText(toText(element.name), NAME_MAX)
      const digests = collectDigests([purl, name])
      return { subject: normalizeSubject({ isImage, name, purl }), ...(digests && { digests }) }
    }
  }
  return null
}

/** The second pass. */
async function readVulnerablePackages(
  source: ReportSource,
  elements: string,
  graph: VulnerabilityGraph,
): Promise<PackageIndex> {
  const wanted = new Set<number>()
  for (const assessed of graph.assessed()) wanted.add(assessed.package)
  const packages = new PackageIndex(graph.ids, wanted)
  if (wanted.size === 0) return packages
  const selection = createSelectionTree([elements], { [elements]: [...UNREAD_MEMBERS, 'rootElement'] })
  for await (const selected of selectJson(source.open(), selection)) {
    for (const { value } of selected) {
      const element = toObject(value)
      if (element !== null) packages.add(element)
    }
  }
  return packages
}

/** Makes findings of statements. */
class FindingWriter {
  readonly #tool: ReportTool
  readonly #graph: VulnerabilityGraph
  readonly #packages: PackageIndex
  /** The number of statements about vulnerabilities without an id. */
  unnamed = 0

  constructor(tool: ReportTool, graph: VulnerabilityGraph, packages: PackageIndex) {
    this.#tool = tool
    this.#graph = graph
    this.#packages = packages
  }

  write({ vulnerability: number, package: packageNumber, statement }: Assessed, batch: FindingBatch): void {
    const described = this.#graph.vulnerability(number)
    // The address of a vulnerability in another document contains its id: `…/CVE-2024-1234`.
    const ids = described?.ids ?? collectVulnerabilityIds([this.#graph.ids.getId(number)])
    if (ids.length === 0) this.unnamed++
    if (ids.length === 0 || statement.status === 'fixed') return
    const vulnerability = createVulnerability(ids, { ...described, ratings: this.#graph.ratings(number) })
    const component = this.#packages.get(packageNumber)
    const { dismissal } = statement
    batch.add(createDependencyFinding({ tool: this.#tool, vulnerability, component, fixedVersion: null, dismissal }))
  }
}

/** The package class of the software profile and its subclasses in other profiles. */
const PACKAGE_CLASSES = new Set(['Package', 'AIPackage', 'DatasetPackage'])

/** The classes of elements that name what the document is about. */
const COLLECTIONS = new Set(['SpdxDocument', 'Bom', 'Sbom'])
const ROOTS_MAX = 20

/**
 * The first pass over an SPDX 3 document: counts packages, and collects the tool and all
 * statements.
 */
class GraphReader {
  readonly graph: VulnerabilityGraph
  readonly tools = new ToolFinder()
  readonly elements: EntryCount
  /** The ids of what the document, and its bills of materials, name as their roots. */
  readonly roots = new Set<string>()
  packages = 0
  readonly #warnings: ReportWarnings
  #context: unknown
  #graphType: unknown
  #lastElement: JsonObject = {}

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
    this.graph = new VulnerabilityGraph(warnings)
    this.elements = new EntryCount(warnings)
  }

  read({ path, keys, value }: SelectedValue): void {
    const element = toObject(value)
    if (path === '@context') this.#context = value
    else if (path === '@graph:type') this.#graphType = value
    else if (element !== null) this.#add(element)
    else this.elements.addSkipped(`Element ${Number(keys[0] ?? 0) + 1} is too large or not an object`)
  }

  refuseUnlessGraph(): void {
    refuseUnlessVersion3(this.#context, this.#warnings)
    if (this.#graphType !== 'array') throw new ReportError('The member `@graph` is not an array.')
    this.elements.refuseIfNoneWasRead('elements')
  }

  /** Refuses a document without `@graph` that is not a single element. */
  refuseUnlessElement(): void {
    this.elements.refuseIfNoneWasRead('elements')
    refuseUnlessVersion3(this.#lastElement['@context'], this.#warnings)
    if (getClass(this.#lastElement) !== '') return
    throw new ReportError('The SPDX 3 document has no `@graph`, nor is it an element with a `type`.')
  }

  #add(element: JsonObject): void {
    this.elements.addRead()
    this.#lastElement = element
    if (PACKAGE_CLASSES.has(getClass(element))) this.packages++
    if (COLLECTIONS.has(getClass(element)) && this.roots.size < ROOTS_MAX)
      for (const id of listReferences(element.rootElement).slice(0, ROOTS_MAX)) this.roots.add(id)
    this.tools.add(element)
    this.graph.add(element)
  }
}

const TOOLS_MAX = 1000
const TOOLS_OF_CREATION_MAX = 10

/** Finds the tool that created a document: the one in its creation info, else the first by name. */
class ToolFinder {
  readonly #names = new Map<string, string>()
  /** The ids of the tools in each creation info. */
  readonly #usedBy = new Map<string, string[]>()
  #documentCreation: string | null = null

  add(element: JsonObject): void {
    const id = getId(element)
    const type = getClass(element)
    if (type === 'SpdxDocument') this.#documentCreation = listReferences(element.creationInfo)[0] ?? null
    if (id === null) return
    if (type === 'Tool') this.#addTool(id, toText(element.name))
    else if (type === 'CreationInfo') this.#addCreation(element)
  }

  tool(): ReportTool {
    const used = this.#usedBy.get(this.#documentCreation ?? '') ?? []
    const named = used.map((id) => this.#names.get(id)).find((name) => name !== undefined)
    return parseTool(named ?? [...this.#names.values()].sort()[0] ?? null)
  }

  #addTool(id: string, name: string | null): void {
    const kept = truncateText(name, NAME_MAX)
    if (kept !== null && this.#names.size < TOOLS_MAX) this.#names.set(id, kept)
  }

  /** A creation info is a blank node. Some writers also give it an IRI, and refer to either. */
  #addCreation(element: JsonObject): void {
    const used = listReferences(element.createdUsing).slice(0, TOOLS_OF_CREATION_MAX)
    if (this.#usedBy.size >= TOOLS_MAX) return
    for (const id of [toText(element['@id']), toText(element.spdxId)]) if (id !== null) this.#usedBy.set(id, used)
  }
}

/** Refuses another major version than 3. A newer minor version gets a warning. */
function refuseUnlessVersion3(context: unknown, warnings: ReportWarnings): void {
  // A JSON-LD context is an address or a list with addresses.
  const address =
    toTexts(context)
      .map((text) => text.slice(0, 300))
      .find((text) => /spdx\.org/i.test(text)) ?? ''
  const [, version = '3', major = '3'] = /spdx\.org\/rdf\/v?((\d+)(?:\.\d+){0,2})\//i.exec(address) ?? []
  if (major !== '3') throw new ReportError(`SPDX ${version} is not supported; use SPDX 2.2, 2.3 or 3.0.`)
  if (/^3(?:\.0(?:\.|$)|$)/.test(version)) return
  warnings.add(`The document is SPDX ${version}, which is newer than SPDX 3.0; it was read as SPDX 3.0.`)
}
