import { newUuidSeries } from '../../../platform/ids.ts'
import type { IssueRow } from './describe-issue.ts'
import { describeIssue } from './describe-issue.ts'
import { type Group, isAffected } from './group-members.ts'
import type { CanonicalId } from './vulnerability-names.ts'

/** `isWritten`: the issue has other findings now or says something else; not only a reason of a finding has changed. */
export type PlacedGroup = { group: Group; issue: IssueRow; isWritten: boolean }

/** What is stored of issues by id, where it counts whether it is still so. */
export type StoredIssues = ReadonlyMap<string, StoredIssue>
export type StoredIssue = Pick<IssueRow, 'id' | 'bucket' | 'kind' | 'vuln_ids' | 'canonical_id'>

/** The groups that something is to be written of, with their issues; where they have none, with new ones. */
export function placeGroups(
  groups: readonly Group[],
  stored: StoredIssues,
  canonicalId: CanonicalId,
  at: Date,
): PlacedGroup[] {
  const newId = newUuidSeries(at)
  const left = issuesLeft(groups)
  return groups.flatMap((group, nth) => {
    const known = group.issue_id === null ? undefined : stored.get(group.issue_id)
    const isTouched = hasOthers(group) || left.has(group.issue_id)
    if (!isTouched && !isAffected(group) && known === undefined) return []
    const issue = describeIssue(group, group.issue_id ?? newId(nth), canonicalId)
    const isWritten = isTouched || differs(issue, known)
    return isWritten || isAffected(group) ? [{ group, issue, isWritten }] : []
  })
}

/** A finding is new, has changed or comes from another issue. */
function hasOthers({ issue_id, members }: Group): boolean {
  return members.some(({ member }) => member.position !== null || member.issue_id !== issue_id)
}

/** Issues of which findings are in other groups now. */
function issuesLeft(groups: readonly Group[]): Set<string | null> {
  return new Set(
    groups.flatMap(({ issue_id, members }) =>
      members.flatMap(({ member }) => (member.issue_id === issue_id ? [] : member.issue_id)),
    ),
  )
}

function differs(issue: StoredIssue, known: StoredIssue | undefined): boolean {
  return known !== undefined && digest(issue) !== digest(known)
}

function digest({ bucket, kind, vuln_ids: ids, canonical_id: name }: StoredIssue): string {
  return JSON.stringify([bucket, kind, ids, name])
}
