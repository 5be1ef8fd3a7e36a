import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import type { Links } from './links.ts'

/** What is known about the findings of a group. */
type Group = {
  /** The tools that reported them. */
  tools: Set<string>
  /** The rules of each scanner, as one text. Tools may share a scanner. */
  rules: Map<string, string>
  /** The groups of the rule map that all rules share. */
  shared: ReadonlySet<string> | null
}

/**
 * Groups of findings, of which each contains at most one finding of a tool, and at most one rule of
 * a scanner, apart from those that are joined already.
 */
export class ScannerGroups {
  readonly #sets: DisjointSets
  readonly #groups = new Map<number, Group>()

  /** Starts with the groups of `links`. */
  constructor(links: Links) {
    this.#sets = new DisjointSets(links.members.length)
    for (const indexes of links.groups()) {
      for (const index of indexes) this.#sets.join(indexes[0] as number, index)
      this.#groups.set(this.#sets.getRoot(indexes[0] as number), toGroup(links, indexes))
    }
  }

  areJoined(one: number, other: number): boolean {
    return this.#sets.getRoot(one) === this.#sets.getRoot(other)
  }

  /**
   * Joins the groups of two findings if nothing in them is told apart by a scanner. Findings that
   * are joined by the rule map all share a group of it: a rule that is in two groups does not join
   * the findings of both.
   */
  join(one: number, other: number, ruleMapGroup: string | null): void {
    if (this.areJoined(one, other)) return
    const [some, more] = [this.#toGroup(one), this.#toGroup(other)].sort((a, b) => a.tools.size - b.tools.size) as [
      Group,
      Group,
    ]
    if (areToldApart(some, more)) return
    if (ruleMapGroup !== null && ![some, more].every(({ shared }) => shared?.has(ruleMapGroup))) return
    for (const tool of some.tools) more.tools.add(tool)
    for (const [scanner, rules] of some.rules) more.rules.set(scanner, rules)
    more.shared = sharedBy([some.shared, more.shared])
    this.#sets.join(one, other)
    this.#groups.set(this.#sets.getRoot(one), more)
  }

  #toGroup(index: number): Group {
    return this.#groups.get(this.#sets.getRoot(index)) as Group
  }
}

function areToldApart(some: Group, more: Group): boolean {
  if (some.tools.values().some((tool) => more.tools.has(tool))) return true
  return some.rules.entries().some(([scanner, rules]) => (more.rules.get(scanner) ?? rules) !== rules)
}

function toGroup(links: Links, indexes: readonly number[]): Group {
  const rules = new Set(indexes.map((index) => links.getRule(index)))
  const byScanner = Map.groupBy(rules, ({ scanner }) => scanner)
  const texts = byScanner.entries().map(([scanner, own]): [string, string] => {
    const ids = new Set(own.map(({ rule }) => rule))
    return [scanner, [...ids].sort().join('\n')]
  })
  return {
    tools: new Set(indexes.map((index) => links.getFacts(index).tool.toLowerCase())),
    rules: new Map(texts),
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
