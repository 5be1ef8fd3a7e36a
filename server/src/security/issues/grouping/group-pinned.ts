import { type GroupingReason, SINGLE } from '../../vocabulary/finding.ts'
import type { Member } from './grouping-facts.ts'
import { applyRules, type Names } from './link-bucket.ts'
import { type Allow, groupBy, Links } from './links.ts'
import { PinnedSets } from './pinned-sets.ts'
import { type Cluster, computeClusters, describeCluster, type Edits } from './pins.ts'

type GroupMember = { member: Member; reason: GroupingReason }
/** Findings that belong to one issue, before it is decided which. */
export type UnassignedGroup = { bucket: string; members: GroupMember[] }

/**
 * Groups findings by the rules, except those that people have split or merged: they stay apart or
 * together, in one bucket or in several.
 */
export function groupPinned(members: readonly Member[], names: Names, edits: Edits): UnassignedGroup[] {
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
