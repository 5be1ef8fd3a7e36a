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
  /** By the root of findings that are joined. */
  readonly #tells = new Map<number, Tells>()

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
    const tells = mergeTells(this.#listTells(indexes))
    for (const other of others) this.#sets.join(first, other)
    this.#tells.set(this.getRoot(first), tells)
    if (this.#allow === null) this.addMatch(indexes, match)
    else for (const part of this.#allow(indexes)) if (part.length > 1) this.addMatch(part, match)
  }

  /**
   * Joins findings that have their rule in common, unless a report tells two of them apart, or two
   * of those that are joined with them already.
   */
  joinByRule(indexes: readonly number[], match: Match): void {
    const [largest, ...others] = this.#listTells(indexes)
    const known: Tells = new Map()
    for (const tells of others) {
      for (const [key, tell] of tells) {
        const other = known.has(key) ? known.get(key) : largest?.get(key)
        if (other !== undefined && (tell === null || other !== tell)) return
        known.set(key, tell)
      }
    }
    this.join(indexes, match)
  }

  /**
   * The parts of findings of one rule in which no report tells two apart: all of them, or those
   * with the same marks.
   */
  splitTold(indexes: readonly number[], marks = MARKS): number[][] {
    const isTold = mergeTells(indexes.map((index) => this.#getTells(index)))
      .values()
      .some((tell) => tell === null)
    if (!isTold) return [[...indexes]]
    const [mark, ...others] = marks
    const parts = groupBy(indexes, (index) => (mark ?? getTell)(this.getFacts(index)))
    return [...parts.values()].flatMap((part) => (mark === undefined ? [part] : this.splitTold(part, others)))
  }

  /** Of these findings, each with those that are joined with it, the largest first. */
  #listTells(indexes: readonly number[]): Tells[] {
    const byRoot = new Map(indexes.map((index) => [this.getRoot(index), index]))
    const all = [...byRoot].map(([root, index]) => this.#tells.get(root) ?? this.#getTells(index))
    return all.sort((a, b) => b.size - a.size)
  }

  /** Another tool may flag the statement instead of the secret. */
  #getTells(index: number): Tells {
    const facts = this.getFacts(index)
    const { rule } = this.getRule(index)
    const tells: Tells = new Map([[`${facts.stream_id} ${rule}`, getTell(facts)]])
    if (facts.kind === 'secret' && facts.context !== null) tells.set(`${facts.tool} ${rule}`, facts.context)
    return tells
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

/**
 * What tells the findings of each rule and report apart. Null for those that are joined although
 * their report tells them apart, because they have a vulnerability or a secret in common.
 */
type Tells = Map<string, string | null>

/** Merges all into the first, because copying it for each finding that joins it would take long. */
function mergeTells([first, ...others]: readonly Tells[]): Tells {
  const merged: Tells = first ?? new Map()
  for (const tells of others) {
    for (const [key, tell] of tells) merged.set(key, (merged.has(key) ? merged.get(key) : tell) === tell ? tell : null)
  }
  return merged
}

const DIGITS = 10
const pad = (place: number | null) => `${place ?? 0}`.padStart(DIGITS, '0')

/** All marks of a finding, by which those of one report are told apart. Sorts by place. */
export function getTell(facts: GroupingFacts): string {
  const { path, start_line, start_column, end_line, end_column, context, fingerprint, told, resource_name } = facts
  const places = [start_line, start_column, end_line, end_column].map(pad)
  return JSON.stringify([path, ...places, context, fingerprint, told, resource_name])
}

/** The marks by which findings of several reports are compared, the most telling first. */
const MARKS: ((facts: GroupingFacts) => string | null)[] = [
  ({ fingerprint }) => fingerprint,
  ({ context }) => context,
  ({ told }) => told,
  ({ start_column, end_column }) => `${start_column}:${end_column}`,
  ({ start_line, end_line }) => `${start_line}:${end_line}`,
]

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
