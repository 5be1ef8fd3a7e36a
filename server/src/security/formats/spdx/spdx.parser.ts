import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { textOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { FindingBatch, type OnFindings } from '../report/finding-batch.ts'
import { ReportError, type ReportSource, type ReportSummary } from '../report/parsed-report.ts'
import { ReportWarnings } from '../report/report-warnings.ts'
import { readSpdx2 } from './read-spdx-2.ts'
import { readSpdx3 } from './read-spdx-3.ts'

const SELECTION = selectionTree(['spdxVersion', '@context:type', '@graph:type', 'packages:type'])

/**
 * Reads an SPDX 2.2, 2.3 or 3.0 document of any size. The two major versions are different formats.
 * Throws ReportError when the file is no SPDX that is read, JsonError when it is no JSON.
 */
export async function parseSpdx(source: ReportSource, onFindings: OnFindings): Promise<ReportSummary> {
  const read = (await isGraph(source)) ? readSpdx3 : readSpdx2
  const warnings = new ReportWarnings()
  const batch = new FindingBatch(onFindings)
  const { tool, hasStatements, components, skipped, isIncomplete } = await read(source, batch, warnings)
  await batch.flush()
  return {
    // A document that says nothing of vulnerabilities does not say that they are gone.
    tools: hasStatements ? [batch.toolWithRules(tool)] : [],
    findings: batch.count,
    components,
    skipped,
    truncated: batch.isTruncated || isIncomplete,
    warnings: warnings.list(),
    category: null,
  }
}

/** True for SPDX 3, which is a graph in JSON-LD. Reads no further than needed. */
async function isGraph(source: ReportSource): Promise<boolean> {
  for await (const batch of selectJson(source.open(), SELECTION)) {
    for (const selected of batch) {
      const answer = graphBy(selected)
      if (answer !== null) return answer
    }
  }
  throw new ReportError('The file is not an SPDX document: it has neither `packages` nor an `@graph`.', 'spdx')
}

function graphBy({ path, value }: SelectedValue): boolean | null {
  if (path === '@context:type' || path === '@graph:type') return true
  if (path === 'packages:type') return false
  // Some SPDX 3 documents state a version as SPDX 2 does; what stands beside it tells.
  return textOf(value)?.startsWith('SPDX-3') === true ? null : false
}
