import type { Tx } from '../../../platform/db/sql.ts'
import { SEVERITIES } from '../../vocabulary/severity.ts'

export type NewIssues = { open: number; critical: number; high: number }

/**
 * Brings severity, status and listing of issues in line with their members, after these were written. Returns how many
 * became visible, as open ones.
 */
export async function refreshIssues(tx: Tx, orgId: string, issueIds: readonly string[], at: Date): Promise<NewIssues> {
  return refreshTouched(tx, orgId, tx`select distinct issue_id from unnest(${issueIds}::uuid[]) issue_id`, at)
}

/** `refreshIssues` for the issues that a query returns as `issue_id`. */
export async function refreshTouched(tx: Tx, orgId: string, touched: ReturnType<Tx>, at: Date): Promise<NewIssues> {
  const [row] = await tx<[NewIssues]>`
    with touched as (${touched}),
    said as (
      select finding.issue_id,
        max(${severityRank(tx)}) filter (where finding.state = 'open' and stream.tracked) as worst_open,
        max(${severityRank(tx)}) as worst,
        bool_or(finding.state = 'dismissed') as has_dismissed,
        bool_or(stream.tracked) as listed
      from touched
      join findings finding on finding.org_id = ${orgId} and finding.issue_id = touched.issue_id
      join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
      group by finding.issue_id
    ),
    word as (
      select issue_id, coalesce(worst_open, worst) as severity, listed,
        case when worst_open is not null then 'open' when has_dismissed then 'dismissed' else 'fixed' end as status
      from said
    ),
    refreshed as (
      update security_issues issue
      set severity = word.severity, status = word.status, listed = word.listed, updated_at = ${at}
      from word
      join security_issues before on before.org_id = ${orgId} and before.id = word.issue_id
      where issue.org_id = ${orgId}
        and issue.id = word.issue_id
        and (issue.severity, issue.status, issue.listed) is distinct from (word.severity, word.status, word.listed)
      returning issue.severity, issue.status = 'open' and issue.listed and not before.listed as is_new
    )
    select count(*) as open, count(*) filter (where severity = 4) as critical, count(*) filter (where severity = 3) as high
    from refreshed
    where is_new`
  return row
}

/** 4 is critical, 0 is info. */
function severityRank(tx: Tx) {
  return tx`${SEVERITIES.length} - array_position(${SEVERITIES}::text[], finding.severity)`
}
