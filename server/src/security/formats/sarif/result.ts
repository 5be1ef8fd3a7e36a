import { integerOf, type JsonObject, memberOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, COMMENT_MAX } from '../../vocabulary/bounded-text.ts'
import { type Severity, scoreOf, severityOfScore } from '../../vocabulary/severity.ts'
import type { Dismissal } from '../report/dependency-finding.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'

const NO_PROBLEM = new Set<unknown>(['pass', 'notApplicable', 'informational'])

/** False for a result without a problem (§3.27.9), and for one that is fixed (§3.27.24). */
export function isFinding(result: JsonObject): boolean {
  return !NO_PROBLEM.has(result.kind) && result.baselineState !== 'absent'
}

/**
 * The dismissal of a suppressed result (§3.27.23): it has suppressions, and all are accepted. A
 * suppression without status is accepted (§3.35.3). Null for an open result.
 */
export function dismissalOf(result: JsonObject): Dismissal | null {
  const suppressions = objectsOf(result.suppressions)
  const first = suppressions[0]
  if (first === undefined || !suppressions.every(isAccepted)) return null
  const justification = suppressions
    .map((suppression) => textOf(suppression.justification))
    .find((text) => text !== null)
  return {
    reason: first.kind === 'inSource' ? 'suppressed_in_source' : 'suppressed_externally',
    comment: boundedText(justification ?? null, COMMENT_MAX),
  }
}

function isAccepted(suppression: JsonObject): boolean {
  return suppression.status === undefined || suppression.status === null || suppression.status === 'accepted'
}

const SEVERITY_OF_LEVEL = new Map<string, Severity>([
  ['error', 'high'],
  ['warning', 'medium'],
  ['note', 'low'],
  ['none', 'info'],
])

/** The severity by the scanner's score, else by the level of the result. */
export function severityOf(score: number | null, level: string): Severity {
  return score === null ? (SEVERITY_OF_LEVEL.get(level) ?? 'medium') : severityOfScore(score)
}

/** The scanner's score: `security-severity` of the result, else of its rule. */
export function scannerScoreOf(result: JsonObject, rule: SarifRule | undefined): number | null {
  return scoreOf(memberOf(result, 'properties', 'security-severity')) ?? rule?.securitySeverity ?? null
}

/**
 * The level of a result by §3.27.10: its own level; else `none` unless it failed; else the level
 * that the invocation or the rule configures; else `warning`.
 */
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
