import { type Copy, openCopy } from '../../../platform/db/copy-rows.ts'
import type { CopyValue } from '../../../platform/db/copy-text.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { threatsOf } from '../../intel/lookup/threat.store.ts'
import type { IssueRow } from '../grouping/describe-issue.ts'

const COLUMNS = [
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

/** Opens the temporary table that issues are copied into by `toIssueFields`, empty. It ends with the transaction. */
export async function copyIssues(tx: Tx): Promise<Copy> {
  await tx`drop table if exists grouped_issues`
  await tx`
    create temporary table grouped_issues (
      id uuid, is_new boolean, bucket bytea, kind text, severity smallint, status text, listed boolean, vuln_ids text[],
      canonical_id text collate "C", split_from uuid
    ) on commit drop`
  return openCopy(tx, 'grouped_issues', COLUMNS)
}

export function toIssueFields(row: IssueRow): CopyValue[] {
  return COLUMNS.map((column) => (column === 'bucket' ? Buffer.from(row.bucket, 'hex') : row[column]))
}

/** Makes the new issues, and notes of the others that they have other members now. */
export async function writeIssues(tx: Tx, orgId: string, repositoryNo: number, at: Date): Promise<void> {
  await tx`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss, split_from,
      created_at, updated_at
    )
    select ${orgId}, id, ${repositoryNo}, bucket, kind, severity, status, listed, vuln_ids, canonical_id,
      coalesce(known.kev, false), coalesce(known.epss, 0), split_from, ${at}, ${at}
    from grouped_issues
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = id
    where is_new`
  await tx`
    update security_issues issue
    set bucket = grouped.bucket, kind = grouped.kind, vuln_ids = grouped.vuln_ids, canonical_id = grouped.canonical_id,
      kev = coalesce(known.kev, false), epss = coalesce(known.epss, 0), merged_into = null,
      split_from = coalesce(grouped.split_from, issue.split_from), updated_at = ${at}
    from grouped_issues grouped
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = grouped.id
    where not grouped.is_new
      and issue.org_id = ${orgId}
      and issue.id = grouped.id`
}

function threatsOfGrouped(tx: Tx, orgId: string) {
  return threatsOf(tx, tx`select ${orgId}::uuid as org_id, id as issue_id, vuln_ids from grouped_issues`)
}

/** Notes where the members of issues went that have none left. */
export async function dissolveIssues(
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
    where issue.org_id = ${orgId}
      and issue.id = gone.id`
}
