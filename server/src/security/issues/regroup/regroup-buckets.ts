import type { Tx } from '../../../platform/db/sql.ts'
import { bucketOf } from '../grouping/bucket.ts'
import { groupMembers } from '../grouping/group-members.ts'
import type { Cause, IssueChange } from '../grouping/issue-change.ts'
import type { Member } from '../grouping/member.ts'
import type { PlacedGroup } from '../grouping/place-groups.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import { readMembers } from '../writing/grouping.store.ts'
import { dropGrouped, type Grouped } from '../writing/grouping-tables.store.ts'
import { refreshIssues } from '../writing/issue-refresh.store.ts'
import { readCanonicalNames } from '../writing/read-canonical-names.ts'
import { writeGroups } from '../writing/write-groups.ts'
import { readIssues, readMerged } from './regroup.store.ts'
import { isSplit, reviveIssues } from './revive-issues.ts'

/**
 * `findings` are done: one that went to a bucket after these is looked at again. `moved` are of another issue now, `restated`
 * of the same one for another reason. `issues` were written.
 */
export type Regrouped = { findings: number; moved: number; restated: number; issues: number; changes: IssueChange[] }

/**
 * Groups what stands in some buckets of a repository by the rules and aliases of today, and writes only what differs.
 * The repository is locked. `remember` is called before anything is written.
 */
export async function regroupBuckets(
  tx: Tx,
  scope: MergeScope,
  buckets: readonly string[],
  cause: Cause,
  remember?: (grouped: Grouped) => Promise<void>,
): Promise<Regrouped> {
  const found = (await readMembers(tx, scope.org_id, scope.repository_no, buckets)).map(placeAnew)
  const others = [...new Set(found.map(({ bucket }) => bucket))].filter(isNotIn(buckets))
  const members = [...found, ...(await readMembers(tx, scope.org_id, scope.repository_no, others))]
  const canonicalId = await readCanonicalNames(tx, members)
  const stored = await readIssues(tx, scope.org_id, scope.repository_no, [...buckets, ...others])
  const grouped = groupMembers(members, canonicalId)
  const splitFrom = grouped.filter(isSplit).map((group) => group.split_from)
  const groups = reviveIssues(grouped, await readMerged(tx, scope.org_id, splitFrom))
  const written = await writeGroups(tx, scope, { groups, stored, canonicalId, cause, ...(remember && { remember }) })
  await refreshIssues(tx, scope.org_id, [...written.touched, ...newIssues(written.placed)], scope.at)
  await dropGrouped(written.grouped)
  return {
    findings: countDone(found, buckets),
    ...countMoves(written.placed),
    issues: written.placed.length,
    changes: written.changes,
  }
}

function newIssues(placed: readonly PlacedGroup[]): string[] {
  return placed.flatMap(({ group, issue }) => (group.issue_id === null ? issue.id : []))
}

/** By the rules of today it may be in another bucket; those that are stored there have their own turn. */
function placeAnew(member: Member): Member {
  return { ...member, bucket: bucketOf(member) }
}

function countDone(found: readonly Member[], buckets: readonly string[]): number {
  const last = buckets.at(-1) ?? ''
  return found.filter(({ bucket }) => bucket <= last).length
}

function isNotIn(buckets: readonly string[]): (bucket: string) => boolean {
  const known = new Set(buckets)
  return (bucket) => !known.has(bucket)
}

function countMoves(placed: readonly PlacedGroup[]): { moved: number; restated: number } {
  const all = placed.flatMap(({ group, issue }) => group.members.map((of) => ({ ...of, issue })))
  const isMoved = ({ member, issue }: (typeof all)[number]) => member.issue_id !== issue.id
  const isRestated = ({ member, reason }: (typeof all)[number]) =>
    member.grouping_code !== reason.code || member.grouping_detail !== reason.detail
  return {
    moved: all.filter(isMoved).length,
    restated: all.filter((of) => !isMoved(of) && isRestated(of)).length,
  }
}
