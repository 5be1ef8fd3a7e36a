import { compareCanonical } from '../../intel/aliases/alias-groups.ts'
import { type Assignment, assignIssues } from './assign-issues.ts'
import type { GroupingReason } from './grouping-facts.ts'
import { linkBucket } from './link-bucket.ts'
import { groupBy } from './links.ts'
import type { Member } from './member.ts'
import type { CanonicalId } from './vulnerability-names.ts'

export type GroupMember = { member: Member; reason: GroupingReason }
export type Group = Assignment & { bucket: string; members: GroupMember[] }

/** The issues of these findings, which are all that stand in their buckets. */
export function groupMembers(members: readonly Member[], canonicalId: CanonicalId): Group[] {
  const groups = [...groupBy(members, ({ bucket }) => bucket)].flatMap(([bucket, inBucket]) => {
    const links = linkBucket(inBucket, canonicalId)
    return links.groups().map((numbers) => ({
      bucket,
      members: numbers.map((at) => ({ member: inBucket[at] as Member, reason: links.reasonOf(at) })),
    }))
  })
  const assignments = assignIssues(groups.map((group) => group.members.map(({ member }) => member)))
  return groups.map((group, at) => ({ ...group, ...(assignments[at] as Assignment) }))
}

/** A finding is new, has changed, belonged to another issue, or to this one for another reason. */
export function isAffected({ issue_id, members }: Group): boolean {
  return members.some(
    ({ member, reason }) =>
      member.position !== null ||
      member.issue_id !== issue_id ||
      member.grouping_code !== reason.code ||
      member.grouping_detail !== reason.detail,
  )
}

/** All ids that a group's members name, each once, the best name first. */
export function vulnerabilityIdsOf({ members }: Group): string[] {
  return [...new Set(members.flatMap(({ member }) => member.vuln_ids))].sort(compareCanonical)
}
