import { collectDigests, normalizeToolName } from '../../vocabulary/stream-name.ts'
import { formatReportedTool, type ParsedFinding, type ReportedScope, type ReportTool } from '../report/parsed-report.ts'
import type { NamedRules } from '../report/report-reading.ts'
import { getFileLocation } from './location.ts'
import type { ReadRun } from './read-runs.ts'
import { findRule } from './rule.ts'
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
type ResultFacts = {
  rules: NamedRules
  unscanned: UnscannedFiles
  files: ReadonlySet<string>
  gone: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * The tools whose findings the report lists. A run whose `results` is null or absent did not scan
 * (§3.14.23).
 */
export function listTools(runs: readonly ReadRun[], facts: ResultFacts): ReportTool[] {
  const readable = runs.filter((run) => run !== undefined)
  const isCut = readable.length < runs.length
  const byTool = Map.groupBy(readable, (run) => formatReportedTool(run.tool.name, run.subject))
  return [...byTool.values()].map((ofTool) => toTool(ofTool, isCut, facts))
}

function toTool(runs: SarifRun[], isCut: boolean, facts: ResultFacts): ReportTool {
  const { tool, subject } = runs[0] as SarifRun
  const { name, version } = tool
  const unscannedPaths = runs.flatMap((run) =>
    [...run.unscannedFiles.values()].flatMap((file) => getFileLocation(run, file).path ?? []),
  )
  const unscanned = new Set([...unscannedPaths, ...facts.unscanned.of(name)])
  const unrunRules = runs.flatMap((run) => run.unrunRules.flatMap((rule) => findRule(run, rule)?.id ?? rule.id ?? []))
  const incomplete = whyCut(runs, isCut) ?? (unscanned.size > UNSCANNED_MAX ? MANY_UNSCANNED : null)
  const failures = new Set(runs.flatMap(listFailures))
  const scope = readScope(runs, facts)
  const gone = facts.gone.get(formatReportedTool(name, subject))
  const digests = collectDigests(runs.flatMap(({ imageNames }) => imageNames))
  return {
    name,
    version,
    ...(subject === null ? {} : { subject }),
    ...(digests && { digests }),
    ...(incomplete === null ? {} : { incomplete }),
    ...(runs.some((run) => run.hasResults) ? {} : { isUnscanned: true }),
    ...(failures.size === 0 ? {} : { failures: [...failures] }),
    ...(unscanned.size === 0 || incomplete !== null ? {} : { unscanned: [...unscanned] }),
    ...(unrunRules.length === 0 ? {} : { unrunRules }),
    ...(scope === null ? {} : { scope }),
    ...(gone === undefined ? {} : { gone }),
  }
}

function whyCut(runs: SarifRun[], isCut: boolean): string | null {
  if (runs.some(({ hasManyUnscanned }) => hasManyUnscanned)) return MANY_UNSCANNED
  if (runs.some((run) => !run.hasResults)) return 'A run of the tool has no results, so it did not scan.'
  if (runs.some((run) => run.hasOutsideResults)) return 'The report has results outside its runs.'
  return isCut ? 'A run of the report could not be read.' : null
}

/** Exit codes that mean "problems found" beside 1. */
const FOUND_CODES = new Map([
  ['ansible lint', [2]],
  ['brakeman', [3]],
  ['cfn lint', [2, 4, 6, 8, 10, 12, 14]],
  ['clippy', [101]],
  ['detekt', [2]],
  ['grype', [2]],
  ['infer', [2]],
  ['kics', [20, 30, 40, 50, 60]],
  ['php codesniffer', [2]],
  ['phpcs', [2]],
  ['pmd', [4]],
  ['prowler', [3]],
  ['psalm', [2]],
  ['pylint', [4, 8, 12, 16, 20, 24, 28]],
  ['retire.js', [13]],
  ['slither', [255]],
  ['terrascan', [3]],
  ['tflint', [2]],
  ['wizcli', [4]],
])

/**
 * What a run states of failures. An invocation that failed only because of files or rules that it
 * names has not failed as a whole, unless it found nothing: it may have read none of them.
 */
function listFailures(run: SarifRun): string[] {
  const isUnresolved = [...run.unscannedFiles.values()].some((file) => getFileLocation(run, file).path === null)
  return run.invocations
    .filter((invocation) => invocation !== undefined)
    .flatMap((invocation) => {
      const { hasFailed, exitCode, hasSignal, locatedErrors, otherErrors } = invocation
      const isExplained = locatedErrors > 0 && otherErrors.size === 0 && !run.isEmpty && !isUnresolved
      const isFound = exitCode === 1 || FOUND_CODES.get(normalizeToolName(run.tool.name))?.includes(exitCode ?? 0)
      // Also a code for "found" is a failure if nothing was.
      const isFailure = exitCode !== null && exitCode !== 0 && (!isFound || run.isEmpty)
      return [
        ...(hasFailed && !isExplained ? ['executionSuccessful is false'] : []),
        ...(isFailure && !isExplained ? [`the exit code is ${exitCode}${run.isEmpty ? ' without results' : ''}`] : []),
        ...(hasSignal ? ['a signal ended it'] : []),
        ...[...otherErrors].map((error) => (error === '' ? 'it states an error' : `it states the error "${error}"`)),
      ]
    })
}

/** Which files and rules the runs list; null if they list none. */
function readScope(runs: SarifRun[], { rules: named, files: withResults }: ResultFacts): ReportedScope | null {
  const rules = new Set<string>()
  const files = new Set<string>()
  for (const run of runs) {
    for (const { rulesById } of [run.driver, ...run.extensions]) for (const id of rulesById.keys()) rules.add(id)
    // Files alone are no reason to infer a checkout.
    const { isWanted } = run.checkout
    for (const artifact of run.artifacts) {
      const path = artifact === undefined ? null : getFileLocation(run, artifact).path
      if (path !== null) files.add(path)
    }
    run.checkout.isWanted = isWanted
  }
  if (rules.size === 0 && files.size === 0) return null
  const { name } = (runs[0] as SarifRun).tool
  return {
    files: [...files].filter((path) => !withResults.has(path)).length,
    rules: [...rules].filter((id) => !named.has(name, id)).length,
    hasFile: (path) => files.has(path) || withResults.has(path),
    hasRule: (id) => rules.has(id) || named.has(name, id),
  }
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
