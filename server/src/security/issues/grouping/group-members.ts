import { compareCanonical } from '../../intel/aliases.ts'
import { type GroupingReason, SINGLE } from '../../vocabulary/finding.ts'
import type { Member } from './grouping-facts.ts'
import { applyRules, linkBucket, type Names } from './link-bucket.ts'
import { type Allow, groupBy, Links } from './links.ts'
import { PinnedSets } from './pinned-sets.ts'
import { type Cluster, computeClusters, describeCluster, type Edits } from './pins.ts'

/**
 * `issue_id` is null if the group needs a new issue, which was split from `split_from` if that is
 * not null.
 */
type Assignment = { issue_id: string | null; split_from: string | null }

export type Group = Assignment & UnassignedGroup

/**
 * Groups findings into issues. They must be all findings of their buckets. `edits` are the splits
 * and merges by people that concern them.
 */
export function groupMembers(members: readonly Member[], names: Names, edits: Edits | null = null): Group[] {
  const groups = edits === null ? groupByRules(members, names) : groupPinned(members, names, edits)
  const assignments = assignIssues(groups.map((group) => group.members.map(({ member }) => member)))
  return groups.map((group, index) => ({ ...group, ...(assignments[index] as Assignment) }))
}

function groupByRules(members: readonly Member[], names: Names): UnassignedGroup[] {
  return [...groupBy(members, ({ bucket }) => bucket)].flatMap(([bucket, inBucket]) => {
    const links = linkBucket(inBucket, names)
    return links.groups().map((indexes) => ({
      bucket,
      members: indexes.map((index) => ({ member: inBucket[index] as Member, reason: links.getReason(index) })),
    }))
  })
}

type Assigned = Pick<Member, 'id' | 'issue_id'>

/**
 * Assigns issues to groups. An issue stays with its oldest finding. If several issues meet in a
 * group, the oldest is kept. If the findings of one issue are in several groups, the others get new
 * issues. Ids sort by age.
 */
export function assignIssues(groups: readonly (readonly Assigned[])[]): Assignment[] {
  const heirs = selectHeirs(groups)
  return groups.map((members, index) => {
    const issues = [...new Set(members.flatMap(({ issue_id }) => issue_id ?? []))].sort()
    const inherited = issues.find((issue) => heirs.get(issue) === index)
    if (inherited !== undefined) return { issue_id: inherited, split_from: null }
    return { issue_id: null, split_from: issues[0] ?? null }
  })
}

/** The index of the group with each issue's oldest finding. */
function selectHeirs(groups: readonly (readonly Assigned[])[]): Map<string, number> {
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

/** An issue that was merged into another one, and the vulnerabilities that it was about. */
export type MergedIssue = { id: string; merged_into: string; vuln_ids: string[] }

/**
 * Assigns merged issues to groups that split off again, if a merged issue was about the same
 * vulnerabilities. So an alias that is withdrawn restores the issue that it had merged.
 */
export function restoreMergedIssues(groups: readonly Group[], merged: readonly MergedIssue[]): Group[] {
  const waiting = new Map(merged.map((issue) => [revivalKey(issue.merged_into, issue.vuln_ids), issue.id]))
  return groups.map((group) => {
    if (!isSplit(group)) return group
    const key = revivalKey(group.split_from, getVulnerabilityIds(group))
    const issueId = waiting.get(key)
    if (issueId === undefined) return group
    waiting.delete(key)
    return { ...group, issue_id: issueId }
  })
}

/** True for a group that splits off from an issue and has no issue yet. */
export function isSplit(group: Group): group is Group & { split_from: string } {
  return group.issue_id === null && group.split_from !== null
}

function revivalKey(from: string, ids: readonly string[]): string {
  return JSON.stringify([from, ...ids])
}

/** All ids that a group's findings name, the best name first. */
export function getVulnerabilityIds({ members }: Group): string[] {
  return [...new Set(members.flatMap(({ member }) => member.vuln_ids))].sort(compareCanonical)
}

type GroupMember = { member: Member; reason: GroupingReason }
/** Findings that belong to one issue, before it is decided which. */
type UnassignedGroup = { bucket: string; members: GroupMember[] }

/**
 * Groups findings by the rules, except those that people have split or merged: they stay apart or
 * together, in one bucket or in several.
 */
function groupPinned(members: readonly Member[], names: Names, edits: Edits): UnassignedGroup[] {
  const sorted = members.toSorted(byAge)
  const { groups, clusters, linked } = linkPinned(sorted, { names, edits }, (inBucket, allow) => {
    return new Links(inBucket, names.rules, allow)
  })
  const reasons = new Map(
    linked.flatMap(({ indexes, links }) => indexes.map((index, at) => [index, links.getReason(at)] as const)),
  )
  const getReason = (index: number) => {
    const reason = reasons.get(index) ?? SINGLE
    return reason === SINGLE ? statedReason(sorted[index] as Member, clusters) : reason
  }
  return groups.map((indexes) => ({
    bucket: (sorted[indexes[0] as number] as Member).bucket,
    members: indexes.map((index) => ({ member: sorted[index] as Member, reason: getReason(index) })),
  }))
}

/** The links of one bucket. `indexes` are those of its findings among all. */
type LinkedBucket<Made extends Links> = { indexes: readonly number[]; links: Made }
type Linked<Made extends Links> = {
  groups: number[][]
  clusters: ReadonlyMap<string, Cluster>
  linked: LinkedBucket<Made>[]
}

/** Applies the rules to each bucket, and joins what edits keep together. */
export function linkPinned<Made extends Links>(
  members: readonly Member[],
  { names, edits }: { names: Names; edits: Edits },
  makeLinks: (inBucket: readonly Member[], allow: Allow) => Made,
): Linked<Made> {
  const clusters = computeClusters(edits)
  const sets = new PinnedSets(members, clusters, names.rules)
  const buckets = groupBy(members.keys(), (index) => (members[index] as Member).bucket)
  const linked = [...buckets].sort().map(([, indexes]) => {
    const own = new Map(indexes.map((index, at) => [index, at]))
    const allow = (at: readonly number[]) =>
      sets.join(at.map((each) => indexes[each] as number)).map((part) => part.map((index) => own.get(index) as number))
    const links = makeLinks(
      indexes.map((index) => members[index] as Member),
      allow,
    )
    applyRules(links, names.canonicalId)
    return { indexes, links }
  })
  return { groups: [...groupBy(members.keys(), (index) => sets.getRoot(index)).values()], clusters, linked }
}

/** The reason of a finding that no rule joins. */
function statedReason({ id }: Member, clusters: ReadonlyMap<string, Cluster>): GroupingReason {
  const cluster = id === null ? undefined : clusters.get(id)
  return cluster === undefined ? SINGLE : { code: 'single', detail: describeCluster(cluster) }
}

/** Stored findings come first, oldest first, and then those of the report in its order. */
function byAge(a: Member, b: Member): number {
  if (a.id === null || b.id === null)
    return Number(a.id === null) - Number(b.id === null) || (a.position ?? 0) - (b.position ?? 0)
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
