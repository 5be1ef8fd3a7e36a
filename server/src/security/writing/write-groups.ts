import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { copyBytes, copyField, copyFields } from '../../platform/db/table-copy.ts'
import { computeBucket } from '../issues/grouping/bucket.ts'
import {
  type Cause,
  collectIssueChanges,
  collectLeftIssues,
  type DescribedGroup,
  type IssueChange,
  type StoredIssues,
} from '../issues/grouping/describe-groups.ts'
import type { Group } from '../issues/grouping/group-members.ts'
import type { Member } from '../issues/grouping/grouping-facts.ts'
import type { KnownRules } from '../issues/grouping/known-rules.ts'
import { listJoinedBuckets, upsertJoinedBuckets } from './edit.store.ts'
import { updateGrouping } from './finding-writing.store.ts'
import {
  copyGrouped,
  type Grouped,
  type GroupedLines,
  ISSUE_COLUMNS,
  listMembers,
  type MergeScope,
} from './grouping.store.ts'
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
  if (scope.has_edits) {
    const buckets = groups.map(({ members }) => [...new Set(members.map(({ member }) => member.bucket))])
    const joined = buckets.filter(({ length }) => length > 1)
    await upsertJoinedBuckets(tx, scope, joined)
  }
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

/** Stored findings, and all buckets whose findings they are. */
type EditedMembers = { members: Member[]; buckets: string[] }

/**
 * Reads all stored findings of these buckets, and of every bucket that must be grouped with them
 * because a merged issue has findings in both.
 */
export async function listEditedMembers(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo }: Pick<MergeScope, 'org_id' | 'repository_no'>,
  buckets: readonly string[],
  rules: KnownRules,
): Promise<EditedMembers> {
  const known = new Set<string>()
  const members: Member[] = []
  for (let next = [...buckets]; next.length > 0; ) {
    const joined = await listJoinedBuckets(db, { org_id: orgId, repository_no: repositoryNo }, next)
    const added = joined.filter((bucket) => !known.has(bucket))
    for (const bucket of added) known.add(bucket)
    const read = (await listMembers(db, orgId, repositoryNo, added)).map((member) => assignCurrentBucket(member, rules))
    for (const member of read) members.push(member)
    next = [...new Set(read.map(({ bucket }) => bucket))].filter((bucket) => !known.has(bucket))
  }
  return { members, buckets: [...known] }
}

/** By the current rules, a finding may belong to another bucket than its issue. */
export function assignCurrentBucket(member: Member, rules: KnownRules): Member {
  return { ...member, bucket: computeBucket(member, rules) }
}

export function formatGroupedLines(described: readonly DescribedGroup[]): GroupedLines {
  return {
    issues: described.filter(({ isWritten }) => isWritten).map(issueLine),
    findings: described.flatMap(findingLines),
  }
}

function issueLine({ issue }: DescribedGroup): string {
  const fields = ISSUE_COLUMNS.map((column) =>
    column === 'bucket' ? copyBytes(issue.bucket) : copyField(issue[column]),
  )
  return fields.join('\t')
}

function findingLines({ group, issue }: DescribedGroup): string[] {
  return group.members.map(({ member, reason }) =>
    copyFields([member.position, member.id, issue.id, reason.code, reason.detail]),
  )
}
