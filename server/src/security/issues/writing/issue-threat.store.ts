import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'
import { buildThreats } from '../../intel/intel.store.ts'

/** Issues of one repository whose `kev` or `epss` is outdated. */
export type StaleIssues = { org_id: string; repository_no: number; issue_ids: string[] }

const ISSUES_AT_ONCE = 10_000

/**
 * Reads all outdated issues of every organization, in parts for one transaction each. Changes of
 * KEV come first.
 */
export async function listStaleIssues(tx: Tx): Promise<AsyncIterable<StaleIssues[]>> {
  await tx`set local statement_timeout = 0`
  return tx<StaleIssues[]>`
    select org_id, repository_no, array_agg(issue_id) as issue_ids
    from (
      select org_id, repository_no, issue_id, is_kev_stale,
        row_number() over (partition by org_id, repository_no, is_kev_stale) / ${ISSUES_AT_ONCE} as part
      from ${staleIssues(tx, tx`true`)} stale
    ) stale
    group by org_id, repository_no, is_kev_stale, part
    order by is_kev_stale desc, org_id, repository_no, part`.cursor(1)
}

/** Updates `kev` and `epss` of these issues, if they are outdated. */
export async function updateThreats(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<void> {
  const these: ReturnType<Tx> = tx`issue.org_id = ${buildAverageId(tx, orgId)} and issue.id = any(${issueIds}::uuid[])`
  await tx`
    update security_issues issue
    set kev = stale.kev, epss = stale.epss
    from ${staleIssues(tx, these)} stale
    where issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = stale.issue_id`
}

function staleIssues(db: Db, which: ReturnType<Db>) {
  const named: ReturnType<Db> = db`
    select issue.org_id, issue.id as issue_id, issue.vuln_ids
    from security_issues issue
    where issue.merged_into is null
      and issue.vuln_ids <> '{}'
      and ${which}`
  return db`(
    select known.org_id, issue.repository_no, known.issue_id, known.kev, coalesce(known.epss, 0) as epss,
      issue.kev <> known.kev as is_kev_stale
    from ${buildThreats(db, named)} known
    join security_issues issue on issue.org_id = known.org_id and issue.id = known.issue_id
    where (issue.kev, issue.epss) is distinct from (known.kev, coalesce(known.epss, 0))
  )`
}
