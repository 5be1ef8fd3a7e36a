import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import type { MergeScope } from '../writing/grouping.store.ts'

/** An issue of an organization, also one that was merged into another. */
export type EditedIssue = { id: string; repository_no: number; bucket: string; merged_into: string | null }

export async function findIssues(tx: Tx, orgId: string, ids: readonly string[]): Promise<EditedIssue[]> {
  return tx<EditedIssue[]>`
    select id, repository_no, encode(bucket, 'hex') as bucket, merged_into
    from security_issues
    where org_id = ${orgId}
      and id = any(${ids}::uuid[])
    order by id`
}

/** Reads the issue of each of these findings, by finding. */
export async function listIssueIds(tx: Tx, orgId: string, findingIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx<{ id: string; issue_id: string }[]>`
    select id, issue_id
    from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and id = any(${findingIds}::uuid[])`
  return new Map(rows.map(({ id, issue_id }) => [id, issue_id]))
}

/** Returns the ids of all findings of an issue, oldest first. */
export async function listFindingIds(tx: Tx, orgId: string, issueId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id
    from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and issue_id = ${issueId}
    order by id`
  return rows.map(({ id }) => id)
}

/** The findings in `moved` are on side 1, all others of the issues on side 0. */
type NewEdit = { triageId: string; issueIds: readonly string[]; moved: readonly string[] }

/** Stores an edit with the present grouping of all findings of its issues. */
export async function insertEdit(tx: Tx, scope: MergeScope, { triageId, issueIds, moved }: NewEdit): Promise<void> {
  await tx`
    update reported_repositories
    set has_edits = true
    where org_id = ${scope.org_id}
      and id = ${scope.repository_no}
      and not has_edits`
  await tx`
    with edit as (
      insert into issue_edits (org_id, triage_id, repository_no)
      values (${scope.org_id}, ${triageId}, ${scope.repository_no})
      returning org_id, no
    )
    insert into issue_pins (org_id, edit_no, finding_id, side, issue_id, grouping_code, grouping_detail, grouped_at)
    select finding.org_id, edit.no, finding.id, case when moved.id is null then 0 else 1 end, finding.issue_id,
      finding.grouping_code, finding.grouping_detail, finding.grouped_at
    from edit
    join findings finding on finding.org_id = edit.org_id and finding.issue_id = any(${issueIds}::uuid[])
    left join unnest(${moved}::uuid[]) moved (id) on moved.id = finding.id`
}

/**
 * Creates an issue that was split from another one, for findings that `updateIssueOfFindings` gives
 * it.
 */
export async function insertSplitIssue(tx: Tx, scope: MergeScope, id: string, from: string): Promise<void> {
  await tx`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss, split_from,
      created_at, updated_at
    )
    select org_id, ${id}, repository_no, bucket, kind, severity, status, false, vuln_ids, canonical_id, kev, epss, id,
      ${scope.at}::timestamptz, ${scope.at}::timestamptz
    from security_issues
    where org_id = ${scope.org_id}
      and id = ${from}`
}
