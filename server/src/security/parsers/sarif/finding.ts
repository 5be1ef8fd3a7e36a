import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, DESCRIPTION_MAX, firstLine, RULE_ID_MAX, TITLE_MAX, webUrl } from '../bounded-text.ts'
import type { ParsedFinding } from '../parsed-report.ts'
import { identityOf } from './identity.ts'
import { levelOf, scannerScoreOf, severityOf } from './level.ts'
import { locationsOf, type Place, placesOf } from './location.ts'
import { messageText } from './message.ts'
import { NO_PACKAGE } from './package-facts.ts'
import { findRule, ruleReference } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { dismissalOf } from './suppression.ts'
import { cwesOf } from './taxon.ts'
import { kindOf, packageOf, vulnerabilitiesOf } from './vulnerability.ts'

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
  const ruleId = reference.id ?? rule?.id ?? null
  const message = messageText(run, result.message, rule) ?? rule?.description ?? rule?.name ?? ruleId
  if (message === null) return null
  const places = placesOf(run, result, 1 + OTHER_PLACES_MAX)
  return {
    tool: run.tool.name,
    tool_version: run.tool.version,
    type: null,
    ...severityFields(run, result, rule),
    ...dismissalFields(result),
    title: boundedText(firstLine(rule?.description ?? message), TITLE_MAX) ?? ruleId ?? run.tool.name,
    description: boundedText(message + otherPlaces(places, locationsOf(result).length), DESCRIPTION_MAX),
    native_url: webUrl(textOf(result.hostedViewerUri)) ?? rule?.helpUri ?? null,
    ...placeFields(places[0]),
    cwes: cwesOf(run, result, rule, ruleId),
    rule_id: ruleId,
    ...subjectFields({ run, result, rule, ruleId, message, place: places[0] }),
  }
}

function severityFields(run: SarifRun, result: JsonObject, rule: SarifRule | undefined) {
  const score = scannerScoreOf(result, rule)
  const vector = rule?.cvssVector ?? null
  return {
    severity: severityOf(score, levelOf(run, result, rule)),
    scanner_score: score,
    cvss_version: /^CVSS:(\d\.\d)/i.exec(vector ?? '')?.[1] ?? null,
    cvss_score: rule?.cvssScore ?? null,
    cvss_vector: vector,
  }
}

function dismissalFields(result: JsonObject) {
  const dismissal = dismissalOf(result)
  return {
    state: dismissal === null ? ('open' as const) : ('dismissed' as const),
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
  }
}

function placeFields(place: Place | undefined) {
  const path = place?.path ?? null
  return {
    path,
    start_line: path === null ? null : (place?.startLine ?? null),
    end_line: path === null ? null : (place?.endLine ?? null),
    resource_name: path === null ? (place?.address ?? place?.logicalName ?? null) : null,
  }
}

function otherPlaces(places: Place[], total: number): string {
  if (total < 2) return ''
  const names = places.slice(1).map((place) => {
    const line = place.startLine === null ? '' : `:${place.startLine}`
    return `${place.path ?? place.address ?? place.logicalName ?? 'unknown'}${line}`
  })
  const more = total > 1 + OTHER_PLACES_MAX ? `\n- and ${total - 1 - OTHER_PLACES_MAX} more` : ''
  return `\n\nAlso at:\n- ${names.join('\n- ')}${more}`
}

type Subject = {
  run: SarifRun
  result: JsonObject
  rule: SarifRule | undefined
  ruleId: string | null
  message: string
  place: Place | undefined
}

/** What the finding is about, and with it what makes it the same finding in the next report. */
function subjectFields({ run, result, rule, ruleId, message, place }: Subject) {
  const kind = kindOf(run, rule, ruleId)
  const isDependency = kind === 'dependency'
  const vulnIds = isDependency ? vulnerabilitiesOf(result, rule, ruleId) : []
  const subject = isDependency ? packageOf(result, rule, message, place?.logicalName ?? null) : NO_PACKAGE
  const vulnerabilityId = vulnIds[0] ?? ruleId
  const isIdentified = isDependency && vulnerabilityId !== null && (subject.purl ?? subject.name) !== null
  return {
    kind,
    vuln_ids: vulnIds,
    package_name: subject.name,
    package_version: subject.version,
    fixed_version: subject.fixedVersion,
    purl: subject.purl,
    secret_type: kind === 'secret' ? boundedText(ruleId ?? rule?.name ?? null, RULE_ID_MAX) : null,
    ...identityOf(result, {
      ruleId,
      path: place?.path ?? place?.address ?? place?.logicalName ?? null,
      snippet: place?.snippet ?? null,
      message,
      dependency: isIdentified ? { package: subject, vulnerabilityId } : null,
    }),
  }
}
