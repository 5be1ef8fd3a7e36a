import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, objectOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX } from '../../vocabulary/bounded-text.ts'
import { ReportError, type ReportTool } from '../report/parsed-report.ts'
import { EntryCount, type ReportWarnings } from '../report/report-warnings.ts'
import { classOf, idOf, referencesOf } from './element.ts'
import { toolOfName } from './spdx-contents.ts'
import { VulnerabilityGraph } from './vulnerability-graph.ts'

/** The package class of the software profile and its subclasses in other profiles. */
const PACKAGE_CLASSES = new Set(['Package', 'AIPackage', 'DatasetPackage'])

/**
 * The first pass over an SPDX 3 document: counts packages, and collects the tool and all
 * statements.
 */
export class GraphReader {
  readonly graph: VulnerabilityGraph
  readonly tools = new ToolFinder()
  readonly elements: EntryCount
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
    const element = objectOf(value)
    if (path === '@context') this.#context = value
    else if (path === '@graph:type') this.#graphType = value
    else if (element !== null) this.#add(element)
    else this.elements.addSkipped(`Element ${Number(keys[0] ?? 0) + 1} is too large or not an object`)
  }

  refuseUnlessGraph(): void {
    refuseUnlessVersion3(this.#context, this.#warnings)
    if (this.#graphType !== 'array') throw new ReportError('The member `@graph` is not an array.', 'spdx')
    this.elements.refuseIfNoneWasRead('elements', 'spdx')
  }

  /** Refuses a document without `@graph` that is not a single element. */
  refuseUnlessElement(): void {
    this.elements.refuseIfNoneWasRead('elements', 'spdx')
    refuseUnlessVersion3(this.#lastElement['@context'], this.#warnings)
    if (classOf(this.#lastElement) !== '') return
    throw new ReportError('The SPDX 3 document has no `@graph`, nor is it an element with a `type`.', 'spdx')
  }

  #add(element: JsonObject): void {
    this.elements.addRead()
    this.#lastElement = element
    if (PACKAGE_CLASSES.has(classOf(element))) this.packages++
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
    const id = idOf(element)
    const type = classOf(element)
    if (type === 'SpdxDocument') this.#documentCreation = referencesOf(element.creationInfo)[0] ?? null
    if (id === null) return
    if (type === 'Tool') this.#addTool(id, textOf(element.name))
    else if (type === 'CreationInfo') this.#addCreation(element)
  }

  tool(): ReportTool {
    const used = this.#usedBy.get(this.#documentCreation ?? '') ?? []
    const named = used.map((id) => this.#names.get(id)).find((name) => name !== undefined)
    return toolOfName(named ?? [...this.#names.values()].sort()[0] ?? null)
  }

  #addTool(id: string, name: string | null): void {
    const kept = boundedText(name, NAME_MAX)
    if (kept !== null && this.#names.size < TOOLS_MAX) this.#names.set(id, kept)
  }

  /** A creation info is a blank node. Some writers also give it an IRI, and refer to either. */
  #addCreation(element: JsonObject): void {
    const used = referencesOf(element.createdUsing).slice(0, TOOLS_OF_CREATION_MAX)
    if (this.#usedBy.size >= TOOLS_MAX) return
    for (const id of [textOf(element['@id']), textOf(element.spdxId)]) if (id !== null) this.#usedBy.set(id, used)
  }
}

/** Refuses another major version than 3. A newer minor version gets a warning. */
function refuseUnlessVersion3(context: unknown, warnings: ReportWarnings): void {
  const [, version = '3', major = '3'] = /spdx\.org\/rdf\/v?((\d+)(?:\.\d+){0,2})\//i.exec(addressOf(context)) ?? []
  if (major !== '3') throw new ReportError(`SPDX ${version} is not supported; use SPDX 2.2, 2.3 or 3.0.`, 'spdx')
  if (/^3(?:\.0(?:\.|$)|$)/.test(version)) return
  warnings.add(`The document is SPDX ${version}, which is newer than SPDX 3.0; it was read as SPDX 3.0.`)
}

/** The address of SPDX in a JSON-LD context, which is an address or a list with addresses. */
function addressOf(context: unknown): string {
  const address = textsOf(context).find((text) => /spdx\.org/i.test(text.slice(0, 300)))
  return address?.slice(0, 300) ?? ''
}
