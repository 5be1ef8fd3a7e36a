import type { PlacedGroup, StoredIssues } from './place-groups.ts'

/** What made groups change. */
export type Cause = { by: 'report' | 'rules' } | { by: 'aliases'; source: string }

/** An issue whose findings are another's now, or were another's before. */
export type IssueChange = { event: 'merged' | 'split'; issue_id: string; other_issue_id: string; detail: string }

const APART = {
  report: 'Its findings are not the same as those of the other issue any more.',
  rules: 'By the rules of today its findings are not the same as those of the other issue.',
}

/** Issues that were joined, the one that stays last, and issues that came apart, each with a sentence that says why. */
export function issueChanges(
  placed: readonly PlacedGroup[],
  dissolved: readonly LeftIssue[],
  stored: StoredIssues,
  cause: Cause,
): IssueChange[] {
  const names = new Map(placed.map(({ issue }) => [issue.id, issue.canonical_id]))
  const nameOf = (id: string) => names.get(id) ?? stored.get(id)?.canonical_id ?? null
  const merged = dissolved.map(({ id, into, reason }): IssueChange => {
    const before = [stored.get(into)?.canonical_id, stored.get(id)?.canonical_id] as const
    return { event: 'merged', issue_id: id, other_issue_id: into, detail: whyJoined(before, cause) ?? reason }
  })
  const split = placed.flatMap(({ group, issue }): IssueChange[] => {
    if (group.split_from === null) return []
    const now = [nameOf(group.split_from), issue.canonical_id] as const
    return [{ event: 'split', issue_id: issue.id, other_issue_id: group.split_from, detail: whyApart(now, cause) }]
  })
  return [...merged, ...split]
}

/** An issue that findings have left, and the one that such findings are of now. */
export type LeftIssue = { id: string; into: string; reason: string }

export function leftIssues(placed: readonly PlacedGroup[]): LeftIssue[] {
  const left = new Map<string, { into: string; reason: string }>()
  for (const { group, issue } of placed) {
    for (const { member, reason } of group.members) {
      if (member.issue_id === null || member.issue_id === issue.id) continue
      left.set(member.issue_id, { into: issue.id, reason: reason.detail ?? APART.report })
    }
  }
  return [...left].map(([id, where]) => ({ id, ...where }))
}

type Names = readonly [string | null | undefined, string | null | undefined]

function whyJoined(names: Names, cause: Cause): string | null {
  return cause.by === 'aliases' && areTwo(names) ? `${names.join(' and ')} are aliases (${cause.source}).` : null
}

function whyApart(names: Names, cause: Cause): string {
  if (cause.by !== 'aliases') return APART[cause.by]
  return areTwo(names) ? `${names.join(' and ')} are no longer aliases (${cause.source}).` : APART.report
}

function areTwo([one, other]: Names): boolean {
  return Boolean(one) && Boolean(other) && one !== other
}
