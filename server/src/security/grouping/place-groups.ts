import { newUuidSeries } from '../../platform/ids.ts'
import { describeIssue } from './describe-issue.ts'
import { type Group, isAffected } from './group-members.ts'
import type { IssueRow } from './issue-writing.store.ts'
import type { CanonicalId } from './vulnerability-names.ts'

export type PlacedGroup = { group: Group; issue: IssueRow }

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
  return groups.flatMap((group, nth) => {
    const known = group.issue_id === null ? undefined : stored.get(group.issue_id)
    if (!isAffected(group) && known === undefined) return []
    const issue = describeIssue(group, group.issue_id ?? newId(nth), canonicalId)
    return isAffected(group) || differs(issue, known) ? [{ group, issue }] : []
  })
}

function differs(issue: StoredIssue, known: StoredIssue | undefined): boolean {
  return known !== undefined && digest(issue) !== digest(known)
}

function digest({ bucket, kind, vuln_ids: ids, canonical_id: name }: StoredIssue): string {
  return JSON.stringify([bucket, kind, ids, name])
}
