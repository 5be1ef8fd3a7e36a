import type { NamedRules } from '../report/finding-batch.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import type { ReadRun } from './read-runs.ts'
import type { SarifRun } from './sarif-run.ts'

/**
 * The tools whose findings the report lists: those with a run that scanned. A run whose `results`
 * is null or absent did not scan (§3.14.23).
 */
export function toolsOf(runs: readonly ReadRun[], named: NamedRules): ReportTool[] {
  const readable = runs.filter((run) => run !== undefined)
  const isCut = readable.length < runs.length
  return [...Map.groupBy(readable, (run) => run.tool.name).values()]
    .filter((ofTool) => ofTool.some((run) => run.hasResults))
    .map((ofTool) => toolOf(ofTool, isCut, named))
}

function toolOf(runs: SarifRun[], isCut: boolean, named: NamedRules): ReportTool {
  const { name, version } = (runs[0] as SarifRun).tool
  const declared = new Set(runs.flatMap(declaredRules))
  const incomplete = whyIncomplete(runs, isCut)
  return {
    name,
    version,
    rules: Math.max(declared.size, named.count(name)),
    ...(incomplete === null ? {} : { incomplete }),
  }
}

function declaredRules({ driver, extensions }: SarifRun): string[] {
  return [driver, ...extensions].flatMap((component) => [...component.rulesById.keys()])
}

function whyIncomplete(runs: SarifRun[], isCut: boolean): string | null {
  if (runs.some((run) => run.hasFailed)) return 'The report states that the tool did not finish successfully.'
  if (runs.some((run) => !run.hasResults)) return 'A run of the tool has no results, so it did not scan.'
  if (runs.some((run) => run.hasOutsideResults)) return 'The report has results outside its runs.'
  return isCut ? 'A run of the report could not be read.' : null
}

const CATEGORY_MAX = 100

/**
 * The category that the report itself states in `automationDetails.id` (§3.17.3) of its runs: the
 * id without its last part, which identifies the execution. Null if there is none or if runs
 * disagree.
 */
export function categoryOf(runs: readonly ReadRun[]): string | null {
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
