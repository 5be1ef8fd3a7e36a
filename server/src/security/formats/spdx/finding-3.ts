import { vulnerabilityIds } from '../../vocabulary/vulnerability-ids.ts'
import { dependencyFinding } from '../report/dependency-finding.ts'
import type { FindingBatch } from '../report/finding-batch.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import type { Assessed, VulnerabilityGraph } from './graph-3.ts'
import type { PackageIndex } from './package-3.ts'
import { namedVulnerability } from './vulnerability.ts'

/** Makes findings of the statements that count. */
export class FindingWriter {
  readonly #tool: ReportTool
  readonly #graph: VulnerabilityGraph
  readonly #packages: PackageIndex
  /** Statements on what has no id. */
  unnamed = 0

  constructor(tool: ReportTool, graph: VulnerabilityGraph, packages: PackageIndex) {
    this.#tool = tool
    this.#graph = graph
    this.#packages = packages
  }

  write({ vulnerability: reference, package: packageReference, statement }: Assessed, batch: FindingBatch): void {
    const described = this.#graph.vulnerability(reference)
    // A vulnerability that stands in another document is told by its address: `…/vulnerability/CVE-2024-1234`.
    const ids = described?.ids ?? vulnerabilityIds([this.#graph.references.nameOf(reference)])
    if (ids.length === 0) this.unnamed++
    if (ids.length === 0 || statement.status === 'fixed') return
    const vulnerability = namedVulnerability(ids, { ...described, ratings: this.#graph.ratings(reference) })
    const component = this.#packages.get(packageReference)
    const { dismissal } = statement
    batch.add(dependencyFinding({ tool: this.#tool, vulnerability, component, fixedVersion: null, dismissal }))
  }
}
