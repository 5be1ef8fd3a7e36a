import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Tx } from '../../../platform/db/sql.ts'
import { updateGrouping } from '../../triage/writing/triaged-finding.store.ts'
import type { DescribedGroup, StoredIssues } from '../grouping/describe-groups.ts'
import type { Group } from '../grouping/group-members.ts'
import { type Cause, collectIssueChanges, collectLeftIssues, type IssueChange } from '../grouping/issue-change.ts'
import { upsertJoinedBuckets } from './edit.store.ts'
import { formatGroupedLines } from './grouped-lines.ts'
import type { GroupedLines, MergeScope } from './grouping.store.ts'
import { copyGrouped, type Grouped } from './grouping-tables.store.ts'
import { insertHistory, updateDissolvedIssues, upsertIssues } from './issue-writing.store.ts'

/** The groups to write, and those of them that differ from what is stored. */
type Regrouping = {
  groups: readonly Group[]
  described: readonly DescribedGroup[]
  /** `described` as it is sent to PostgreSQL, if it was formatted already. */
  lines?: GroupedLines
  stored: StoredIssues
  cause: Cause
  /** Called before anything is written, so that the present state can be saved. */
  remember?: (grouped: Grouped) => Promise<void>
  /** Called while PostgreSQL writes the issues, so that both work at the same time. */
  meanwhile?: () => void
}

/** `touched` are the stored issues that gained, lost or changed findings. */
type WrittenGroups = { touched: string[]; changes: IssueChange[]; grouped: Grouped }

/**
 * Writes the issues of changed groups and moves stored findings to their new issues. The temporary
 * table `grouped` names the issues of new findings.
 */
export async function writeGroups(tx: Tx, scope: MergeScope, regrouping: Regrouping): Promise<WrittenGroups> {
  const { groups, described, lines = formatGroupedLines(described), stored, cause, remember, meanwhile } = regrouping
  const { org_id, at } = scope
  if (scope.has_edits)
    await upsertJoinedBuckets(
      tx,
      scope,
      groups.map(getBuckets).filter(({ length }) => length > 1),
    )
  const written = described.filter(({ isWritten }) => isWritten)
  const grouped = await copyGrouped(tx, scope, lines)
  await remember?.(grouped)
  await Promise.all([upsertIssues(grouped, written), sent().then(meanwhile)])
  const left = collectLeftIssues(described)
  const kept = new Set(groups.map((group) => group.issue_id))
  const dissolved = left.filter(({ id }) => !kept.has(id))
  await updateDissolvedIssues(tx, org_id, dissolved, at)
  const changes = collectIssueChanges(described, dissolved, stored, cause)
  await insertHistory(tx, org_id, changes, at)
  const touched = [...written.flatMap(({ group }) => group.issue_id ?? []), ...left.map(({ id }) => id)]
  if (left.length > 0 || described.some(({ group }) => group.issue_id !== null)) await updateGrouping(grouped)
  return { touched, changes, grouped }
}

/** Resolves after a statement was sent, which happens at the end of a turn of the loop. */
async function sent(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

function getBuckets({ members }: Group): string[] {
  return [...new Set(members.map(({ member }) => member.bucket))]
}
