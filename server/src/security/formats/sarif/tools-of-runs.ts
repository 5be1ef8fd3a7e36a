import type { NamedRules } from '../report/named-rules.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import type { ReadRun } from './read-runs.ts'
import type { SarifRun } from './sarif-run.ts'

/**
 * The tools that a report speaks for: those of which a run scanned. A run whose `results` is null or absent did not
 * (§3.14.23); it says nothing of its tool's findings.
 */
export function toolsOfRuns(runs: readonly ReadRun[], named: NamedRules): ReportTool[] {
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
  if (runs.some((run) => run.hasFailed)) return 'It says of itself that it did not end successfully.'
  if (runs.some((run) => !run.hasResults)) return 'One of its runs has no results, so it did not scan.'
  if (runs.some((run) => run.hasOutsideResults)) return 'The report keeps results outside of its runs.'
  return isCut ? 'A run of the report could not be read.' : null
}
