import { type Element, readSpans } from '../../../platform/json/read-spans.ts'
import { objectOf } from '../../../platform/json/read-value.ts'
import { FindingBatch, type OnFindings } from '../report/finding-batch.ts'
import type { ParsedFinding, ReportSource, ReportSummary } from '../report/parsed-report.ts'
import { EntryCount, ReportWarnings } from '../report/report-warnings.ts'
import { readFinding } from './finding.ts'
import { type ReadRun, readRuns } from './read-runs.ts'
import { categoryOf, toolsOf } from './report-scope.ts'
import { isFinding } from './result.ts'
import { ruleReference } from './rule-reference.ts'

/** Members of a result that can be most of a report and that findings do not need. */
const UNREAD_MEMBERS = [
  'codeFlows',
  'graphs',
  'graphTraversals',
  'stacks',
  'fixes',
  'relatedLocations',
  'attachments',
  'webRequest',
  'webResponse',
  'analysisTarget',
]

/**
 * Reads a SARIF 2.1.0 report of any size in two passes, because a result's rule may come after it:
 * first everything to which results refer, then the results.
 * Throws ReportError if the file is not SARIF 2.1.0, JsonError if it is not JSON.
 */
export async function parseSarif(source: ReportSource, onFindings: OnFindings): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const { runs, spans } = await readRuns(source, warnings)
  const reader = new ResultReader(runs, warnings, onFindings)
  for await (const { span, elements } of readSpans(source.open(), spans, UNREAD_MEMBERS)) {
    for (const element of elements) reader.read(span.run, element)
    await reader.batch.flushFull()
    if (reader.batch.isTruncated) break
  }
  await reader.batch.flush()
  reader.results.refuseIfNoneWasRead('results', 'sarif')
  return {
    tools: toolsOf(runs, reader.batch.namedRules),
    findings: reader.batch.count,
    components: 0,
    skipped: reader.results.skipped,
    truncated: reader.batch.isTruncated,
    warnings: warnings.list(),
    category: categoryOf(runs),
  }
}

class ResultReader {
  readonly batch: FindingBatch
  readonly results: EntryCount
  readonly #runs: ReadRun[]
  #run = 0
  /** The number of the result in its run, from 1. */
  #number = 0

  constructor(runs: ReadRun[], warnings: ReportWarnings, onFindings: OnFindings) {
    this.#runs = runs
    this.results = new EntryCount(warnings)
    this.batch = new FindingBatch(onFindings)
  }

  /** Reads the next result of the run. */
  read(runIndex: number, { value, isOversize }: Element): void {
    if (this.batch.isTruncated) return
    if (runIndex !== this.#run) this.#enter(runIndex)
    this.#number++
    const run = this.#runs[runIndex]
    const result = objectOf(value)
    if (isOversize) this.#skip('is too large')
    else if (result === null || run === undefined) this.#skip('is not an object')
    else if (isFinding(result)) this.#add(readFinding(run, result))
    else {
      this.results.addRead()
      this.batch.namedRules.add(run.tool.name, ruleReference(result).id)
    }
  }

  /** Clears what the results of the last run have cached: a report may have many runs. */
  #enter(runIndex: number): void {
    const left = this.#runs[this.#run]
    left?.fileLocations.clear()
    left?.kinds.clear()
    this.#run = runIndex
    this.#number = 0
  }

  #add(finding: ParsedFinding | null): void {
    if (finding === null) {
      this.#skip('has neither a message nor a rule')
      return
    }
    this.results.addRead()
    this.batch.add(finding)
  }

  #skip(reason: string): void {
    this.results.addSkipped(`Result ${this.#number} of run ${this.#run + 1} ${reason}`)
  }
}
