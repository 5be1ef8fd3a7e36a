import { type Group, vulnerabilityIdsOf } from '../grouping/group-members.ts'

/** An issue whose findings are another's now, with the ids of what it was about. */
export type MergedIssue = { id: string; merged_into: string; vuln_ids: string[] }

/**
 * Gives groups that leave an issue the one that they were before they came to it, where that was about the same
 * vulnerabilities: an alias that is taken back brings the issue back that it had merged.
 */
export function reviveIssues(groups: readonly Group[], merged: readonly MergedIssue[]): Group[] {
  const waiting = new Map(merged.map((issue) => [keyOf(issue.merged_into, issue.vuln_ids), issue.id]))
  return groups.map((group) => {
    if (!isSplit(group)) return group
    const key = keyOf(group.split_from, vulnerabilityIdsOf(group))
    const issueId = waiting.get(key)
    if (issueId === undefined) return group
    waiting.delete(key)
    return { ...group, issue_id: issueId }
  })
}

/** It comes from an issue that stays elsewhere. */
export function isSplit(group: Group): group is Group & { split_from: string } {
  return group.issue_id === null && group.split_from !== null
}

function keyOf(from: string, ids: readonly string[]): string {
  return JSON.stringify([from, ...ids])
}
