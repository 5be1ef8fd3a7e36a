import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import { toText } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { ReportError, type ReportSource, type ReportSummary } from '../report/parsed-report.ts'
import { FindingBatch, type OnFindings, ReportWarnings } from '../report/report-reading.ts'
import { readGraph } from './read-graph.ts'
import { readPackages } from './read-packages.ts'

const MARKS = createSelectionTree(['spdxVersion', '@context:type', '@graph:type', 'packages:type'])

/** SPDX 2 has a list of packages. SPDX 3 has a graph of elements, or is itself a single element. */
type Layout = 'packages' | 'graph' | 'element'

/**
 * Reads an SPDX 2.2, 2.3 or 3.0 document of any size. The two major versions are different formats.
 * Throws ReportError if the file is not a supported SPDX document, JsonError if it is not JSON.
 */
export async function parseSpdx(source: ReportSource, onFindings: OnFindings): Promise<ReportSummary> {
  const layout = await readLayout(source)
  const warnings = new ReportWarnings()
  const batch = new FindingBatch(onFindings)
  const contents = await (layout === 'packages'
    ? readPackages(source, batch, warnings)
    : readGraph(source, layout, batch, warnings))
  await batch.flush()
  return {
    // A document without statements about vulnerabilities closes no findings.
    tools: contents.hasStatements ? [contents.tool] : [],
    findings: batch.count,
    components: contents.components,
    skipped: contents.skipped,
    truncated: batch.isTruncated || contents.isIncomplete,
    warnings: warnings.list(),
    category: null,
  }
}

/** Reads no further than needed. A single element is recognized only at the end of the file. */
async function readLayout(source: ReportSource): Promise<Layout> {
  let hasContext = false
  for await (const batch of selectJson(source.open(), MARKS)) {
    for (const { path, value } of batch) {
      if (path === '@graph:type') return 'graph'
      if (path === 'packages:type') return 'packages'
      if (path === '@context:type') hasContext = true
      // Some SPDX 3 documents have an `spdxVersion`, too.
      else if (!hasContext && toText(value)?.startsWith('SPDX-3') !== true) return 'packages'
    }
  }
  if (hasContext) return 'element'
  throw new ReportError('The file is not an SPDX document: it has no `packages`, `@graph` or `@context`.')
}
