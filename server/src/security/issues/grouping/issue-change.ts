import type { DescribedGroup, StoredIssues } from './describe-groups.ts'

/** What changed the groups: a report, changed aliases, or a regroup by the current rules. */
export type Cause = { by: 'report' | 'rules' } | { by: 'aliases'; source: string }

/**
 * `merged`: the issue's findings moved to the other issue. `split`: they came from the other issue.
 */
export type IssueChange = { event: 'merged' | 'split'; issue_id: string; other_issue_id: string; detail: string }

const APART = {
  report: 'Its findings no longer match those of the other issue.',
  rules: 'By the current rules, its findings do not match those of the other issue.',
}

/** The issues that were merged or split, each with a sentence that gives the reason. */
export function collectIssueChanges(
  described: readonly DescribedGroup[],
  dissolved: readonly LeftIssue[],
  stored: StoredIssues,
  cause: Cause,
): IssueChange[] {
  const names = new Map(described.map(({ issue }) => [issue.id, issue.canonical_id]))
  const getName = (id: string) => names.get(id) ?? stored.get(id)?.canonical_id ?? null
  const merged = dissolved.map(({ id, into, reason }): IssueChange => {
    const before = [stored.get(into)?.canonical_id, stored.get(id)?.canonical_id] as const
    return { event: 'merged', issue_id: id, other_issue_id: into, detail: mergeDetail(before, cause) ?? reason }
  })
  const split = described.flatMap(({ group, issue }): IssueChange[] => {
    if (group.split_from === null) return []
    const now = [getName(group.split_from), issue.canonical_id] as const
    return [{ event: 'split', issue_id: issue.id, other_issue_id: group.split_from, detail: splitDetail(now, cause) }]
  })
  return [...merged, ...split]
}

/** An issue that lost findings, and the issue that such findings moved to. */
type LeftIssue = { id: string; into: string; reason: string }

export function collectLeftIssues(described: readonly DescribedGroup[]): LeftIssue[] {
  const left = new Map<string, { into: string; reason: string }>()
  for (const { group, issue } of described) {
    for (const { member, reason } of group.members) {
      if (member.issue_id === null || member.issue_id === issue.id) continue
      left.set(member.issue_id, { into: issue.id, reason: reason.detail ?? APART.report })
    }
  }
  return [...left].map(([id, target]) => ({ id, ...target }))
}

type Names = readonly [string | null | undefined, string | null | undefined]

function mergeDetail(names: Names, cause: Cause): string | null {
  return cause.by === 'aliases' && areTwo(names) ? `${names.join(' and ')} are aliases (${cause.source}).` : null
}

function splitDetail(names: Names, cause: Cause): string {
  if (cause.by !== 'aliases') return APART[cause.by]
  return areTwo(names) ? `${names.join(' and ')} are no longer aliases (${cause.source}).` : APART.report
}

function areTwo([one, other]: Names): boolean {
  return Boolean(one) && Boolean(other) && one !== other
}
