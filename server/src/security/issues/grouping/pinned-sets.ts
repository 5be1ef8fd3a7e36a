import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import { compareTexts } from '../../../platform/text.ts'
import type { GroupingFacts, Member } from './grouping-facts.ts'
import type { KnownRules } from './known-rules.ts'
import type { Cluster } from './pins.ts'

/** Sets of findings that may be joined, by their lowest member, with all clusters in them. */
type Part = { roots: number[]; clusters: Set<Cluster> }

/**
 * Sets of findings that never contain findings of two clusters that are kept apart. The findings of
 * a cluster are in one set from the start. Findings are named by their index in `members`.
 */
export class PinnedSets {
  readonly #members: readonly Member[]
  readonly #sets: DisjointSets
  readonly #clusters = new Map<number, Set<Cluster>>()
  readonly #indexes = new Map<number, number[]>()
  readonly #issues: ReadonlyMap<Cluster, ReadonlySet<string>>
  readonly #twins: Twins

  constructor(members: readonly Member[], clusters: ReadonlyMap<string, Cluster>, rules: KnownRules) {
    this.#members = members
    this.#sets = new DisjointSets(members.length)
    const pinned = [...members.entries()].flatMap(([index, member]) => {
      const cluster = member.id === null ? undefined : clusters.get(member.id)
      return cluster === undefined ? [] : { index, member, cluster }
    })
    const byCluster = Map.groupBy(pinned, ({ cluster }) => cluster)
    for (const [cluster, of] of byCluster) this.#clusters.set((of[0] as { index: number }).index, new Set([cluster]))
    for (const of of byCluster.values()) this.#joinAll(of.map(({ index }) => index))
    const collectIssues = (of: typeof pinned) => new Set(of.flatMap(({ member }) => member.issue_id ?? []))
    this.#issues = new Map([...byCluster].map(([cluster, of]) => [cluster, collectIssues(of)]))
    this.#twins = new Twins(pinned, rules)
  }

  getRoot(index: number): number {
    return this.#sets.getRoot(index)
  }

  /**
   * Joins findings that match by a rule. If clusters among them are kept apart, each part of the
   * findings that may be joined is joined. Returns these parts.
   */
  join(indexes: readonly number[]): number[][] {
    const rootByIndex = new Map(indexes.map((index) => [index, this.getRoot(index)]))
    const roots = [...new Set(rootByIndex.values())]
    const poles = this.#selectPoles(roots)
    const parts = poles.length === 0 ? [roots] : this.#divide(roots, poles)
    for (const part of parts) this.#joinAll(part)
    if (parts.length === 1) return [[...indexes]]
    return parts.map((part) => indexes.filter((index) => part.includes(rootByIndex.get(index) as number)))
  }

  /** The sets that are kept apart from another one of these. */
  #selectPoles(roots: readonly number[]): number[] {
    const all = new Set(roots.flatMap((root) => [...(this.#clusters.get(root) ?? [])]))
    if (all.size < 2) return []
    return roots.filter((root) => {
      const clusters = this.#clusters.get(root)
      return clusters?.values().some(({ apart }) => !all.isDisjointFrom(apart))
    })
  }

  /** The sets that are kept apart come first, the one with the oldest issue at the beginning. */
  #divide(roots: readonly number[], poles: readonly number[]): number[][] {
    const parts: Part[] = []
    for (const root of poles.toSorted((a, b) => compareTexts(this.#getAge(a), this.#getAge(b)))) {
      const clusters = this.#clusters.get(root) as Set<Cluster>
      const part = parts.find((present) =>
        clusters.values().every(({ apart }) => present.clusters.isDisjointFrom(apart)),
      )
      if (part === undefined) parts.push({ roots: [root], clusters: new Set(clusters) })
      else {
        part.roots.push(root)
        for (const cluster of clusters) part.clusters.add(cluster)
      }
    }
    const polar = new Set(poles)
    for (const root of roots) {
      if (!polar.has(root)) this.#choose(root, parts).roots.push(root)
    }
    return parts.map((part) => part.roots)
  }

  #getAge(root: number): string {
    const clusters = this.#clusters.get(root) as Set<Cluster>
    const issues = [...clusters].flatMap((cluster) => [...(this.#issues.get(cluster) ?? [])])
    const findings = [...clusters].flatMap((cluster) => [...cluster.findings])
    return `${issues.sort()[0]} ${findings.sort()[0]}`
  }

  /**
   * A stored finding stays in its issue, so that an edit moves only the findings that it names. A
   * new
   * finding follows the pinned finding that it repeats. Every other one joins the oldest issue.
   */
  #choose(root: number, parts: readonly Part[]): Part {
    const members = this.#getIndexes(root).map((index) => this.#members[index] as Member)
    const issues = new Set(members.flatMap(({ issue_id }) => issue_id ?? []))
    const isOwn = (cluster: Cluster) => !this.#issues.get(cluster)?.isDisjointFrom(issues)
    const sets = parts.map(({ clusters }) => clusters)
    const own = sets.findIndex((clusters) => clusters.values().some(isOwn))
    return parts[own >= 0 ? own : (this.#twins.choose(members, sets) ?? 0)] as Part
  }

  #getIndexes(root: number): number[] {
    return this.#indexes.get(root) ?? [root]
  }

  #joinAll([first, ...others]: readonly number[]): void {
    for (const other of others) {
      const [one, two] = [this.getRoot(first as number), this.getRoot(other)]
      if (one === two) continue
      const [some, more] = [this.#getIndexes(one), this.#getIndexes(two)].sort((a, b) => a.length - b.length) as [
        number[],
        number[],
      ]
      const clusters = new Set([...(this.#clusters.get(one) ?? []), ...(this.#clusters.get(two) ?? [])])
      this.#sets.join(one, two)
      const root = this.getRoot(one)
      for (const index of some) more.push(index)
      this.#indexes.set(root, more)
      if (clusters.size > 0) this.#clusters.set(root, clusters)
    }
  }
}

type Pinned = { member: Member; cluster: Cluster }
type KeyOf = (facts: GroupingFacts, rules: KnownRules) => string | null

/** Finds the pinned finding that another one repeats, for another branch or in a later report. */
class Twins {
  readonly #rules: KnownRules
  readonly #pinnedByKey: Map<string | null, Pinned[]>[]

  constructor(pinned: readonly Pinned[], rules: KnownRules) {
    this.#rules = rules
    this.#pinnedByKey = KEYS.map((keyOf) => Map.groupBy(pinned, ({ member }) => keyOf(member, rules)))
  }

  /**
   * Returns which of some sets of clusters has a finding that one of these repeats: by the first
   * key
   * that only one set has. Returns null if there is no such key.
   */
  choose(members: readonly Member[], sets: readonly ReadonlySet<Cluster>[]): number | null {
    for (const [level, keyOf] of KEYS.entries()) {
      const keys = new Set(members.flatMap((member) => keyOf(member, this.#rules) ?? []))
      const pinned = [...keys].flatMap((key) => this.#pinnedByKey[level]?.get(key) ?? [])
      const clusters = new Set(pinned.map(({ cluster }) => cluster))
      const [index, ...others] = sets.keys().filter((at) => !sets[at]?.isDisjointFrom(clusters))
      if (index !== undefined && others.length === 0) return index
    }
    return null
  }
}

/** What a finding and its repetition have in common, the most reliable first. */
const KEYS: readonly KeyOf[] = [
  (facts, rules) => facts.fingerprint && `${rules.of(facts).scanner} ${facts.fingerprint}`,
  (facts, rules) => facts.context && JSON.stringify([rules.of(facts).scanner, rules.of(facts).rule, facts.context]),
  (facts, rules) => {
    const { scanner, rule } = rules.of(facts)
    return JSON.stringify([scanner, rule, facts.vuln_ids.toSorted(), facts.resource_name])
  },
  (facts, rules) => rules.of(facts).scanner,
]
