import type { HostAlertType } from '../../codehosts/host-alert.ts'
import { toComponent, UNKNOWN_COMPONENT } from '../formats/report/dependency-finding.ts'
import { hashFingerprint } from '../formats/report/parsed-report.ts'
import { parsePackageFacts } from '../formats/sarif/package-facts.ts'
import { classifyRule, classifyScanner } from '../formats/sarif/scanner-kind.ts'
import type { IncomingFinding } from '../reconcile/report-members.ts'
import type { FindingKind } from '../vocabulary/finding.ts'
import { toPackageUrl } from '../vocabulary/package-url.ts'
import { collectVulnerabilityIds } from '../vocabulary/vulnerability-id.ts'
import type { DueAlert } from './host-alert.store.ts'

/** The names of scanners of alerts for which the host names no tool. */
const TOOLS: Record<HostAlertType, string> = {
  code_scanning: 'Code scanning',
  dependabot: 'Dependabot',
  secret_scanning: 'Secret scanning',
}

/** The scanner that raised an alert. */
function getAlertTool({ tool_name, type }: Pick<DueAlert, 'tool_name' | 'type'>): string {
  return tool_name ?? TOOLS[type]
}

/** The finding of an alert. Its identity is the alert's, wherever the problem moves. */
export function toAlertFinding(alert: DueAlert): IncomingFinding {
  const kind = getKind(alert)
  const statedIds = [alert.ghsa_id ?? '', alert.cve_id ?? '', alert.rule_id ?? '']
  const vulnIds = kind === 'dependency' ? collectVulnerabilityIds(statedIds) : []
  const component = kind === 'dependency' ? componentIn(alert) : UNKNOWN_COMPONENT
  const hasLines = kind !== 'dependency' && alert.path !== null
  return {
    tool: getAlertTool(alert),
    tool_version: alert.tool_version,
    kind,
    type: alert.type,
    severity: alert.severity,
    state: alert.status,
    dismiss_reason: alert.dismiss_reason,
    dismiss_comment: alert.dismiss_comment,
    title: alert.title,
    description: alert.description,
    native_url: alert.github_alert_url,
    path: alert.path,
    start_line: hasLines ? alert.start_line : null,
    end_line: hasLines ? alert.end_line : null,
    start_column: hasLines ? alert.start_column : null,
    end_column: hasLines ? alert.end_column : null,
    package_name: component.name,
    package_version: component.version,
    fixed_version: alert.patched_version,
    purl: component.purl,
    vuln_ids: vulnIds,
    cwes: alert.cwes,
    rule_id: alert.rule_id ?? alert.secret_type ?? vulnIds[0] ?? null,
    secret_type: kind === 'secret' ? (alert.secret_type ?? alert.rule_id) : null,
    resource_name: null,
    scanner_score: alert.cvss_score,
    cvss_version: alert.cvss_version,
    cvss_score: alert.cvss_score,
    cvss_vector: alert.cvss_vector,
    fingerprint: hashFingerprint('alert', [alert.id]),
    fingerprint_method: 'alert',
    relocation: null,
    similarity: null,
    context: alert.secret_hash,
    stated: {
      alert_id: alert.id,
      revision: alert.revision,
      finding_id: alert.finding_id,
      first_seen_at: alert.detected_at,
      seen_at: alert.updated_at,
      commit_sha: alert.commit_sha,
      dismissed_by_name: alert.dismissed_by_name,
      dismissed_at: alert.dismissed_at,
      dismissal_source: alert.dismissal_source,
    },
  }
}

/** Scanners of all kinds upload their results to code scanning. */
function getKind(alert: DueAlert): FindingKind {
  if (alert.type === 'dependabot') return 'dependency'
  if (alert.type === 'secret_scanning') return 'secret'
  const ofScanner = classifyScanner(getAlertTool(alert))
  if (ofScanner !== 'code') return ofScanner
  const isVulnerability = collectVulnerabilityIds([alert.rule_id ?? '']).length > 0
  return isVulnerability ? 'dependency' : (classifyRule(alert.rule_id ?? '') ?? 'code')
}

/** The package that the host names, else the one in the message of a scanner. */
function componentIn(alert: DueAlert) {
  const { package_ecosystem: ecosystem, package_name: name, path } = alert
  if (name === null) return toComponent({ ...parsePackageFacts(alert.description), path })
  const purl = ecosystem === null ? null : toPackageUrl(ecosystem, name)
  return toComponent({ name, version: null, purl, path })
}
