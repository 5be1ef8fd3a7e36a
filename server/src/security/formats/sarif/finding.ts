import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import {
  boundedText,
  DESCRIPTION_MAX,
  firstLine,
  RULE_ID_MAX,
  TITLE_MAX,
  webUrl,
} from '../../vocabulary/bounded-text.ts'
import type { FindingKind } from '../../vocabulary/finding-kind.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { flaggedText } from './flagged-text.ts'
import { identityOf } from './identity.ts'
import { levelOf, scannerScoreOf, severityOf } from './level.ts'
import { type Place, readPlace } from './location.ts'
import { messageText } from './message.ts'
import { NO_PACKAGE } from './package-facts.ts'
import { findRule, ruleReference } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { dismissalOf } from './suppression.ts'
import { cwesOf } from './taxon.ts'
import { kindOf, packageOf, vulnerabilitiesOf } from './vulnerability.ts'

const NOT_FINDINGS = new Set<unknown>(['pass', 'notApplicable', 'informational'])
/** Locations beside the first that a description names; a result may list millions. */
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
  const locations = objectsOf(result.locations)
  const places = locations.slice(0, 1 + OTHER_PLACES_MAX).map((location) => readPlace(run, location))
  const [place] = places
  const path = place?.path ?? null
  const score = scannerScoreOf(result, rule)
  const dismissal = dismissalOf(result)
  const { kind, vulnIds, about, context, identity } = subjectOf({ run, result, rule, ruleId, message, place })
  // A plain literal: to spread parts into it takes longer than to make them, for each of very many results.
  return {
    tool: run.tool.name,
    tool_version: run.tool.version,
    kind,
    type: null,
    severity: severityOf(score, levelOf(run, result, rule)),
    state: dismissal === null ? 'open' : 'dismissed',
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
    title: boundedText(firstLine(rule?.description ?? message), TITLE_MAX) ?? ruleId ?? run.tool.name,
    description: boundedText(message + otherPlaces(places, locations.length), DESCRIPTION_MAX),
    native_url: webUrl(textOf(result.hostedViewerUri)) ?? rule?.helpUri ?? null,
    path,
    start_line: path === null ? null : (place?.startLine ?? null),
    end_line: path === null ? null : (place?.endLine ?? null),
    package_name: about.name,
    package_version: about.version,
    fixed_version: about.fixedVersion,
    purl: about.purl,
    vuln_ids: vulnIds,
    cwes: cwesOf(run, result, rule, ruleId),
    rule_id: ruleId,
    secret_type: kind === 'secret' ? boundedText(ruleId ?? rule?.name ?? null, RULE_ID_MAX) : null,
    resource_name: resourceOf(place, kind),
    scanner_score: score,
    cvss_version: rule?.cvssVersion ?? null,
    cvss_score: rule?.cvssScore ?? null,
    cvss_vector: rule?.cvssVector ?? null,
    fingerprint: identity.fingerprint,
    fingerprint_method: identity.fingerprint_method,
    relocation: identity.relocation,
    context,
  }
}

/** Of code in a file a logical location names a function or the like; of infrastructure it names the cloud resource. */
function resourceOf(place: Place | undefined, kind: FindingKind): string | null {
  if (place === undefined) return null
  if (place.path === null) return place.address ?? place.logicalName
  return kind === 'iac' || kind === 'container' ? place.logicalName : null
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
function subjectOf({ run, result, rule, ruleId, message, place }: Subject) {
  const kind = kindOf(run, rule, ruleId)
  const isDependency = kind === 'dependency'
  const vulnIds = isDependency ? vulnerabilitiesOf(result, rule, ruleId) : []
  const about = isDependency ? packageOf(result, rule, message, place?.logicalName ?? null) : NO_PACKAGE
  const vulnerabilityId = vulnIds[0] ?? ruleId
  const context = flaggedText(place?.snippet ?? null, kind === 'secret')
  const isIdentified = isDependency && vulnerabilityId !== null && (about.purl ?? about.name) !== null
  const identity = identityOf(result, {
    ruleId,
    path: place?.path ?? place?.address ?? place?.logicalName ?? null,
    context,
    message,
    line: place?.startLine ?? null,
    dependency: isIdentified ? { package: about, vulnerabilityId } : null,
  })
  return { kind, vulnIds, about, context, identity }
}
