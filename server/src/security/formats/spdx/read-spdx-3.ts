import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, objectOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import type { FindingBatch } from '../report/finding-batch.ts'
import { ReportError, type ReportSource } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { classOf } from './element-3.ts'
import { FindingWriter } from './finding-3.ts'
import { VulnerabilityGraph } from './graph-3.ts'
import { PackageIndex } from './package-3.ts'
import type { SpdxResult } from './spdx-result.ts'
import { ToolFinder } from './tool-3.ts'
import { refuseUnlessVersion3 } from './version-3.ts'

const ELEMENT = '@graph[*]'

/** Members of an element that no finding needs and that can be long. */
const UNREAD_MEMBERS = [
  'element',
  'rootElement',
  'verifiedUsing',
  'comment',
  'extension',
  'software_copyrightText',
  'software_attributionText',
]
const OMIT = { [ELEMENT]: UNREAD_MEMBERS }
const GRAPH = selectionTree(['@context', '@graph:type', ELEMENT], OMIT)
const ELEMENTS = selectionTree([ELEMENT], OMIT)

/**
 * Reads an SPDX 3.x document, a graph of elements in any order. First what is said of vulnerabilities; then, where anything is, the
 * packages that it is said of. A vulnerability that no statement links to a package is no finding: distributions list thousands.
 */
export async function readSpdx3(
  source: ReportSource,
  batch: FindingBatch,
  warnings: ReportWarnings,
): Promise<SpdxResult> {
  const reader = new GraphReader(warnings)
  for await (const selected of selectJson(source.open(), GRAPH)) for (const value of selected) reader.read(value)
  reader.refuseUnlessRead()
  const { graph } = reader
  const packages = await readPackages(source, graph)
  const writer = new FindingWriter(reader.tools.tool(), graph, packages)
  for (const assessed of graph.assessed()) {
    writer.write(assessed, batch)
    await batch.flushFull()
  }
  if (writer.unnamed > 0) warnings.add(`${writer.unnamed} statements do not name their vulnerability and were skipped`)
  return {
    tool: reader.tools.tool(),
    hasStatements: graph.hasStatements,
    components: reader.packages,
    skipped: reader.skipped + writer.unnamed,
    isIncomplete: graph.isIncomplete,
  }
}

async function readPackages(source: ReportSource, graph: VulnerabilityGraph): Promise<PackageIndex> {
  const wanted = new Set<number>()
  for (const assessed of graph.assessed()) wanted.add(assessed.package)
  const packages = new PackageIndex(graph.references, wanted)
  if (wanted.size === 0) return packages
  for await (const selected of selectJson(source.open(), ELEMENTS)) {
    for (const { value } of selected) {
      const element = objectOf(value)
      if (element !== null) packages.add(element)
    }
  }
  return packages
}

class GraphReader {
  readonly graph: VulnerabilityGraph
  readonly tools = new ToolFinder()
  readonly #warnings: ReportWarnings
  #context: unknown
  #graphType: unknown
  #readable = 0
  packages = 0
  skipped = 0

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
    this.graph = new VulnerabilityGraph(warnings)
  }

  read({ path, at, value }: SelectedValue): void {
    const element = objectOf(value)
    if (path === '@context') this.#context = value
    else if (path === '@graph:type') this.#graphType = value
    else if (element !== null) this.#add(element)
    else this.#skip(at[0] as number)
  }

  refuseUnlessRead(): void {
    refuseUnlessVersion3(this.#context, this.#warnings)
    if (this.#graphType !== 'array') throw new ReportError('The SPDX 3 document has no array `@graph`.', 'spdx')
    if (this.skipped === 0 || this.#readable > 0) return
    throw new ReportError(`None of the document's ${this.skipped} elements could be read.`, 'spdx')
  }

  #add(element: JsonObject): void {
    this.#readable++
    if (classOf(element) === 'Package') this.packages++
    this.tools.add(element)
    this.graph.add(element)
  }

  #skip(index: number): void {
    this.skipped++
    this.#warnings.add(`Element ${index + 1} is very large or not an object and was skipped`)
  }
}
