import type { Alert } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { type Gitlab, iso } from '../gitlab.ts'

const REPORTS = {
  code_scanning: 'sast',
  dependabot: 'dependency_scanning',
  secret_scanning: 'secret_detection',
} as const

const STATES = { open: 'detected', fixed: 'resolved', dismissed: 'dismissed' } as const

export function vulnerabilityShape(gitlab: Gitlab, alert: Alert) {
  const { details, repository, state, dismissal } = alert
  const whole = fullName(repository)
  return {
    id: alert.id,
    title: titleOf(alert),
    description: details.description,
    state: STATES[state],
    severity: details.severity,
    confidence: 'unknown',
    report_type: REPORTS[alert.type],
    project: { id: repository.id, name: repository.name, full_path: `/${whole}`, full_name: whole },
    author_id: gitlab.world.program.id,
    created_at: iso(alert.created_at),
    updated_at: iso(alert.updated_at),
    resolved_at: iso(alert.fixed_at),
    resolved_by_id: null,
    resolved_on_default_branch: state === 'fixed',
    dismissed_at: iso(dismissal?.at ?? null),
    dismissed_by_id: dismissal?.by.id ?? null,
    confirmed_at: null,
    finding: {
      id: alert.id + 1,
      report_type: REPORTS[alert.type],
      severity: details.severity,
      name: titleOf(alert),
      scanner_id: 1,
      project_id: repository.id,
      raw_metadata: JSON.stringify(metadataOf(alert)),
    },
  }
}

function titleOf({ type, details }: Alert): string {
  return type === 'secret_scanning' ? details.secretName : details.title
}

/** What the scanner reported. */
function metadataOf({ type, details }: Alert) {
  const place = { file: details.path, start_line: details.line, end_line: details.line }
  const cwes = details.cwes.map((name) => ({ type: 'cwe', name, value: name.replace('CWE-', '') }))
  const scanner = { id: details.tool.name.toLowerCase(), name: details.tool.name }
  if (type === 'dependabot') {
    const ghsa = { type: 'ghsa', name: details.ghsa, value: details.ghsa, url: `https://example.com/${details.ghsa}` }
    const cve = details.cve === null ? [] : [{ type: 'cve', name: details.cve, value: details.cve }]
    const dependency = { package: { name: details.package }, version: '4.17.20' }
    return { scanner, location: { file: 'package-lock.json', dependency }, identifiers: [ghsa, ...cve, ...cwes] }
  }
  if (type === 'secret_scanning') {
    const rule = { type: 'gitleaks_rule_id', name: details.secretName, value: details.secretType }
    const location = { ...place, commit: { sha: details.sha } }
    return { scanner, location, identifiers: [rule], raw_source_code_extract: details.secret }
  }
  const rule = { type: 'semgrep_id', name: details.rule, value: details.rule }
  return { scanner, location: place, identifiers: [rule, ...cwes] }
}

/** As the webhook describes it. */
export function vulnerabilityAttributes(gitlab: Gitlab, alert: Alert) {
  const shape = vulnerabilityShape(gitlab, alert)
  const { location, identifiers } = metadataOf(alert)
  return {
    url: `${gitlab.url}/${fullName(alert.repository)}/-/security/vulnerabilities/${alert.id}`,
    title: shape.title,
    state: shape.state,
    project_id: alert.repository.id,
    location,
    cvss: [],
    severity: shape.severity,
    severity_overridden: false,
    identifiers,
    issues: [],
    report_type: shape.report_type,
    confidence: 'unknown',
    confidence_overridden: false,
    confirmed_at: null,
    confirmed_by_id: null,
    dismissed_at: shape.dismissed_at,
    dismissed_by_id: shape.dismissed_by_id,
    resolved_at: shape.resolved_at,
    resolved_by_id: null,
    auto_resolved: false,
    resolved_on_default_branch: shape.resolved_on_default_branch,
    created_at: shape.created_at,
    updated_at: shape.updated_at,
  }
}
