import type { Sql } from '../src/platform/db/sql.ts'
import { buildFindingDismissal } from '../src/security/findings/finding.store.ts'
import { SINGLE_DETAIL } from '../src/security/vocabulary/finding.ts'
import type { Json } from '../test/support/json.ts'

/**
 * The newest 1,000 findings that match the filters `state`, `scanner` and `path`: rows, then
 * objects in the form of the response of GET /v1/security/findings.
 */
export async function listFindings(sql: Sql, query: URLSearchParams) {
  const [state, scanner, path] = [query.get('state'), query.get('scanner'), query.get('path')]
  const dismissal = buildFindingDismissal(sql, query.get('org') ?? '')
  const rows = await sql`
    select finding.id, stream.origin, stream.source, stream.tool, stream.tool_version, finding.kind, finding.type,
      finding.severity, finding.scanner_score, finding.state, finding.title, finding.description, finding.native_url, repository.name,
      repository.provider, repository.provider_id, stream.commit_sha, finding.last_commit_sha, stream.git_ref,
      stream.category, stream.tracked, finding.path, finding.start_line, finding.end_line, finding.start_column, finding.end_column, finding.package_name,
      finding.package_version, finding.fixed_version, finding.purl, finding.vuln_ids, finding.cwes, finding.rule_id,
      finding.secret_type, finding.resource_name, finding.first_seen_at, finding.last_seen_at, stream.seen_at,
      finding.identity_method, finding.identity_from, finding.identity_at, dismissal.dismiss_reason,
      dismissal.dismiss_comment, dismissal.dismissed_by_name, dismissal.dismissed_at, dismissal.dismissal_source,
      dismissal.dismissal_expires_at, finding.triage_id, finding.cvss_version, finding.cvss_score, finding.cvss_vector,
      finding.issue_id, finding.grouping_code, finding.grouping_detail, finding.grouped_at, finding.intel_at_detection
    from findings finding
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    join reported_repositories repository
      on repository.org_id = finding.org_id and repository.id = finding.repository_no
    left join lateral ${dismissal} dismissal on true
    where finding.org_id = ${query.get('org')}
      ${state === null ? sql`` : sql`and finding.state = ${state}`}
      ${scanner === null ? sql`` : sql`and stream.tool = ${scanner}`}
      ${path === null ? sql`` : sql`and finding.path like ${`${path}/%`}`}
    order by finding.id desc
    limit 1000`
  return rows.map(toFinding)
}

function toFinding(row: Record<string, Json>) {
  const { cvss_version: version, cvss_score: score, cvss_vector: vector } = row
  return {
    id: row.id,
    origin: row.origin,
    source: row.source,
    scanner: row.tool,
    scanner_version: row.tool_version,
    kind: row.kind,
    type: row.type,
    severity: row.severity,
    state: row.state,
    title: row.title,
    description: row.description,
    native_url: row.native_url,
    repository: row.name,
    provider: row.provider,
    repository_id: row.provider_id,
    commit_sha: row.last_seen_at === null ? row.commit_sha : row.last_commit_sha,
    git_ref: row.git_ref,
    category: row.category,
    tracked: row.tracked,
    location: row.path === null ? null : locationOf(row),
    package_name: row.package_name,
    package_version: row.package_version,
    fixed_version: row.fixed_version,
    purl: row.purl,
    vuln_ids: row.vuln_ids,
    cwes: row.cwes,
    rule_id: row.rule_id,
    secret_type: row.secret_type,
    resource_name: row.resource_name,
    first_seen_at: row.first_seen_at,
    last_seen_at: row.last_seen_at ?? row.seen_at,
    identity: {
      method: row.identity_method ?? 'new',
      matched_from: row.identity_from,
      at: row.identity_at ?? row.first_seen_at,
    },
    issue_id: row.issue_id,
    grouping_reason: {
      code: row.grouping_code,
      detail: row.grouping_detail ?? SINGLE_DETAIL,
      at: row.grouped_at,
    },
    category_reason: null,
    dismiss_reason: row.dismiss_reason,
    dismiss_comment: row.dismiss_comment,
    dismissed_by_name: row.dismissed_by_name,
    dismissed_at: row.dismissed_at,
    dismissal_source: row.dismissal_source,
    dismissal_expires_at: row.dismissal_expires_at,
    triage_id: row.triage_id,
    intel: {
      canonical_id: row.vuln_ids[0] ?? null,
      kev: null,
      epss: null,
      cvss: score === null && vector === null ? null : { version, score, vector },
      advisory_severity: null,
      withdrawn: null,
      fix_available: row.fixed_version !== null,
      as_of: { kev: null, epss: null, advisory: null },
    },
    intel_at_detection: row.intel_at_detection ?? {
      at: row.first_seen_at,
      severity: row.severity,
      scanner_score: row.scanner_score,
      cvss: score === null && vector === null ? null : { version, score, vector },
      epss: null,
      kev: null,
      fix_available: row.fixed_version !== null,
      backfilled: false,
    },
  }
}

function locationOf({ path, start_line, end_line, start_column, end_column }: Record<string, Json>) {
  return { path, start_line, end_line, start_column, end_column }
}
