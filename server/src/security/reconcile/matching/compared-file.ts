import { compareSketches } from '../../vocabulary/text-sketch.ts'
import {
  computeTextLikeness,
  getContent,
  getPlacedContent,
  getShape,
  getSize,
  groupIndexes,
  hasContent,
  isSameContent,
  type Matching,
  type Pair,
  type Side,
  type TrackedFinding,
} from './matching.ts'

/** How much speaks for two findings of one rule being the same. */
export type Evidence = {
  weight: number
  isSame: boolean
  /** Whether the column and the length of the flagged code are the same. */
  isInPlace: boolean
  /** How alike the flagged texts are, from 0 to 1; null if a text is unknown. */
  likeness: number | null
}

/** The weight of equal findings: if there is one on each side, and if there are very many. */
const EQUAL_TEXT = { one: 8, many: 3 }
const EQUAL_MESSAGE = { one: 6, many: 1.8 }
const EQUAL_MESSAGE_OF_SIZE = { one: 5, many: 0.8 }
const EQUAL_MESSAGE_ELSEWHERE = { one: 3, many: 0.4 }
const RULE_ONLY = 1
const LIKE_TEXT = 5
const SAME_SURROUNDINGS = 2
const SAME_PLACE = 0.8

/** The findings of a file before and after a change, as indexes. */
export class ComparedFile {
  readonly matching: Matching
  readonly stored: readonly number[]
  readonly reported: readonly number[]
  readonly #keys: Record<Side, Map<number, Keys>>
  readonly #counts: Record<Side, Map<string, number>>

  constructor(matching: Matching, stored: readonly number[], reported: readonly number[]) {
    this.matching = matching
    this.stored = stored
    this.reported = reported
    this.#keys = { stored: this.#getKeys('stored'), reported: this.#getKeys('reported') }
    this.#counts = { stored: this.#countKeys('stored'), reported: this.#countKeys('reported') }
  }

  evidence([from, to]: Pair): Evidence {
    const stored = this.matching.stored[from] as TrackedFinding
    const reported = this.matching.reported[to] as TrackedFinding
    const keys = this.#keys.stored.get(from) as Keys
    const others = this.#keys.reported.get(to) as Keys
    const isInPlace = keys.shape === others.shape
    if (isSameContent(stored, reported)) {
      const likeness = hasContent(stored) ? 1 : null
      const surroundings = sameSurroundings(stored, reported)
      return { weight: this.#equality(keys, others, isInPlace) + surroundings, isSame: true, isInPlace, likeness }
    }
    const likeness = computeTextLikeness(stored, reported)
    const weight = RULE_ONLY + (isInPlace ? SAME_PLACE : 0) + LIKE_TEXT * (likeness ?? 0)
    return { weight, isSame: false, isInPlace, likeness }
  }

  /** Whether both sides have free findings. */
  hasFree(): boolean {
    const { matching, stored, reported } = this
    return (
      stored.some((index) => matching.isFree('stored', index)) &&
      reported.some((index) => matching.isFree('reported', index))
    )
  }

  /** The free findings of a side, by a key; those without one are left out. */
  freeBy(side: Side, keyOf: (finding: TrackedFinding) => string | null): Map<string, number[]> {
    const { matching } = this
    return groupIndexes(this[side], (index) =>
      matching.isFree(side, index) ? keyOf(matching[side][index] as TrackedFinding) : null,
    )
  }

  /** Equal findings say the less, the more of them the file has. */
  #equality({ content, placed, sized, hasText }: Keys, others: Keys, isInPlace: boolean): number {
    if (hasText) return this.#rarity(content, EQUAL_TEXT) + (isInPlace ? SAME_PLACE : 0)
    if (isInPlace) return this.#rarity(placed, EQUAL_MESSAGE)
    const isOfSize = sized !== null && sized === others.sized
    return isOfSize ? this.#rarity(sized, EQUAL_MESSAGE_OF_SIZE) : this.#rarity(content, EQUAL_MESSAGE_ELSEWHERE)
  }

  #rarity(key: string, { one, many }: { one: number; many: number }): number {
    const pairs = (this.#counts.stored.get(key) ?? 1) * (this.#counts.reported.get(key) ?? 1)
    return Math.max(many, one - 0.4 * Math.log2(pairs))
  }

  #getKeys(side: Side): Map<number, Keys> {
    return new Map(this[side].map((index) => [index, getKeys(this.matching[side][index] as TrackedFinding)]))
  }

  #countKeys(side: Side): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { content, placed, sized } of this.#keys[side].values()) {
      for (const key of [content, placed, sized]) if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return counts
  }
}

/** What findings are compared by, made once for each of them. */
type Keys = { content: string; shape: string; placed: string; sized: string | null; hasText: boolean }

function getKeys(finding: TrackedFinding): Keys {
  const [content, shape, placed] = [getContent(finding), getShape(finding), getPlacedContent(finding)]
  const size = getSize(finding)
  const sized = size === null ? null : `${content} of size ${size}`
  return { content, shape, placed, sized, hasText: hasContent(finding) }
}

/** Equal texts are told apart by the lines around them. */
function sameSurroundings(stored: TrackedFinding, reported: TrackedFinding): number {
  if (stored.similarity === null || reported.similarity === null) return 0
  return compareSketches(stored.similarity, reported.similarity).sameSurroundings ? SAME_SURROUNDINGS : 0
}
