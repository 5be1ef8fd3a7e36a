import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import { GROUPING_CODES, type GroupingCode, type GroupingReason, SINGLE } from '../../vocabulary/finding.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { KnownRule, KnownRules } from './known-rules.ts'

export const MATCHED = [
  'vulnerability',
  'rule',
  'secret',
  'secret_and_lines',
  'fingerprint',
  'weakness_and_code',
  'weakness_and_lines',
  'weakness_and_resource',
] as const

/**
 * A rule that matches findings, the value they share, and for each finding a sentence that states
 * it.
 */
export type Match = {
  code: GroupingCode
  on: (typeof MATCHED)[number]
  /** Null if the value must not be shown because it is a hash or a secret. */
  value: string | null
  getDetail: (facts: GroupingFacts) => string
}

/** Returns the parts of some findings that may be joined. */
export type Allow = (indexes: readonly number[]) => number[][]

/**
 * Which findings of a bucket belong to one issue, and why. Findings are named by their index in
 * `members`.
 */
export class Links {
  readonly members: readonly GroupingFacts[]
  readonly #allow: Allow | null
  readonly #rules: KnownRule[] = []
  readonly #known: KnownRules
  readonly #sets: DisjointSets
  readonly #reasons: (GroupingReason | undefined)[] = []

  constructor(members: readonly GroupingFacts[], rules: KnownRules, allow: Allow | null = null) {
    this.members = members
    this.#known = rules
    this.#allow = allow
    this.#sets = new DisjointSets(members.length)
  }

  /**
   * Joins findings by a match. The rules see all of them as joined, also those that people keep
   * apart, so that the rules match the same findings with and without splits.
   */
  join(indexes: readonly number[], match: Match): void {
    const [first, ...others] = indexes
    if (first === undefined || others.length === 0) return
    for (const other of others) this.#sets.join(first, other)
    if (this.#allow === null) this.addMatch(indexes, match)
    else for (const part of this.#allow(indexes)) if (part.length > 1) this.addMatch(part, match)
  }

  protected addMatch(indexes: readonly number[], match: Match): void {
    for (const index of indexes) this.#addReason(index, match)
  }

  /** Equal for findings that are joined so far. */
  getRoot(index: number): number {
    return this.#sets.getRoot(index)
  }

  getFacts(index: number): GroupingFacts {
    return this.members[index] as GroupingFacts
  }

  getRule(index: number): KnownRule {
    this.#rules[index] ??= this.#known.of(this.getFacts(index))
    return this.#rules[index]
  }

  getReason(index: number): GroupingReason {
    return this.#reasons[index] ?? SINGLE
  }

  /** The indexes of the findings of each issue. */
  groups(): number[][] {
    return [...groupBy(this.members.keys(), (index) => this.getRoot(index)).values()]
  }

  /**
   * Keeps the reason of the first rule, and of one rule the first sentence, whatever the order of
   * the findings.
   */
  #addReason(index: number, { code, getDetail }: Match): void {
    const present = this.#reasons[index]
    if (present !== undefined && getRank(present.code) < getRank(code)) return
    const detail = getDetail(this.getFacts(index))
    if (present?.code !== code || detail < (present.detail ?? '')) this.#reasons[index] = { code, detail }
  }
}

/** A match of one finding, and the indexes of all findings that it joins. */
export type RecordedMatch = Omit<Match, 'getDetail'> & { detail: string; indexes: readonly number[] }

/** Links that keep every match of a finding, not only the reason. They explain an issue. */
export class RecordedLinks extends Links {
  readonly #matches: RecordedMatch[][]

  constructor(members: readonly GroupingFacts[], rules: KnownRules, allow: Allow | null = null) {
    super(members, rules, allow)
    this.#matches = members.map(() => [])
  }

  protected override addMatch(indexes: readonly number[], match: Match): void {
    super.addMatch(indexes, match)
    const { getDetail, ...matched } = match
    for (const index of indexes) {
      this.#matches[index]?.push({ ...matched, detail: getDetail(this.getFacts(index)), indexes })
    }
  }

  /** In the order of the rules. The first match is the finding's reason. */
  getMatches(index: number): RecordedMatch[] {
    const matches = this.#matches[index] ?? []
    return matches.sort((a, b) => getRank(a.code) - getRank(b.code) || (a.detail < b.detail ? -1 : 1))
  }
}

function getRank(code: GroupingCode): number {
  return GROUPING_CODES.indexOf(code)
}

/**
 * Separates findings by a name. Findings without a name join the only name that others have, and
 * stay apart if there are several names.
 */
export function splitByName(indexes: readonly number[], nameOf: (index: number) => string | null): number[][] {
  const byName = groupBy(indexes, nameOf)
  const isUnambiguous = byName.size - (byName.has(null) ? 1 : 0) <= 1
  return isUnambiguous ? [[...indexes]] : [...byName.values()]
}

export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
