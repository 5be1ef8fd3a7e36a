import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, DESCRIPTION_MAX, RULE_ID_MAX, webUrl } from '../../vocabulary/bounded-text.ts'
import type { FindingKind } from '../../vocabulary/finding.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { type ResultLocation, readLocation } from './location.ts'
import { resourceNameOf } from './resource-name.ts'
import { dismissalOf, levelOf, scannerScoreOf, severityOf } from './result.ts'
import { messageText, OTHER_LOCATIONS_MAX, otherLocations } from './result-text.ts'
import { findRule, ruleReference } from './rule-reference.ts'
import type { SarifRun } from './sarif-run.ts'
import { subjectOf } from './subject.ts'
import { titleOf } from './title.ts'
import { cwesOf } from './weakness.ts'

/** The finding of a result (§3.27); null if the result has neither a message nor a rule. */
export function readFinding(run: SarifRun, result: JsonObject): ParsedFinding | null {
  const reference = ruleReference(result)
  const rule = findRule(run, reference)
  const ruleId = reference.id ?? rule?.id ?? null
  const message = messageText(run, result.message, rule) ?? rule?.description ?? rule?.name ?? ruleId
  if (message === null) return null
  const locations = objectsOf(result.locations)
  const resolved = locations.slice(0, 1 + OTHER_LOCATIONS_MAX).map((location) => readLocation(run, location))
  const [location] = resolved
  const path = location?.path ?? null
  const score = scannerScoreOf(result, rule)
  const dismissal = dismissalOf(result)
  const { kind, vulnIds, about, context, similarity, identity } = subjectOf({
    run,
    result,
    rule,
    ruleId,
    message,
    location,
  })
  // Spreading parts into this object would take longer than making them. Reports have many results.
  return {
    tool: run.tool.name,
    tool_version: run.tool.version,
    kind,
    type: null,
    severity: severityOf(score, levelOf(run, result, rule)),
    state: dismissal === null ? 'open' : 'dismissed',
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
    title: titleOf({ rule, ruleId, message, path }) ?? ruleId ?? run.tool.name,
    description: boundedText(message + otherLocations(resolved, locations.length), DESCRIPTION_MAX),
    native_url: webUrl(textOf(result.hostedViewerUri)) ?? rule?.helpUri ?? null,
    path,
    start_line: path === null ? null : (location?.startLine ?? null),
    end_line: path === null ? null : (location?.endLine ?? null),
    start_column: isInLines(location) ? location.startColumn : null,
    end_column: isInLines(location) ? location.endColumn : null,
    package_name: about.name,
    package_version: about.version,
    fixed_version: about.fixedVersion,
    purl: about.purl,
    vuln_ids: vulnIds,
    cwes: cwesOf(run, result, rule, ruleId),
    rule_id: ruleId,
    secret_type: kind === 'secret' ? boundedText(ruleId ?? rule?.name ?? null, RULE_ID_MAX) : null,
    resource_name: resourceOf(location, kind, message),
    scanner_score: score,
    cvss_version: rule?.cvssVersion ?? null,
    cvss_score: rule?.cvssScore ?? null,
    cvss_vector: rule?.cvssVector ?? null,
    fingerprint: identity.fingerprint,
    fingerprint_method: identity.fingerprint_method,
    relocation: identity.relocation,
    similarity,
    context,
  }
}

/** Columns without a line of a file say nothing. */
function isInLines(location: ResultLocation | undefined): location is ResultLocation {
  return location !== undefined && location.path !== null && location.startLine !== null
}

/** A logical location is a cloud resource in infrastructure, and a function or the like in code. */
function resourceOf(location: ResultLocation | undefined, kind: FindingKind, message: string): string | null {
  if (location === undefined) return null
  if (location.path === null) return location.address ?? location.logicalName
  return kind === 'iac' || kind === 'container' ? resourceNameOf({ ...location, message }) : null
}
