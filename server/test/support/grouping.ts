import type { Caller, TestApi } from './api.ts'

/**
 * Everything that grouping has stored of an organization: which issue each finding is of and why,
 * and every issue.
 */
export async function groupingOf({ services: { sql } }: TestApi, { orgId }: Caller) {
  const findings = await sql`
    select id, issue_id, grouping_code, grouping_detail, grouped_at
    from findings
    where org_id = ${orgId}
    order by id`
  const issues = await sql`
    select id, encode(bucket, 'hex') as bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss,
      split_from, merged_into
    from security_issues
    where org_id = ${orgId}
    order by id`
  return { findings: findings.map((row) => ({ ...row })), issues: issues.map((row) => ({ ...row })) }
}

/** What happened to issues, the oldest first. */
export async function historyOf({ services: { sql } }: TestApi, { orgId }: Caller) {
  const rows = await sql<{ event: string; issue_id: string; other_issue_id: string; detail: string }[]>`
    select event, issue_id, other_issue_id, detail
    from issue_history
    where org_id = ${orgId}
    order by id`
  return rows.map((row) => ({ ...row }))
}
