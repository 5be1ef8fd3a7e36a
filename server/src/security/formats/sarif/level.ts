import { integerOf, type JsonObject, memberOf, textOf } from '../../../platform/json/read-value.ts'
import type { Severity } from '../../vocabulary/severity.ts'
import { scoreOf, severityOfScore } from '../../vocabulary/severity.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'

const SEVERITY_OF_LEVEL = new Map<string, Severity>([
  ['error', 'high'],
  ['warning', 'medium'],
  ['note', 'low'],
  ['none', 'info'],
])

/** The result's level by §3.27.10: its own, else none unless it failed, else as the invocation or the rule configures it, else warning. */
export function levelOf(run: SarifRun, result: JsonObject, rule: SarifRule | undefined): string {
  const own = knownLevel(textOf(result.level))
  if (own !== null) return own
  const kind = textOf(result.kind)
  if (kind !== null && kind !== 'fail') return 'none'
  return overriddenLevel(run, result, rule) ?? knownLevel(rule?.level ?? null) ?? 'warning'
}

function overriddenLevel(run: SarifRun, result: JsonObject, rule: SarifRule | undefined): string | null {
  const invocation = integerOf(memberOf(result, 'provenance', 'invocationIndex'), 0)
  if (invocation === null || rule === undefined) return null
  return knownLevel(run.levelsByInvocation[invocation]?.get(rule) ?? null)
}

function knownLevel(level: string | null): string | null {
  return level !== null && SEVERITY_OF_LEVEL.has(level) ? level : null
}

/** `security-severity` of the result, else of its rule: the scanner's own score. */
export function scannerScoreOf(result: JsonObject, rule: SarifRule | undefined): number | null {
  return scoreOf(memberOf(result, 'properties', 'security-severity')) ?? rule?.securitySeverity ?? null
}

/** Severity by the scanner's score where there is one, else by level. */
export function severityOf(score: number | null, level: string): Severity {
  return score === null ? (SEVERITY_OF_LEVEL.get(level) ?? 'medium') : severityOfScore(score)
}
