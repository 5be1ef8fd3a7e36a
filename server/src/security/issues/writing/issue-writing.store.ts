import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'
import { buildThreats } from '../../intel/intel.store.ts'
import type { DescribedGroup } from '../grouping/describe-groups.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import type { Grouped } from './grouping-tables.store.ts'

/**
 * Inserts the new issues of `grouped_issues`, and updates those whose members changed. Most reports
 * have issues of one kind only, and a statement for the other kind would still read many rows.
 */
export async function upsertIssues(grouped: Grouped, written: readonly DescribedGroup[]): Promise<void> {
  if (written.some(({ issue }) => issue.is_new)) await insertIssues(grouped)
  if (written.some(({ issue }) => !issue.is_new)) await updateIssues(grouped)
}

/** Rows in the order of their ids are faster to insert. */
async function insertIssues({ tx, scope }: Grouped): Promise<void> {
  const { org_id: orgId, repository_no: repositoryNo, at } = scope
  await tx`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss, split_from,
      created_at, updated_at
    )
    select ${orgId}, id, ${repositoryNo}, bucket, kind, severity, status, listed, vuln_ids, canonical_id,
      coalesce(known.kev, false), coalesce(known.epss, 0), split_from, ${at}, ${at}
    from grouped_issues
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = id
    where is_new
    order by id`
}

async function updateIssues({ tx, scope }: Grouped): Promise<void> {
  const { org_id: orgId, at } = scope
  await tx`
    update security_issues issue
    set bucket = grouped.bucket, kind = grouped.kind, vuln_ids = grouped.vuln_ids, canonical_id = grouped.canonical_id,
      kev = coalesce(known.kev, false), epss = coalesce(known.epss, 0), merged_into = null,
      split_from = coalesce(grouped.split_from, issue.split_from), updated_at = ${at}
    from grouped_issues grouped
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = grouped.id
    where not grouped.is_new
      and issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = grouped.id`
}

function threatsOfGrouped(tx: Tx, orgId: string) {
  return buildThreats(tx, tx`select ${orgId}::uuid as org_id, id as issue_id, vuln_ids from grouped_issues`)
}

/** Marks issues that have lost all findings as merged into others. */
export async function updateDissolvedIssues(
  tx: Tx,
  orgId: string,
  dissolved: readonly { id: string; into: string }[],
  at: Date,
): Promise<void> {
  if (dissolved.length === 0) return
  await tx`
    update security_issues issue
    set merged_into = gone.into_id, listed = false, updated_at = ${at}
    from unnest(${dissolved.map(({ id }) => id)}::uuid[], ${dissolved.map(({ into }) => into)}::uuid[])
      as gone (id, into_id)
    where issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = gone.id`
}

/** Records that issues were merged or split. */
export async function insertHistory(db: Db, orgId: string, changes: readonly IssueChange[], at: Date): Promise<void> {
  if (changes.length === 0) return
  await db`
    insert into issue_history (org_id, issue_id, at, event, other_issue_id, detail)
    select ${orgId}, issue_id, ${at}, event, other_issue_id, detail
    from unnest(
      ${changes.map((change) => change.issue_id)}::uuid[], ${changes.map(({ event }) => event)}::text[],
      ${changes.map((change) => change.other_issue_id)}::uuid[], ${changes.map(({ detail }) => detail)}::text[]
    ) as change (issue_id, event, other_issue_id, detail)`
}
