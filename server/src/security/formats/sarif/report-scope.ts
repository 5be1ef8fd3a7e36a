import type { ParsedFinding, ReportTool } from '../report/parsed-report.ts'
import type { NamedRules } from '../report/report-reading.ts'
import { getFileLocation } from './location.ts'
import type { ReadRun } from './read-runs.ts'
import type { SarifRun } from './sarif-run.ts'

/** The number of files whose findings are kept while those of other files are closed. */
const UNSCANNED_MAX = 1000
const MANY_UNSCANNED = `The tool could not scan more than ${UNSCANNED_MAX} files.`

/** By tool, the files of which a result states that they could not be parsed. */
export class UnscannedFiles {
  readonly #byTool = new Map<string, Set<string>>()

  /** Files beyond the limit are not kept: then the report closes nothing of the tool. */
  add(tool: string, path: string | null): void {
    const files = this.#byTool.get(tool) ?? new Set()
    if (path !== null && files.size <= UNSCANNED_MAX) this.#byTool.set(tool, files.add(path))
  }

  of(tool: string): Iterable<string> {
    return this.#byTool.get(tool) ?? []
  }
}

/** Rules of Python linters for a file that is not Python, after which no other rule is run. */
const PARSE_ERROR_RULES = new Set(['invalid-syntax', 'syntax-error', 'E999', 'E0001'])

/** Ruff's message for syntax that is valid in a newer version of Python. All rules are run. */
const NEWER_SYNTAX = /^Cannot use .+ on Python \d/

/** True if a finding means that its file could not be parsed. Ruff reports this as a result. */
export function isParseError({ rule_id, description }: ParsedFinding): boolean {
  return rule_id !== null && PARSE_ERROR_RULES.has(rule_id) && !NEWER_SYNTAX.test(description ?? '')
}

/** What the results of a report add to the statements about its tools. */
type ResultFacts = { rules: NamedRules; unscanned: UnscannedFiles }

/**
 * The tools whose findings the report lists: those with a run that scanned. A run whose `results`
 * is null or absent did not scan (§3.14.23).
 */
export function listTools(runs: readonly ReadRun[], facts: ResultFacts): ReportTool[] {
  const readable = runs.filter((run) => run !== undefined)
  const isCut = readable.length < runs.length
  return [...Map.groupBy(readable, (run) => run.tool.name).values()]
    .filter((ofTool) => ofTool.some((run) => run.hasResults))
    .map((ofTool) => toTool(ofTool, isCut, facts))
}

function toTool(runs: SarifRun[], isCut: boolean, { rules, unscanned: byResults }: ResultFacts): ReportTool {
  const { name, version } = (runs[0] as SarifRun).tool
  const components = runs.flatMap(({ driver, extensions }) => [driver, ...extensions])
  const declared = new Set(components.flatMap((component) => [...component.rulesById.keys()]))
  const named = { name, version, rules: Math.max(declared.size, rules.count(name)) }
  const unscannedPaths = runs.flatMap((run) =>
    [...run.unscannedFiles.values()].flatMap((file) => getFileLocation(run, file).path ?? []),
  )
  const unscanned = new Set([...unscannedPaths, ...byResults.of(name)])
  const incomplete = whyIncomplete(runs, isCut) ?? (unscanned.size > UNSCANNED_MAX ? MANY_UNSCANNED : null)
  if (incomplete !== null) return { ...named, incomplete }
  return unscanned.size === 0 ? named : { ...named, unscanned: [...unscanned] }
}

const FAILED = 'The report states that the tool did not finish successfully'

function whyIncomplete(runs: SarifRun[], isCut: boolean): string | null {
  if (runs.some(hasFailedWhole)) {
    const namesFiles = runs.some(({ unscannedFiles }) => unscannedFiles.size > 0)
    return namesFiles ? `${FAILED}, and not only because of the files that it names.` : `${FAILED}.`
  }
  if (runs.some(({ hasManyUnscannedFiles }) => hasManyUnscannedFiles)) return MANY_UNSCANNED
  if (runs.some((run) => !run.hasResults)) return 'A run of the tool has no results, so it did not scan.'
  if (runs.some((run) => run.hasOutsideResults)) return 'The report has results outside its runs.'
  return isCut ? 'A run of the report could not be read.' : null
}

/**
 * True if an invocation failed for another reason than files that it could not scan. A tool that
 * found nothing in any file may have read none of them.
 */
function hasFailedWhole(run: SarifRun): boolean {
  const failed = run.invocations.filter((invocation) => invocation?.hasFailed)
  if (failed.length === 0) return false
  const isUnresolved = [...run.unscannedFiles.values()].some((file) => getFileLocation(run, file).path === null)
  return (
    run.isEmpty ||
    isUnresolved ||
    failed.some(({ errorsInFiles, otherErrors }) => errorsInFiles === 0 || otherErrors > 0)
  )
}

const SHOWN_MAX = 3
const SHOWN_CHARS_MAX = 40

/** What the sender of a report should know of the files that a tool could not scan. */
export function explainUnscanned({ name, unscanned = [] }: ReportTool): string | null {
  if (unscanned.length === 0) return null
  const shown = unscanned.slice(0, SHOWN_MAX).map(shortened).join(', ')
  const more = unscanned.length > SHOWN_MAX ? ` and ${unscanned.length - SHOWN_MAX} more` : ''
  return `The report states that ${shortened(name)} could not scan ${shown}${more}. Findings in these files were not closed.`
}

function shortened(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `…${text.slice(-SHOWN_CHARS_MAX)}` : text
}

const CATEGORY_MAX = 100

/**
 * The category that the report itself states in `automationDetails.id` (§3.17.3) of its runs: the
 * id without its last part, which identifies the execution. Null if there is none or if runs
 * disagree.
 */
export function selectCategory(runs: readonly ReadRun[]): string | null {
  const categories = new Set(runs.map((run) => categoryIn(run?.automationId ?? null)))
  const [category = null] = categories
  return categories.size === 1 ? category : null
}

/** Other characters than those of a category become `-`. */
function categoryIn(automationId: string | null): string | null {
  const end = automationId?.lastIndexOf('/') ?? -1
  if (automationId === null || end <= 0) return null
  return automationId
    .slice(0, end)
    .replace(/[^A-Za-z0-9._/:-]+/g, '-')
    .slice(0, CATEGORY_MAX)
}
