import { openCopy, writeCopy } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import type { MergeScope } from './grouping.store.ts'
import { FINDING_COLUMNS, type GroupedLines, ISSUE_COLUMNS } from './grouping.store.ts'

declare const copied: unique symbol

/**
 * The temporary tables of a grouping: `grouped` has the issue of each finding, and `grouped_issues`
 * the issues to write. Only `copyGrouped` returns this handle, so nothing can read the tables
 * before they are filled. They exist until `deleteGrouped` or the end of the transaction.
 */
export type Grouped = { readonly tx: Tx; readonly scope: MergeScope; readonly [copied]: true }

/** Adds the findings to `grouped`, and fills `grouped_issues` with these issues alone. */
export async function copyGrouped(tx: Tx, scope: MergeScope, lines: GroupedLines): Promise<Grouped> {
  await tx`drop table if exists grouped_issues`
  await tx`
    create temporary table grouped_issues (
      id uuid, is_new boolean, bucket bytea, kind text, severity smallint, status text, listed boolean, vuln_ids text[],
      canonical_id text collate "C", split_from uuid
    ) on commit drop`
  await writeCopy(await openCopy(tx, 'grouped_issues', ISSUE_COLUMNS), (copy) => copy.writeLines(lines.issues))
  await tx`
    create temporary table if not exists grouped (
      position integer, finding_id uuid, issue_id uuid, grouping_code text, grouping_detail text
    ) on commit drop`
  await writeCopy(await openCopy(tx, 'grouped', FINDING_COLUMNS), (copy) => copy.writeLines(lines.findings))
  return { tx, scope } as Grouped
}

/** Drops the tables, so that the same transaction can group other findings. */
export async function deleteGrouped({ tx }: Grouped): Promise<void> {
  await tx`drop table grouped, grouped_issues`
}
