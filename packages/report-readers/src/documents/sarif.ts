import { ReportFileError } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'
import { indexOf, type JsonObject, objectOf, objectsOf, textOf } from './json-value.ts'
import { SarifComponent, SarifRules } from './sarif-rules.ts'
import { type Selected, selectJson } from './select-json.ts'
import { type AnySeverity, noFindings, type SeverityCounts, scoreOf, severityOfScore } from './severity.ts'

/** What a scan found: the names of its tools, and the number of open findings by severity. */
export type ScanFindings = { tools: string[]; counts: SeverityCounts }

const RULES = [
  'version',
  'runs[]:type',
  'runs[].tool.driver.name',
  'runs[].tool.driver.rules[]',
  'runs[].tool.extensions[]',
  'runs[].invocations[].ruleConfigurationOverrides[]',
]
const RESULT = 'runs[].results[]'

/**
 * Counts the open findings of a SARIF 2.1.0 file in two passes, because the rule of a result may come
 * after it. The severity is that of the server: `security-severity` of the result or its rule, else
 * the level by §3.27.10. Throws ReportFileError.
 */
export async function readSarif(file: FoundFile): Promise<ScanFindings> {
  const runs = await readRuns(file)
  const counts = noFindings()
  for await (const { indexes, value } of selectJson(file, [RESULT])) {
    const run = runs[indexes[0] ?? 0]
    const result = objectOf(value)
    const severity = run === undefined || result === null ? null : severityOf(run, result)
    if (severity !== null && severity !== 'info') counts[severity]++
  }
  const names = runs.map(({ driver }) => driver.name ?? 'unknown')
  return { tools: [...new Set(names)], counts }
}

async function readRuns(file: FoundFile): Promise<SarifRules[]> {
  const runs: SarifRules[] = []
  let version: unknown
  for await (const selected of selectJson(file, RULES)) {
    if (selected.path === 'version') version = selected.value
    else if (selected.path === 'runs[]:type') runs.push(new SarifRules())
    else readMember(runs.at(-1) as SarifRules, selected)
  }
  if (version === '2.1.0') return runs
  const found = version === undefined ? 'no `version`' : `version ${JSON.stringify(version).slice(0, 30)}`
  throw new ReportFileError(file, `expected SARIF 2.1.0, found ${found}`)
}

function readMember(run: SarifRules, { path, indexes, value }: Selected): void {
  const index = indexes[1] ?? 0
  if (path === 'runs[].tool.driver.name') run.driver.name = textOf(value)
  else if (path === 'runs[].tool.driver.rules[]') run.driver.add(index, value)
  else if (path === 'runs[].tool.extensions[]') run.extensions[index] = extensionOf(objectOf(value))
  else run.addOverride(index, value)
}

function extensionOf(value: JsonObject | null): SarifComponent {
  const component = new SarifComponent()
  component.name = textOf(value?.name)
  component.guid = textOf(value?.guid)?.toLowerCase() ?? null
  if (Array.isArray(value?.rules)) for (const [index, rule] of value.rules.entries()) component.add(index, rule)
  return component
}

/** Kinds of results without a problem (§3.27.9). */
const NO_PROBLEM = new Set<unknown>(['pass', 'notApplicable', 'informational'])

/** The severity of an open finding; null for a result that is none, or that is suppressed. */
function severityOf(run: SarifRules, result: JsonObject): AnySeverity | null {
  if (NO_PROBLEM.has(result.kind) || result.baselineState === 'absent' || isSuppressed(result)) return null
  const rule = run.ofResult(result)
  const message = objectOf(result.message)
  const isNamed = textOf(result.ruleId) ?? textOf(objectOf(result.rule)?.id) ?? rule?.id ?? null
  if (isNamed === null && !rule?.hasText && message === null) return null
  const score = scoreOf(objectOf(result.properties)?.['security-severity']) ?? rule?.score ?? null
  return score === null ? severityOfLevel(levelOf(run, result)) : severityOfScore(score)
}

/** True if the result has suppressions, and all are accepted (§3.27.23, §3.35.3). */
function isSuppressed(result: JsonObject): boolean {
  const suppressions = objectsOf(result.suppressions)
  return suppressions.length > 0 && suppressions.every(({ status }) => (status ?? 'accepted') === 'accepted')
}

const SEVERITY_OF_LEVEL = new Map<string, AnySeverity>([
  ['error', 'high'],
  ['warning', 'medium'],
  ['note', 'low'],
  ['none', 'info'],
])

function severityOfLevel(level: string): AnySeverity {
  return SEVERITY_OF_LEVEL.get(level) ?? 'medium'
}

/** The level of a result by §3.27.10. */
function levelOf(run: SarifRules, result: JsonObject): string {
  const own = knownLevel(result.level)
  if (own !== null) return own
  const kind = textOf(result.kind)
  if (kind !== null && kind !== 'fail') return 'none'
  const rule = run.ofResult(result)
  const invocation = indexOf(objectOf(result.provenance)?.invocationIndex)
  const overridden = rule === undefined || invocation === null ? null : run.overriddenLevel(invocation, rule)
  return knownLevel(overridden) ?? knownLevel(rule?.level) ?? 'warning'
}

function knownLevel(level: unknown): string | null {
  return typeof level === 'string' && SEVERITY_OF_LEVEL.has(level) ? level : null
}
