import { selectionTree } from '../../../platform/json/json-selection.ts'
import { objectOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { dependencyFinding } from '../report/dependency-finding.ts'
import type { FindingBatch } from '../report/report-reading.ts'
import type { ReportSource, ReportTool } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { GraphReader } from './graph-reader.ts'
import { PackageIndex } from './package-index.ts'
import { namedVulnerability, type SpdxContents } from './spdx-contents.ts'
import type { Assessed, VulnerabilityGraph } from './vulnerability-graph.ts'

/** Members of an element that can be long and that findings do not need. */
const UNREAD_MEMBERS = [
  'element',
  'rootElement',
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
  const selection = selectionTree(['@context', '@graph:type', elements], { [elements]: UNREAD_MEMBERS })
  for await (const selected of selectJson(source.open(), selection)) for (const value of selected) reader.read(value)
  if (layout === 'graph') reader.refuseUnlessGraph()
  else reader.refuseUnlessElement()
  const tool = reader.tools.tool()
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
  const selection = selectionTree([elements], { [elements]: UNREAD_MEMBERS })
  for await (const selected of selectJson(source.open(), selection)) {
    for (const { value } of selected) {
      const element = objectOf(value)
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
    const ids = described?.ids ?? vulnerabilityIds([this.#graph.ids.idOf(number)])
    if (ids.length === 0) this.unnamed++
    if (ids.length === 0 || statement.status === 'fixed') return
    const vulnerability = namedVulnerability(ids, { ...described, ratings: this.#graph.ratings(number) })
    const component = this.#packages.get(packageNumber)
    const { dismissal } = statement
    batch.add(dependencyFinding({ tool: this.#tool, vulnerability, component, fixedVersion: null, dismissal }))
  }
}
