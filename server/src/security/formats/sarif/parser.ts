import type { Element } from '../../../platform/json/read-spans.ts'
import { getMember, toObject } from '../../../platform/json/read-value.ts'
import {
  type Checkout,
  computeCheckout,
  type KnownRepository,
  type ReadRepository,
  ReportPaths,
} from '../report/checkout.ts'
import {
  formatReportedTool,
  type ParsedFinding,
  type ReportSource,
  type ReportSummary,
} from '../report/parsed-report.ts'
import { EntryCount, FindingBatch, type OnFindings, ReportWarnings } from '../report/report-reading.ts'
import { isFinding, isGone, readFinding } from './finding.ts'
import { getFileLocation, listDirectories, listLocations, readArtifactLocation } from './location.ts'
import { type ReadRuns, readResults, readRuns } from './read-runs.ts'
import { explainUnscanned, isParseError, listTools, selectCategory, UnscannedFiles } from './report-scope.ts'
import { readRuleReference } from './rule.ts'
import type { SarifRun } from './sarif-run.ts'
import { readSharedFingerprints } from './shared-fingerprints.ts'

/**
 * Reads a SARIF 2.1.0 report of any size in two passes, because a result's rule may come after it:
 * first everything to which results refer, then the results. Between them it looks at the first
 * results of each run, to know the fingerprints that say nothing.
 * Throws ReportError if the file is not SARIF 2.1.0, JsonError if it is not JSON.
 */
export async function parseSarif(
  source: ReportSource,
  onFindings: OnFindings,
  readRepository: ReadRepository,
): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const report = await readRuns(source, warnings)
  await readSharedFingerprints(source, report)
  const reader = new ResultReader(report, warnings, onFindings)
  const inferCheckout = async () => {
    const checkout = await readCheckout(source, report, await readRepository())
    report.checkout.set(checkout.directories)
    for (const run of report.runs) run?.fileLocations.clear()
    warnings.addUnlessNull(explainCheckout(checkout))
  }
  for await (const { span, elements } of readResults(source, report.spans)) {
    for (const element of elements) {
      while (!reader.read(span.run, element)) await inferCheckout()
    }
    await reader.batch.flushFull()
    if (reader.batch.isTruncated) break
  }
  await reader.batch.flush()
  reader.results.refuseIfNoneWasRead('results')
  let tools = reader.tools()
  if (report.checkout.isWanted) {
    await inferCheckout()
    tools = reader.tools()
  }
  for (const tool of tools) warnings.addUnlessNull(explainUnscanned(tool))
  return {
    tools,
    findings: reader.batch.count,
    components: 0,
    skipped: reader.results.skipped,
    truncated: reader.batch.isTruncated,
    warnings: warnings.list(),
    category: selectCategory(report.runs),
  }
}

const FILES_MAX = 100_000
const GONE_MAX = 100_000
/** As much of a fingerprint is read of stored findings. */
const COMPARED_HEX = 32

class ResultReader {
  readonly batch: FindingBatch
  readonly results: EntryCount
  readonly #report: ReadRuns
  readonly #unscanned = new UnscannedFiles()
  /** The files with results, up to a limit. */
  readonly #files = new Set<string>()
  /** The fingerprints of results that are stated to be gone, by their stream. */
  readonly #gone = new Map<string, Set<string>>()
  #run = 0
  /** The number of the result in its run, from 1. */
  #number = 0

  constructor(report: ReadRuns, warnings: ReportWarnings, onFindings: OnFindings) {
    this.#report = report
    this.results = new EntryCount(warnings)
    this.batch = new FindingBatch(onFindings)
  }

  /**
   * Reads the next result of the run. Returns false if the checkout must be known first: then the
   * same result has to be read again.
   */
  read(runIndex: number, { value, isOversize }: Element): boolean {
    if (this.batch.isTruncated) return true
    if (runIndex !== this.#run) this.#enter(runIndex)
    const run = this.#report.runs[runIndex]
    const result = toObject(value)
    const isRead = run && result && (isFinding(result) || isGone(result))
    const finding = isRead ? readFinding(run, result) : undefined
    if (this.#report.checkout.isWanted) return false
    this.#number++
    if (isOversize) this.#skip('is too large')
    else if (result === null || run === undefined) this.#skip('is not an object')
    else if (finding !== undefined && isFinding(result)) this.#add(finding, run)
    else {
      this.results.addRead()
      this.batch.namedRules.add(run.tool.name, readRuleReference(result).id)
      if (finding != null) this.#addGone(finding, run)
    }
    return true
  }

  tools() {
    const facts = { rules: this.batch.namedRules, unscanned: this.#unscanned, files: this.#files, gone: this.#gone }
    return listTools(this.#report.runs, facts)
  }

  /** Clears what the results of the last run have cached: a report may have many runs. */
  #enter(runIndex: number): void {
    const left = this.#report.runs[this.#run]
    left?.fileLocations.clear()
    left?.kinds.clear()
    this.#run = runIndex
    this.#number = 0
  }

  #add(finding: ParsedFinding | null, { subject }: SarifRun): void {
    if (finding === null) {
      this.#skip('has neither a message nor a rule')
      return
    }
    this.results.addRead()
    if (subject !== null) finding.subject = subject
    this.batch.add(finding)
    if (finding.path !== null && this.#files.size < FILES_MAX) this.#files.add(finding.path)
    if (isParseError(finding)) this.#unscanned.add(finding.tool, finding.path)
  }

  #addGone({ fingerprint, tool }: ParsedFinding, { subject }: SarifRun): void {
    const key = formatReportedTool(tool, subject)
    const ofTool = this.#gone.get(key) ?? new Set()
    if (ofTool.size < GONE_MAX) this.#gone.set(key, ofTool.add(fingerprint.slice(0, COMPARED_HEX)))
  }

  #skip(reason: string): void {
    this.results.addSkipped(`Result ${this.#number} of run ${this.#run + 1} ${reason}`)
  }
}

/**
 * Infers the checkout of a report from the files of all its results, which takes another pass over
 * them, and from the known repository.
 */
async function readCheckout(source: ReportSource, report: ReadRuns, repository: KnownRepository): Promise<Checkout> {
  const paths = new ReportPaths()
  const runs = report.runs.filter((run) => run !== undefined)
  for (const run of runs) for (const file of run.unscannedFiles.values()) paths.add(getFileLocation(run, file).path)
  for await (const { span, elements } of readResults(source, report.spans)) {
    const run = report.runs[span.run]
    for (const { value } of run === undefined ? [] : elements) {
      const [location] = listLocations(toObject(value) ?? {})
      const artifact = readArtifactLocation(getMember(location, 'physicalLocation', 'artifactLocation'))
      paths.add(getFileLocation(run as SarifRun, artifact).path)
    }
    run?.fileLocations.clear()
    if (paths.isFull) break
  }
  const workingDirectories = runs.flatMap((run) => listDirectories(run.workingDirectories))
  const { absolute, relative } = paths
  return computeCheckout([...absolute], {
    name: repository.name,
    paths: [...repository.paths, ...relative],
    workingDirectories,
  })
}

const DIRECTORY_SHOWN_MAX = 80

const FIX =
  'If this is wrong, run the tool in the top directory of the repository with relative paths, ' +
  'or state the directory in `originalUriBaseIds`.'

/** What the sender of a report should know of a checkout that is a guess; else null. */
function explainCheckout({ directories: [directory], isGuess }: Checkout): string | null {
  if (!isGuess) return null
  if (directory === undefined) return `The report has absolute paths without a common directory; they were kept. ${FIX}`
  const shown = directory.length > DIRECTORY_SHOWN_MAX ? `${directory.slice(0, DIRECTORY_SHOWN_MAX)}…` : directory
  return `The report has absolute paths. The prefix ${shown}/ was removed from them, which is a guess. ${FIX}`
}
