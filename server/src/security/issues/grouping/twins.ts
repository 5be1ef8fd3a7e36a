import type { GroupingFacts, Member } from './grouping-facts.ts'
import type { KnownRules } from './known-rules.ts'
import type { Cluster } from './pins.ts'

type Pinned = { member: Member; cluster: Cluster }
type KeyOf = (facts: GroupingFacts, rules: KnownRules) => string | null

/** Finds the pinned finding that another one repeats, for another branch or in a later report. */
export class Twins {
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
