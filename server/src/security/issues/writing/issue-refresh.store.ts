import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { buildSeverityRank } from '../../vocabulary/severity.store.ts'
import { toSeverityRank } from '../../vocabulary/severity.ts'

export type NewIssues = { open: number; critical: number; high: number }

/**
 * Updates severity, status and listing of issues after their findings were written. Returns how
 * many issues were newly listed as open.
 */
export async function updateRefreshedIssues(
  tx: Tx,
  orgId: string,
  issueIds: readonly string[],
  at: Date,
): Promise<NewIssues> {
  return updateTouchedIssues(tx, orgId, tx`select distinct issue_id from unnest(${issueIds}::uuid[]) issue_id`, at)
}

/** `updateRefreshedIssues` for the issues that a query returns as `issue_id`. */
export async function updateTouchedIssues(
  tx: Tx,
  orgId: string,
  touched: ReturnType<Tx>,
  at: Date,
): Promise<NewIssues> {
  const rank = buildSeverityRank(tx, tx`finding.severity`)
  const [row] = await tx<[NewIssues]>`
    with touched as (${touched}),
    counted as (
      select finding.issue_id,
        max(${rank}) filter (where finding.state = 'open' and stream.tracked) as worst_open,
        max(${rank}) as worst,
        bool_or(finding.state = 'dismissed') as has_dismissed,
        bool_or(stream.tracked) as listed
      from touched
      join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.issue_id = touched.issue_id
      join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
      group by finding.issue_id
    ),
    current as (
      select issue_id, coalesce(worst_open, worst) as severity, listed,
        case when worst_open is not null then 'open' when has_dismissed then 'dismissed' else 'fixed' end as status
      from counted
    ),
    refreshed as (
      update security_issues issue
      set severity = current.severity, status = current.status, listed = current.listed, updated_at = ${at}
      from current
      join security_issues before on before.org_id = ${buildAverageId(tx, orgId)} and before.id = current.issue_id
      where issue.org_id = ${buildAverageId(tx, orgId)}
        and issue.id = current.issue_id
        and (issue.severity, issue.status, issue.listed) is distinct from (current.severity, current.status, current.listed)
      returning issue.severity, issue.status = 'open' and issue.listed and not before.listed as is_new
    )
    select count(*) as open, count(*) filter (where severity = ${toSeverityRank('critical')}) as critical,
      count(*) filter (where severity = ${toSeverityRank('high')}) as high
    from refreshed
    where is_new`
  return row
}
