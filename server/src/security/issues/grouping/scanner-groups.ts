import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import type { Links } from './links.ts'

/**
 * Groups of findings, of which each contains at most one finding of a scanner, or several that are
 * joined already.
 */
export class ScannerGroups {
  readonly #sets: DisjointSets
  readonly #scanners = new Map<number, Set<string>>()

  /** Starts with the groups of `links`. */
  constructor(links: Links) {
    this.#sets = new DisjointSets(links.members.length)
    for (const group of links.groups()) {
      for (const index of group) this.#sets.join(group[0] as number, index)
      const scanners = new Set(group.map((index) => links.ruleOf(index).scanner))
      this.#scanners.set(this.#sets.rootOf(group[0] as number), scanners)
    }
  }

  areJoined(one: number, other: number): boolean {
    return this.#sets.rootOf(one) === this.#sets.rootOf(other)
  }

  /** Joins the groups of two findings unless both contain findings of one scanner. */
  join(one: number, other: number): void {
    if (this.areJoined(one, other)) return
    const [some, more] = [one, other]
      .map((index) => this.#scanners.get(this.#sets.rootOf(index)) as Set<string>)
      .sort((a, b) => a.size - b.size) as [Set<string>, Set<string>]
    for (const scanner of some) if (more.has(scanner)) return
    for (const scanner of some) more.add(scanner)
    this.#sets.join(one, other)
    this.#scanners.set(this.#sets.rootOf(one), more)
  }
}
