import { copyAll } from '../../../platform/db/copy-rows.ts'
import type { CopyValue } from '../../../platform/db/copy-text.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import type { Group } from '../grouping/group-members.ts'
import { type Cause, type IssueChange, issueChanges, leftIssues } from '../grouping/issue-change.ts'
import { type PlacedGroup, placeGroups, type StoredIssues } from '../grouping/place-groups.ts'
import type { CanonicalId } from '../grouping/vulnerability-names.ts'
import type { MergeScope } from './grouping.store.ts'
import { copyGrouped, updateGrouping } from './grouping.store.ts'
import { insertHistory } from './issue-history.store.ts'
import { copyIssues, dissolveIssues, toIssueFields, writeIssues } from './issue-writing.store.ts'

/** What the groups were and are: with `stored`, issues are also written where they alone have changed. */
export type Regrouping = {
  groups: readonly Group[]
  stored: StoredIssues
  canonicalId: CanonicalId
  cause: Cause
  /** Called when `grouped` and `grouped_issues` say what is to become of findings and issues, before it does. */
  remember?: () => Promise<void>
}

/** `touched`: issues that were there before and have gained, lost or changed findings. */
export type WrittenGroups = { placed: PlacedGroup[]; touched: string[]; changes: IssueChange[] }

/**
 * Stores the issues of the groups that are affected, and moves the stored findings that are of another one now. Which issue the
 * new findings belong to is left in `grouped`.
 */
export async function writeGroups(tx: Tx, scope: MergeScope, regrouping: Regrouping): Promise<WrittenGroups> {
  const { groups, stored, canonicalId, cause, remember } = regrouping
  const { org_id, repository_no, at } = scope
  const placed = placeGroups(groups, stored, canonicalId, at)
  const written = placed.filter(({ isWritten }) => isWritten)
  // Iterators, because there may be 100,000 of each.
  const issueRows = written.values().map(({ issue }) => toIssueFields(issue))
  await copyAll(await copyIssues(tx), issueRows)
  await copyAll(await copyGrouped(tx), placed.values().flatMap(groupedRows))
  await remember?.()
  await writeIssues(tx, org_id, repository_no, at)
  const left = leftIssues(placed)
  const kept = new Set(groups.map((group) => group.issue_id))
  const dissolved = left.filter(({ id }) => !kept.has(id))
  await dissolveIssues(tx, org_id, dissolved, at)
  const changes = issueChanges(placed, dissolved, stored, cause)
  await insertHistory(tx, org_id, changes, at)
  const touched = [...written.flatMap(({ group }) => group.issue_id ?? []), ...left.map(({ id }) => id)]
  if (left.length > 0 || placed.some(({ group }) => group.issue_id !== null)) await updateGrouping(tx, org_id, at)
  return { placed, touched, changes }
}

function groupedRows({ group, issue }: PlacedGroup): CopyValue[][] {
  return group.members.map(({ member, reason }) => [member.position, member.id, issue.id, reason.code, reason.detail])
}
