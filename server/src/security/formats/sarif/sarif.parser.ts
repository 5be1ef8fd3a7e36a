import { type Element, readSpans } from '../../../platform/json/read-spans.ts'
import { type JsonObject, objectOf } from '../../../platform/json/read-value.ts'
import { FindingBatch, type OnFindings } from '../report/finding-batch.ts'
import { type ParsedFinding, ReportError, type ReportSource, type ReportSummary } from '../report/parsed-report.ts'
import { reportCategory } from '../report/report-category.ts'
import { ReportWarnings } from '../report/report-warnings.ts'
import { isFinding, readFinding } from './finding.ts'
import { type ReadRun, readRuns } from './read-runs.ts'
import { ruleReference } from './rule.ts'
import type { SarifRun } from './sarif-run.ts'
import { toolsOfRuns } from './tools-of-runs.ts'

/** Members of a result that no finding needs and that can be most of a report: the way to a problem, its fix, its pictures. */
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
 * Reads a SARIF 2.1.0 report of any size. Two passes, because a result's rule may stand after it: first what results refer to,
 * then the results one by one. Throws ReportError when the file is no SARIF 2.1.0, JsonError when it is no JSON.
 */
export async function parseSarif(source: ReportSource, onFindings: OnFindings): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const { runs, spans } = await readRuns(source, warnings)
  const results = new ResultReader(runs, warnings, onFindings)
  for await (const { span, elements } of readSpans(source.open(), spans, UNREAD_MEMBERS)) {
    for (const element of elements) results.read(span.run, element)
    await results.batch.flushFull()
    if (results.batch.isTruncated) break
  }
  await results.batch.flush()
  results.refuseIfNoneWasReadable()
  return {
    tools: toolsOfRuns(runs, results.batch.namedRules),
    findings: results.batch.count,
    components: 0,
    skipped: results.skipped,
    truncated: results.batch.isTruncated,
    warnings: warnings.list(),
    category: reportCategory(runs.map((run) => run?.automationId ?? null)),
  }
}

class ResultReader {
  readonly batch: FindingBatch
  readonly #runs: ReadRun[]
  readonly #warnings: ReportWarnings
  skipped = 0
  #readable = 0
  #run = 0
  /** Counts the run's results from 1. */
  #index = 0
  #firstSkip = ''

  constructor(runs: ReadRun[], warnings: ReportWarnings, onFindings: OnFindings) {
    this.#runs = runs
    this.#warnings = warnings
    this.batch = new FindingBatch(onFindings)
  }

  /** Reads the run's next result. */
  read(runIndex: number, { value, isOversize }: Element): void {
    if (this.batch.isTruncated) return
    if (runIndex !== this.#run) this.#enter(runIndex)
    this.#index++
    const run = this.#runs[runIndex]
    const result = objectOf(value)
    if (isOversize) this.#skip('is very large')
    else if (result === null || run === undefined) this.#skip('is not an object')
    else if (isFinding(result)) this.#add(readFinding(run, result))
    else this.#pass(run, result)
  }

  /** What results made their run remember ends with them: there may be very many runs. */
  #enter(runIndex: number): void {
    const left = this.#runs[this.#run]
    left?.places.clear()
    left?.kinds.clear()
    this.#run = runIndex
    this.#index = 0
  }

  #add(finding: ParsedFinding | null): void {
    if (finding === null) {
      this.#skip('has neither a message nor a rule')
      return
    }
    this.#readable++
    this.batch.add(finding)
  }

  #pass(run: SarifRun, result: JsonObject): void {
    this.#readable++
    this.batch.namedRules.add(run.tool.name, ruleReference(result).id)
  }

  /** A report of unreadable results must not pass for an empty one, which would close every finding. */
  refuseIfNoneWasReadable(): void {
    if (this.skipped === 0 || this.#readable > 0) return
    throw new ReportError(`None of the report's ${this.skipped} results could be read. ${this.#firstSkip}.`, 'sarif')
  }

  #skip(reason: string): void {
    this.skipped++
    const warning = `Result ${this.#index} of run ${this.#run + 1} ${reason} and was skipped`
    this.#firstSkip ||= warning
    this.#warnings.add(warning)
  }
}
