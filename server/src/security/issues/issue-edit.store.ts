import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { StoredEdit } from '../writing/finding-writing.store.ts'
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

export async function findEdit(db: Db, orgId: string, triageId: string): Promise<StoredEdit | null> {
  const [edit] = await db<StoredEdit[]>`
    select org_id, no, repository_no
    from issue_edits
    where org_id = ${orgId}
      and triage_id = ${triageId}`
  return edit ?? null
}

/** Later splits and merges that contain findings of this one. */
export async function listLaterEdits(db: Db, orgId: string, triageId: string): Promise<string[]> {
  const rows = await db<{ triage_id: string }[]>`
    select distinct later_edit.triage_id
    from issue_edits edit
    join issue_pins own on own.org_id = edit.org_id and own.edit_no = edit.no
    join issue_pins later
      on later.org_id = own.org_id
      and later.finding_id = own.finding_id
      and later.edit_no > own.edit_no
    join issue_edits later_edit on later_edit.org_id = later.org_id and later_edit.no = later.edit_no
    where edit.org_id = ${orgId}
      and edit.triage_id = ${triageId}
    order by later_edit.triage_id`
  return rows.map(({ triage_id }) => triage_id)
}

/** Where the findings of an edit were before it, and where they are now. */
export type EditMove = { before: string; now: string }

export async function listMoves(tx: Tx, { org_id, no }: StoredEdit): Promise<EditMove[]> {
  return tx<EditMove[]>`
    select distinct pin.issue_id as before, finding.issue_id as now
    from issue_pins pin
    join findings finding on finding.org_id = pin.org_id and finding.id = pin.finding_id
    where pin.org_id = ${buildAverageId(tx, org_id)}
      and pin.edit_no = ${buildAverageId(tx, no)}
    order by before, now`
}

export async function deleteEdit(tx: Tx, { org_id, no }: StoredEdit): Promise<void> {
  await tx`
    delete from issue_pins
    where org_id = ${org_id}
      and edit_no = ${no}`
  await tx`
    delete from issue_edits
    where org_id = ${org_id}
      and no = ${no}`
}

/** Returns those of these issues that have no finding and are not merged into another issue. */
export async function listEmpty(tx: Tx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id
    from security_issues issue
    where org_id = ${buildAverageId(tx, orgId)}
      and id = any(${ids}::uuid[])
      and merged_into is null
      and not exists (select from findings where findings.org_id = issue.org_id and findings.issue_id = issue.id)`
  return rows.map(({ id }) => id)
}
