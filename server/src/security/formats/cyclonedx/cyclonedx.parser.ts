import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { objectOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { FindingBatch, type OnFindings } from '../report/finding-batch.ts'
import { ReportError, type ReportSource, type ReportSummary, type ReportTool } from '../report/parsed-report.ts'
import { ReportWarnings } from '../report/report-warnings.ts'
import type { ComponentIndex } from './component-index.ts'
import { readFindings } from './finding.ts'
import { readComponents } from './read-components.ts'
import { readDocument } from './read-document.ts'

const VULNERABILITIES = 'vulnerabilities[*]'

/** Members of a vulnerability that no finding needs and that can be long. */
const UNREAD_MEMBERS = ['credits', 'tools', 'properties', 'proofOfConcept', 'workaround']

const SELECTION = selectionTree([VULNERABILITIES], { [VULNERABILITIES]: UNREAD_MEMBERS })

/**
 * Reads a CycloneDX 1.x document of any size in up to three passes: what the document is and which components its vulnerabilities refer
 * to, then those components, then the vulnerabilities one by one. A document without vulnerabilities is read once.
 * Throws ReportError when the file is no CycloneDX that is read, JsonError when it is no JSON.
 */
export async function parseCycloneDx(source: ReportSource, onFindings: OnFindings): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const document = await readDocument(source, warnings)
  await readComponents(source, document.affected, warnings)
  const reader = new VulnerabilityReader(document.tool, document.affected, warnings, onFindings)
  if (document.vulnerabilities > 0) await readVulnerabilities(source, reader)
  await reader.batch.flush()
  reader.refuseIfNoneWasReadable()
  return {
    // Only a document that speaks of vulnerabilities says that the others are gone.
    tools: document.hasVulnerabilities ? [reader.batch.toolWithRules(document.tool)] : [],
    findings: reader.batch.count,
    components: document.components,
    skipped: reader.skipped,
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
  readonly #tool: ReportTool
  readonly #components: ComponentIndex
  readonly #warnings: ReportWarnings
  skipped = 0
  #readable = 0
  #firstSkip = ''

  constructor(tool: ReportTool, components: ComponentIndex, warnings: ReportWarnings, onFindings: OnFindings) {
    this.#tool = tool
    this.#components = components
    this.#warnings = warnings
    this.batch = new FindingBatch(onFindings)
  }

  read({ at, value, isOversize }: SelectedValue): void {
    if (this.batch.isTruncated) return
    const vulnerability = objectOf(value)
    const findings = vulnerability === null ? null : readFindings(this.#tool, this.#components, vulnerability)
    if (findings === null) {
      this.#skip(at[0] as number, skipReason(isOversize, vulnerability !== null))
      return
    }
    this.#readable++
    for (const finding of findings) this.batch.add(finding)
  }

  /** A document of unreadable vulnerabilities must not pass for an empty one, which would close every finding. */
  refuseIfNoneWasReadable(): void {
    if (this.skipped === 0 || this.#readable > 0) return
    throw new ReportError(`None of the ${this.skipped} vulnerabilities could be read. ${this.#firstSkip}.`, 'cyclonedx')
  }

  #skip(index: number, reason: string): void {
    this.skipped++
    const warning = `Vulnerability ${index + 1} ${reason} and was skipped`
    this.#firstSkip ||= warning
    this.#warnings.add(warning)
  }
}

function skipReason(isOversize: boolean, isObject: boolean): string {
  if (isOversize) return 'is very large'
  return isObject ? 'has neither an id nor a description' : 'is not an object'
}
