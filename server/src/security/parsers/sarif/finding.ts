import { type JsonObject, memberOf, objectOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import {
  boundedText,
  DESCRIPTION_MAX,
  firstLine,
  NAME_MAX,
  PATH_MAX,
  RULE_ID_MAX,
  TITLE_MAX,
  webUrl,
} from '../bounded-text.ts'
import type { FindingKind, ParsedFinding } from '../parsed-report.ts'
import { kindOfMarks } from '../scanner-kind.ts'
import { vulnerabilityIds } from '../vulnerability-ids.ts'
import { identityOf } from './identity.ts'
import { levelOf, scannerScoreOf, severityOf } from './level.ts'
import { type Place, placesOf } from './location.ts'
import { messageText } from './message.ts'
import { mergedFacts, type PackageFacts, packageFactsIn, packageFactsOfName } from './package-facts.ts'
import { findRule, ruleReference } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { dismissalOf } from './suppression.ts'
import { cwesOf } from './taxon.ts'

const NOT_FINDINGS = new Set<unknown>(['pass', 'notApplicable', 'informational'])
/** Locations beside the first that a description names. */
const OTHER_PLACES_MAX = 10

/** False for a result that reports no problem (§3.27.9), or one that is gone (§3.27.24). */
export function isFinding(result: JsonObject): boolean {
  return !NOT_FINDINGS.has(result.kind) && result.baselineState !== 'absent'
}

/** A result (§3.27) as a finding; null when it says neither what is wrong nor by which rule. */
export function readFinding(run: SarifRun, result: JsonObject): ParsedFinding | null {
  const reference = ruleReference(result)
  const rule = findRule(run, reference)
  const ruleId = boundedText(reference.id ?? rule?.id ?? null, RULE_ID_MAX)
  const message = messageText(run, result.message, rule) ?? rule?.description ?? rule?.name ?? ruleId
  if (message === null) return null
