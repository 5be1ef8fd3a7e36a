import { DisjointSets } from '../../../platform/disjoint-sets.ts'
import { ALONE, GROUPING_CODES, type GroupingFacts, type GroupingReason } from './grouping-facts.ts'

/** States for one finding why it is one issue with others. */
export type Detail = (facts: GroupingFacts) => string

export const MATCHED = [
  'vulnerability',
  'rule',
  'secret',
  'fingerprint',
  'weakness_and_code',
  'weakness_and_lines',
  'weakness_and_resource',
] as const

/** What is equal, and the value where it is one that can be shown: no hash of what may be a secret. */
export type Match = { on: (typeof MATCHED)[number]; value: string | null }

/** Which findings of a bucket are one issue, and why each of them. */
export class Links {
  readonly members: readonly GroupingFacts[]
  readonly #sets: DisjointSets
  readonly #reasons: (GroupingReason | undefined)[] = []

  constructor(members: readonly GroupingFacts[]) {
    this.members = members
    this.#sets = new DisjointSets(members.length)
  }

  /** Members, by their numbers, that are one issue for one reason, by a match; `detailOf` states it for each of them. */
  join(numbers: readonly number[], code: GroupingReason['code'], _match: Match, detailOf: Detail): void {
    const [first, ...others] = numbers
    if (first === undefined || others.length === 0) return
    for (const other of others) this.#sets.join(first, other)
    for (const at of numbers) this.#note(at, code, detailOf)
  }

  factsOf(number: number): GroupingFacts {
    return this.members[number] as GroupingFacts
  }

  reasonOf(number: number): GroupingReason {
    return this.#reasons[number] ?? ALONE
  }

  /** The numbers of the members of each issue. */
  groups(): number[][] {
    return [...groupBy(this.members.keys(), (at) => this.#sets.rootOf(at)).values()]
  }

  /** The rule that is asked first counts, of one rule the first sentence: no order in which findings come changes it. */
  #note(at: number, code: GroupingReason['code'], detailOf: Detail): void {
    const noted = this.#reasons[at]
    if (noted !== undefined && rankOf(noted.code) < rankOf(code)) return
    const detail = detailOf(this.factsOf(at))
    if (noted?.code !== code || detail < (noted.detail ?? '')) this.#reasons[at] = { code, detail }
  }
}

/** The lower the earlier it is asked. */
export function rankOf(code: GroupingReason['code']): number {
  return GROUPING_CODES.indexOf(code)
}

/**
 * Members apart by what they name. One that names nothing belongs to the only name that others have; where they have several
 * nobody can tell.
 */
export function apartBy(numbers: readonly number[], nameOf: (number: number) => string | null): number[][] {
  const byName = groupBy(numbers, nameOf)
  const isClear = byName.size - (byName.has(null) ? 1 : 0) <= 1
  return isClear ? [[...numbers]] : [...byName.values()]
}

/** The things by a key of each. */
export function groupBy<Thing, Key>(things: Iterable<Thing>, keyOf: (thing: Thing) => Key): Map<Key, Thing[]> {
  const groups = new Map<Key, Thing[]>()
  for (const thing of things) {
    const key = keyOf(thing)
    const group = groups.get(key)
    if (group) group.push(thing)
    else groups.set(key, [thing])
  }
  return groups
}
