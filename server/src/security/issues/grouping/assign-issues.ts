/** A finding in a group. `id` sorts by age; null before it is stored. */
export type Placed = { id: string | null; issue_id: string | null }

/** `issue_id` is null where a group needs a new issue, which was split from `split_from` if any. */
export type Assignment = { issue_id: string | null; split_from: string | null }

/**
 * Gives groups their issues. An issue goes where its oldest member went; where several meet the oldest one stays. What was one
 * issue and is several keeps it in one place and gets new ones elsewhere. Ids of issues sort by age too.
 */
export function assignIssues(groups: readonly (readonly Placed[])[]): Assignment[] {
  const heirs = heirsOf(groups)
  return groups.map((members, at) => {
    const issues = [...new Set(members.flatMap(({ issue_id }) => issue_id ?? []))].sort()
    const inherited = issues.find((issue) => heirs.get(issue) === at)
    if (inherited !== undefined) return { issue_id: inherited, split_from: null }
    return { issue_id: null, split_from: issues[0] ?? null }
  })
}

/** Which group each issue's oldest member is in. */
function heirsOf(groups: readonly (readonly Placed[])[]): Map<string, number> {
  const oldest = new Map<string, { id: string; group: number }>()
  for (const [group, members] of groups.entries()) {
    for (const { id, issue_id } of members) {
      if (id === null || issue_id === null) continue
      const known = oldest.get(issue_id)
      if (known === undefined || id < known.id) oldest.set(issue_id, { id, group })
    }
  }
  return new Map([...oldest].map(([issue, { group }]) => [issue, group]))
}
