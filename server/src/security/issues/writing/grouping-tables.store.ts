import { averageId } from '../../../platform/db/average-id.ts'
import type { CopyValue } from '../../../platform/db/copy-rows.ts'
import { copyAll, openCopy } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import type { DescribedGroup, IssueRow } from '../grouping/describe-groups.ts'
import type { MergeScope } from './grouping.store.ts'

declare const copied: unique symbol

/**
 * The temporary tables of a grouping: `grouped` has the issue of each finding, and `grouped_issues`
 * the issues to write. Only `copyGrouped` returns this handle, so nothing can read the tables
 * before they are filled. They exist until `dropGrouped` or the end of the transaction.
 */
export type Grouped = { readonly tx: Tx; readonly scope: MergeScope; readonly [copied]: true }

/**
 * Adds the findings of these groups to `grouped`, and fills `grouped_issues` with their changed
 * issues alone.
 */
export async function copyGrouped(tx: Tx, scope: MergeScope, described: readonly DescribedGroup[]): Promise<Grouped> {
  await copyIssues(tx, described)
  await copyFindings(tx, described)
  return { tx, scope } as Grouped
}

const ISSUE_COLUMNS = [
  'id',
  'is_new',
  'bucket',
  'kind',
  'severity',
  'status',
  'listed',
  'vuln_ids',
  'canonical_id',
  'split_from',
] as const satisfies (keyof IssueRow)[]

async function copyIssues(tx: Tx, described: readonly DescribedGroup[]): Promise<void> {
  await tx`drop table if exists grouped_issues`
  await tx`
    create temporary table grouped_issues (
      id uuid, is_new boolean, bucket bytea, kind text, severity smallint, status text, listed boolean, vuln_ids text[],
      canonical_id text collate "C", split_from uuid
    ) on commit drop`
  // Iterators, because there may be 100,000 groups.
  const changed = described.values().filter(({ isWritten }) => isWritten)
  await copyAll(await openCopy(tx, 'grouped_issues', ISSUE_COLUMNS), changed.map(issueFields))
}

function issueFields({ issue }: DescribedGroup): CopyValue[] {
  return ISSUE_COLUMNS.map((column) => (column === 'bucket' ? Buffer.from(issue.bucket, 'hex') : issue[column]))
}

async function copyFindings(tx: Tx, described: readonly DescribedGroup[]): Promise<void> {
  await tx`
    create temporary table if not exists grouped (
      position integer, finding_id uuid, issue_id uuid, grouping_code text, grouping_detail text
    ) on commit drop`
  const columns = ['position', 'finding_id', 'issue_id', 'grouping_code', 'grouping_detail']
  await copyAll(await openCopy(tx, 'grouped', columns), described.values().flatMap(findingFields))
}

function findingFields({ group, issue }: DescribedGroup): CopyValue[][] {
  return group.members.map(({ member, reason }) => [member.position, member.id, issue.id, reason.code, reason.detail])
}

/** Moves the stored findings whose issue or grouping reason changed. */
export async function updateGrouping({ tx, scope }: Grouped): Promise<void> {
  await tx`
    update findings finding
    set issue_id = grouped.issue_id, grouping_code = grouped.grouping_code,
      grouping_detail = grouped.grouping_detail, grouped_at = ${scope.at}
    from grouped
    where finding.org_id = ${averageId(tx, scope.org_id)}
      and finding.id = grouped.finding_id
      and (finding.issue_id, finding.grouping_code, finding.grouping_detail)
        is distinct from (grouped.issue_id, grouped.grouping_code, grouped.grouping_detail)`
}

/** Drops the tables, so that the same transaction can group other findings. */
export async function dropGrouped({ tx }: Grouped): Promise<void> {
  await tx`drop table grouped, grouped_issues`
}
