import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import type { Links } from './links.ts'

/** The scanners of a group's findings, and the groups of the rule map that their rules share. */
type Group = { scanners: Set<string>; shared: ReadonlySet<string> | null }

/**
 * Groups of findings, of which each contains at most one finding of a scanner, or several that are
 * joined already.
 */
export class ScannerGroups {
  readonly #sets: DisjointSets
  readonly #groups = new Map<number, Group>()

  /** Starts with the groups of `links`. */
  constructor(links: Links) {
    this.#sets = new DisjointSets(links.members.length)
    for (const indexes of links.groups()) {
      for (const index of indexes) this.#sets.join(indexes[0] as number, index)
      this.#groups.set(this.#sets.rootOf(indexes[0] as number), groupOf(links, indexes))
    }
  }

  areJoined(one: number, other: number): boolean {
    return this.#sets.rootOf(one) === this.#sets.rootOf(other)
  }

  /**
   * Joins the groups of two findings unless both contain findings of one scanner. Findings that are
   * joined by the rule map all share a group of it: a rule that is in two groups does not join the
   * findings of both.
   */
  join(one: number, other: number, ruleMapGroup: string | null): void {
    if (this.areJoined(one, other)) return
    const [some, more] = [this.#groupOf(one), this.#groupOf(other)].sort(
      (a, b) => a.scanners.size - b.scanners.size,
    ) as [Group, Group]
    for (const scanner of some.scanners) if (more.scanners.has(scanner)) return
    if (ruleMapGroup !== null && ![some, more].every(({ shared }) => shared?.has(ruleMapGroup))) return
    for (const scanner of some.scanners) more.scanners.add(scanner)
    this.#sets.join(one, other)
    this.#groups.set(this.#sets.rootOf(one), { scanners: more.scanners, shared: sharedBy([some.shared, more.shared]) })
  }

  #groupOf(index: number): Group {
    return this.#groups.get(this.#sets.rootOf(index)) as Group
  }
}

function groupOf(links: Links, indexes: readonly number[]): Group {
  const rules = new Set(indexes.map((index) => links.ruleOf(index)))
  return {
    scanners: new Set([...rules].map(({ scanner }) => scanner)),
    shared: sharedBy([...rules].map(({ groups }) => (groups.length === 0 ? null : new Set(groups)))),
  }
}

/** What all sets contain that are not null; what any contains if they share nothing. */
function sharedBy(sets: readonly (ReadonlySet<string> | null)[]): ReadonlySet<string> | null {
  return sets.reduce((one, other) => {
    if (one === null || other === null) return one ?? other
    const both = one.intersection(other)
    return both.size > 0 ? both : one.union(other)
  }, null)
}
