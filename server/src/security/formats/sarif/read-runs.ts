import { createSelectionTree, type JsonSpan } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { readSpans } from '../../../platform/json/read-spans.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { CheckoutDirectories } from '../report/checkout.ts'
import { listCommonNames } from '../report/directory.ts'
import { ReportError, type ReportSource } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-reading.ts'
import { isRootBase, listDirectories } from './location.ts'
import { collectRuleCwes, findRule } from './rule.ts'
import { RUN_MEMBERS } from './run-members.ts'
import { createRun, RunBudget, type SarifRun } from './sarif-run.ts'
import { classifyScanner } from './scanner-kind.ts'

const RUNS_MAX = 10_000
const VERSION = '2.1.0'

const UNREAD_NOTIFICATION_MEMBERS = ['exception', 'relatedLocations', 'properties']

const SELECTION = createSelectionTree(
  [
    'version',
    'runs:type',
    'runs[*]:type',
    'runs[*].results:type',
    'runs[*].results[*]:span',
    'runs[*].externalPropertyFileReferences.results:type',
    'inlineExternalProperties[*].results[*]:type',
    ...Object.keys(RUN_MEMBERS),
  ],
  {
    'runs[*].invocations[*].toolExecutionNotifications[*]': UNREAD_NOTIFICATION_MEMBERS,
    'runs[*].invocations[*].toolConfigurationNotifications[*]': UNREAD_NOTIFICATION_MEMBERS,
  },
)

/**
 * Members of a result that can be most of a report, and that findings need at most if they are
 * short.
 */
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
]

/** A run; undefined if it is not an object. */
export type ReadRun = SarifRun | undefined
/** Where some results of a run are in the file. */
type ResultSpan = JsonSpan & { run: number }
export type ReadRuns = { runs: ReadRun[]; spans: ResultSpan[]; checkout: CheckoutDirectories }

/**
 * The first pass over a SARIF file: reads all members of the runs to which results refer, and finds
 * where the results are. It checks the grammar of everything but the results.
 */
export async function readRuns(source: ReportSource, warnings: ReportWarnings): Promise<ReadRuns> {
  const reader = new RunsReader(warnings)
  for await (const batch of selectJson(source.open(), SELECTION)) {
    for (const selected of batch) reader.read(selected)
  }
  return reader.finish()
}

/** A pass over the results of the runs. */
export function readResults(source: ReportSource, spans: readonly ResultSpan[]) {
  return readSpans(source.open(), spans, UNREAD_MEMBERS)
}

class RunsReader {
  readonly #warnings: ReportWarnings
  readonly #budget: RunBudget
  readonly #checkout = new CheckoutDirectories()
  readonly #runs: ReadRun[] = []
  readonly #spans: ResultSpan[] = []
  #version: unknown
  #runsType: unknown
  /** True if an inline external property file has results (§3.13.5). */
  #hasOutsideResults = false

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
    this.#budget = new RunBudget(warnings)
  }

  read({ path, keys, value, isOversize }: SelectedValue): void {
    const [index = 0, ...below] = keys as number[]
    if (isOversize) this.#warnings.add(`The member ${path} is too large; it was not read.`)
    else if (path === 'version') this.#version = value
    else if (path === 'runs:type') this.#checkRuns(value)
    else if (path === 'runs[*]:type') this.#begin(index, value)
    else if (path === 'runs[*].results:type') this.#checkResults(index, value)
    else if (path === 'runs[*].results[*]:span') this.#keepSpan(index, value as JsonSpan)
    else if (path === 'runs[*].externalPropertyFileReferences.results:type') this.#refuseExternalResults(index)
    else if (path === 'inlineExternalProperties[*].results[*]:type') this.#hasOutsideResults = true
    else RUN_MEMBERS[path]?.({ run: this.#runs[index] as SarifRun, indexes: below, value, budget: this.#budget })
  }

  finish(): ReadRuns {
    const version = this.#version
    if (typeof version !== 'string') {
      throw new ReportError('The file has `runs` but no `version`, so it is not a SARIF 2.1.0 report.')
    }
    if (version !== VERSION) {
      const shown = JSON.stringify(version.slice(0, 30))
      throw new ReportError(`The SARIF version ${shown} is not supported; use SARIF ${VERSION}.`)
    }
    // §3.13.4 allows null for a report without runs.
    if (this.#runsType !== 'array' && this.#runsType !== 'null') {
      throw new ReportError('The file is not a SARIF report: its member `runs` is not an array.')
    }
    if (this.#hasOutsideResults) this.#warnings.add('The report has results outside its runs; they were not read.')
    for (const [index, run] of this.#runs.entries()) if (run !== undefined) this.#finishRun(run, index)
    setDirectories(this.#runs.filter((run) => run !== undefined))
    return { runs: this.#runs, spans: this.#spans, checkout: this.#checkout }
  }

  /** A repeated member is refused, because tools disagree on which one counts. */
  #checkRuns(type: unknown): void {
    if (this.#runsType !== undefined) throw new ReportError('The report has the member `runs` twice.')
    this.#runsType = type
  }

  #finishRun(run: SarifRun, index: number): void {
    if (run.driver.name === null)
      this.#warnings.add(`Run ${index + 1} does not name its tool; the tool is shown as "unknown".`)
    run.hasOutsideResults = this.#hasOutsideResults
    finishRun(run)
  }

  #begin(index: number, type: unknown): void {
    if (index >= RUNS_MAX) throw new ReportError(`The SARIF report has more than ${RUNS_MAX} runs.`)
    this.#runs[index] = type === 'object' ? createRun(this.#checkout) : undefined
    if (type !== 'object') this.#warnings.add(`Run ${index + 1} is not an object; it was skipped.`)
  }

  /** Unreadable results fail the report, because an empty list would close the tool's findings. */
  #checkResults(index: number, type: unknown): void {
    const run = this.#runs[index]
    if (run?.hasResults) throw new ReportError(`Run ${index + 1} has the member \`results\` twice.`)
    if (run !== undefined && type === 'array') run.hasResults = true
    if (type === 'array' || type === 'null') return
    throw new ReportError(`The results of run ${index + 1} are not an array.`)
  }

  #keepSpan(index: number, span: JsonSpan): void {
    const run = this.#runs[index]
    if (run !== undefined) run.isEmpty = false
    this.#spans.push({ run: index, ...span })
  }

  #refuseExternalResults(index: number): never {
    throw new ReportError(`Run ${index + 1} has its results in other files; configure the tool to write a single file.`)
  }
}

/** Scanners of images alone. */
const IMAGE_SCANNERS = /^(?:docker scout|dockle)\b/i

/** Directories of machines in which checkouts have names that say nothing. */
const TEMPORARY = /^(?:\/private)?\/(?:tmp|var\/tmp|var\/folders(?:\/.*)?)$/

/**
 * Runs of a report that state different tops below one directory, such as those of Snyk in each
 * service of a repository, have paths from that directory. Tops of one name are the same checkout
 * on several machines.
 */
function setDirectories(runs: readonly SarifRun[]): void {
  const tops = [...new Set(runs.flatMap(({ rootDirectories: [top] }) => top ?? []))]
  const common = listCommonNames(tops.map((top) => `${top}/`)).join('/')
  const names = new Set(tops.map((top) => top.slice(top.lastIndexOf('/') + 1)))
  if (common === '' || TEMPORARY.test(common) || names.size < tops.length) return
  for (const run of runs) run.directory = (run.rootDirectories[0] ?? common).slice(common.length + 1)
}

/** Sets the members that need the whole run. */
function finishRun(run: SarifRun): void {
  run.tool.name = run.driver.name ?? 'unknown'
  run.kind = classifyScanner(run.tool.name)
  run.isImage ||= IMAGE_SCANNERS.test(run.tool.name)
  const roots = [...run.uriBases].filter(([id]) => isRootBase(run, id))
  // The directories that the report states as the top of the repository, outermost first.
  run.rootDirectories = listDirectories(roots.map(([, base]) => base.uri))
  for (const component of [run.driver, ...run.extensions]) {
    for (const rule of component.rules) if (rule !== undefined) rule.cwes = collectRuleCwes(run, rule)
  }
  for (const { invocation, rule: reference, level } of run.overrides) {
    const rule = findRule(run, reference)
    if (rule === undefined) continue
    const levels = run.levelsByInvocation[invocation] ?? new Map()
    run.levelsByInvocation[invocation] = levels.set(rule, level)
  }
}
