import type { Alert } from '../../hosts/types.ts'
import { simpleUser } from './accounts.ts'
import { apiUrl, pageUrl, type Urls } from './urls.ts'

/** The alert's part of an address. */
export const ALERT_PATHS = {
  code_scanning: 'code-scanning',
  dependabot: 'dependabot',
  secret_scanning: 'secret-scanning',
} as const

export function alertObject(urls: Urls, alert: Alert): Record<string, unknown> {
  const path = ALERT_PATHS[alert.type]
  const url = `${apiUrl(urls, alert.repository)}/${path}/alerts/${alert.number}`
  const common = {
    number: alert.number,
    created_at: alert.created_at,
    updated_at: alert.updated_at,
    url,
    html_url: `${pageUrl(urls, alert.repository)}/security/${path}/${alert.number}`,
  }
  if (alert.type === 'code_scanning') return { ...common, ...codeScanningFields(urls, alert, url) }
  if (alert.type === 'dependabot') return { ...common, ...dependabotFields(urls, alert) }
  return { ...common, ...secretScanningFields(urls, alert, url) }
}

/** GitHub's own words for reasons, where they differ from ours. */
const REASONS: Record<Alert['type'], Record<string, string>> = {
  code_scanning: { false_positive: 'false positive', wont_fix: "won't fix", used_in_tests: 'used in tests' },
  dependabot: { false_positive: 'inaccurate', wont_fix: 'tolerable_risk' },
  secret_scanning: {},
}

function reasonOf({ type, dismissal }: Alert): string | null {
  return dismissal === null ? null : (REASONS[type][dismissal.reason] ?? dismissal.reason)
}

function dismissalOf(urls: Urls, alert: Alert) {
  const { dismissal } = alert
  return {
    dismissed_by: dismissal === null ? null : simpleUser(urls, dismissal.by),
    dismissed_at: dismissal?.at ?? null,
    dismissed_reason: reasonOf(alert),
    dismissed_comment: dismissal?.comment ?? null,
  }
}

function codeScanningFields(urls: Urls, alert: Alert, url: string) {
  const { details, state, fixed_at } = alert
  return {
    state,
    fixed_at,
    ...dismissalOf(urls, alert),
    instances_url: `${url}/instances`,
    rule: {
      id: details.rule,
      severity: details.severity === 'low' ? 'warning' : 'error',
      security_severity_level: details.severity,
      description: details.title,
      name: details.rule,
      full_description: details.description,
      tags: ['security', ...details.cwes.map((cwe) => `external/cwe/${cwe.toLowerCase()}`)],
      help: '',
    },
    tool: { ...details.tool, guid: null },
    most_recent_instance: {
      ref: details.ref,
      analysis_key: '.github/workflows/codeql.yml:analyze',
      environment: '{}',
      category: '.github/workflows/codeql.yml:analyze',
      state,
      commit_sha: details.sha,
      message: { text: details.description },
      location: {
        path: details.path,
        start_line: details.line,
        end_line: details.line,
        start_column: 1,
        end_column: 20,
      },
      classifications: [],
    },
  }
}

function dependabotFields(urls: Urls, alert: Alert) {
  const { details } = alert
  const vulnerable = { ecosystem: details.ecosystem, name: details.package }
  const vulnerability = {
    package: vulnerable,
    severity: details.severity,
    vulnerable_version_range: details.vulnerableVersions,
    first_patched_version: details.patchedVersion === null ? null : { identifier: details.patchedVersion },
  }
  return {
    state: alert.state,
    fixed_at: alert.fixed_at,
    auto_dismissed_at: null,
    ...dismissalOf(urls, alert),
    dependency: { package: vulnerable, manifest_path: details.path, scope: 'runtime' },
    security_vulnerability: vulnerability,
    security_advisory: advisory(alert, vulnerability),
  }
}

function advisory({ details, created_at }: Alert, vulnerability: object) {
  const cve = details.cve === null ? [] : [{ type: 'CVE', value: details.cve }]
  return {
    ghsa_id: details.ghsa,
    cve_id: details.cve,
    summary: details.title,
    description: details.description,
    severity: details.severity,
    identifiers: [{ type: 'GHSA', value: details.ghsa }, ...cve],
    references: [{ url: `https://github.com/advisories/${details.ghsa}` }],
    published_at: created_at,
    updated_at: created_at,
    withdrawn_at: null,
    vulnerabilities: [vulnerability],
    cvss: { score: details.cvss.score, vector_string: details.cvss.vector },
    cwes: details.cwes.map((cwe_id) => ({ cwe_id, name: cwe_id })),
  }
}

function secretScanningFields(urls: Urls, alert: Alert, url: string) {
  const { details, state, dismissal } = alert
  return {
    state: state === 'open' ? 'open' : 'resolved',
    locations_url: `${url}/locations`,
    resolution: reasonOf(alert),
    resolved_at: dismissal?.at ?? null,
    resolved_by: dismissal === null ? null : simpleUser(urls, dismissal.by),
    resolution_comment: dismissal?.comment ?? null,
    secret_type: details.secretType,
    secret_type_display_name: details.secretName,
    secret: details.secret,
    validity: details.validity,
    first_location_detected: secretLocation(urls, alert).details,
    has_more_locations: false,
    publicly_leaked: false,
    multi_repo: false,
    push_protection_bypassed: false,
    push_protection_bypassed_by: null,
    push_protection_bypassed_at: null,
  }
}

export function secretLocation(urls: Urls, { repository, details }: Alert) {
  const url = apiUrl(urls, repository)
  const place = {
    path: details.path,
    start_line: details.line,
    end_line: details.line,
    start_column: 1,
    end_column: 41,
  }
  const commit = { commit_sha: details.sha, commit_url: `${url}/git/commits/${details.sha}` }
  const blob = { blob_sha: details.sha, blob_url: `${url}/git/blobs/${details.sha}` }
  return { type: 'commit', details: { ...place, ...blob, ...commit } }
}
