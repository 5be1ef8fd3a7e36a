import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { objectOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import type { ReadRepository } from '../checkout/checkout.ts'
import { FindingBatch, type OnFindings } from '../report/report-reading.ts'
import type { ReportSource, ReportSummary } from '../report/parsed-report.ts'
import { EntryCount, ReportWarnings } from '../report/report-warnings.ts'
import { readFindings } from './finding.ts'
import { readComponents } from './read-components.ts'
import { type CycloneDxDocument, readDocument } from './read-document.ts'

const VULNERABILITIES = 'vulnerabilities[*]'

/** Members of a vulnerability that can be long and that findings do not need. */
const UNREAD_MEMBERS = ['credits', 'tools', 'properties', 'proofOfConcept', 'workaround']

const SELECTION = selectionTree([VULNERABILITIES], { [VULNERABILITIES]: UNREAD_MEMBERS })

/**
 * Reads a CycloneDX 1.x document of any size in up to three passes: first its header and the
 * references of its vulnerabilities, then the components they refer to, then the vulnerabilities. A
 * document without vulnerabilities needs only the first pass. Throws ReportError if the file is not
 * a supported CycloneDX document, JsonError if it is not JSON.
 */
export async function parseCycloneDx(
  source: ReportSource,
  onFindings: OnFindings,
  readRepository: ReadRepository,
): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const document = await readDocument(source, warnings)
  await readComponents(source, document.affected, warnings)
  if (document.affected.paths.absolute.size > 0) document.affected.setCheckout(await readRepository())
  const reader = new VulnerabilityReader(document, warnings, onFindings)
  if (document.vulnerabilities > 0) await readVulnerabilities(source, reader)
  await reader.batch.flush()
  reader.entries.refuseIfNoneWasRead('vulnerabilities', 'cyclonedx')
  return {
    // A document without a list of vulnerabilities closes no findings.
    tools: document.hasVulnerabilities ? [reader.batch.toolWithRules(document.tool)] : [],
    findings: reader.batch.count,
    components: document.components,
    skipped: reader.entries.skipped,
    truncated: reader.batch.isTruncated,
    warnings: warnings.list(),
    category: null,
  }
}

async function readVulnerabilities(source: ReportSource, reader: VulnerabilityReader): Promise<void> {
  for await (const selected of selectJson(source.open(), SELECTION)) {
    for (const vulnerability of selected) reader.read(vulnerability)
    await reader.batch.flushFull()
    if (reader.batch.isTruncated) break
  }
}

class VulnerabilityReader {
  readonly batch: FindingBatch
  readonly entries: EntryCount
  readonly #document: CycloneDxDocument

  constructor(document: CycloneDxDocument, warnings: ReportWarnings, onFindings: OnFindings) {
    this.#document = document
    this.entries = new EntryCount(warnings)
    this.batch = new FindingBatch(onFindings)
  }

  read({ keys, value, isOversize }: SelectedValue): void {
    if (this.batch.isTruncated) return
    const vulnerability = objectOf(value)
    const findings = vulnerability === null ? null : readFindings(this.#document, vulnerability)
    if (findings === null) {
      const reason = skipReason(isOversize, vulnerability !== null)
      this.entries.addSkipped(`Vulnerability ${Number(keys[0]) + 1} ${reason}`)
      return
    }
    this.entries.addRead()
    for (const finding of findings) this.batch.add(finding)
  }
}

function skipReason(isOversize: boolean, isObject: boolean): string {
  if (isOversize) return 'is too large'
  return isObject ? 'has neither an id nor a description' : 'is not an object'
}
