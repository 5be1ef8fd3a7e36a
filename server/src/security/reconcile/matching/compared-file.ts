import { likeness } from '../../vocabulary/text-sketch.ts'
import { groupedBy, type Matching, type Side } from './matching.ts'
import { contentOf, hasContent, type Pair, type TrackedFinding } from './tracked-finding.ts'

/** How much speaks for two findings of one rule being the same. */
export type Evidence = {
  weight: number
  isSame: boolean
  /** How alike the flagged texts are, from 0 to 1; null if a text is unknown. */
  likeness: number | null
}

const EQUAL_TEXT = 8
const EQUAL_MESSAGE = 4
/** What is left of both if the file is full of equal findings. */
const COMMON_TEXT = 3
const COMMON_MESSAGE = 1.2
const RULE_ONLY = 1
const LIKE_TEXT = 5
const SAME_SURROUNDINGS = 2
const SAME_COLUMN = 0.5
const SAME_EXTENT = 0.5

/** The findings of a file before and after a change, as indexes. */
export class ComparedFile {
  readonly matching: Matching
  readonly stored: readonly number[]
  readonly reported: readonly number[]
  readonly #counts: Record<Side, Map<string, number>>

  constructor(matching: Matching, stored: readonly number[], reported: readonly number[]) {
    this.matching = matching
    this.stored = stored
    this.reported = reported
    this.#counts = { stored: this.#countContents('stored'), reported: this.#countContents('reported') }
  }

  evidence([from, to]: Pair): Evidence {
    const stored = this.matching.stored[from] as TrackedFinding
    const reported = this.matching.reported[to] as TrackedFinding
    const position = samePosition(stored, reported)
    if (isSameContent(stored, reported)) {
      return {
        weight: this.#equality(stored) + position + sameSurroundings(stored, reported),
        isSame: true,
        likeness: 1,
      }
    }
    const alike = textLikeness(stored, reported)
    return { weight: RULE_ONLY + position + LIKE_TEXT * (alike ?? 0), isSame: false, likeness: alike }
  }

  /** The free findings of a side, by a key; those without one are left out. */
  freeBy(side: Side, keyOf: (finding: TrackedFinding) => string | null): Map<string, number[]> {
    const { matching } = this
    return groupedBy(this[side], (index) =>
      matching.isFree(side, index) ? keyOf(matching[side][index] as TrackedFinding) : null,
    )
  }

  /** Equal content says the less, the more findings of the file have it. */
  #equality(finding: TrackedFinding): number {
    const content = contentOf(finding)
    const pairs = (this.#counts.stored.get(content) ?? 1) * (this.#counts.reported.get(content) ?? 1)
    const [most, least] = hasContent(finding) ? [EQUAL_TEXT, COMMON_TEXT] : [EQUAL_MESSAGE, COMMON_MESSAGE]
    return Math.max(least, most - 0.4 * Math.log2(pairs))
  }

  #countContents(side: Side): Map<string, number> {
    const byContent = groupedBy(this[side], (index) => contentOf(this.matching[side][index] as TrackedFinding))
    return new Map([...byContent].map(([content, { length }]) => [content, length]))
  }
}

export function isSameContent(stored: TrackedFinding, reported: TrackedFinding): boolean {
  return stored.fingerprint === reported.fingerprint || contentOf(stored) === contentOf(reported)
}

/** The column of an unchanged line stays, and so does the length of the flagged code. */
function samePosition(stored: TrackedFinding, reported: TrackedFinding): number {
  if (stored.start_column === null || reported.start_column === null) return 0
  const column = stored.start_column === reported.start_column ? SAME_COLUMN : 0
  return column + (extentOf(stored) === extentOf(reported) ? SAME_EXTENT : 0)
}

function extentOf({ start_line, end_line, start_column, end_column }: TrackedFinding): string {
  return `${(end_line ?? 0) - (start_line ?? 0)}:${(end_column ?? 0) - (start_column ?? 0)}`
}

/** Equal texts are told apart by the lines around them. */
function sameSurroundings(stored: TrackedFinding, reported: TrackedFinding): number {
  if (stored.similarity === null || reported.similarity === null) return 0
  return likeness(stored.similarity, reported.similarity).sameSurroundings ? SAME_SURROUNDINGS : 0
}

/** Blocks of code with the same name are alike, whatever else changed. */
function textLikeness(stored: TrackedFinding, reported: TrackedFinding): number | null {
  const isNamed = stored.resource_name !== null && reported.resource_name !== null
  if (isNamed && stored.resource_name === reported.resource_name) return 1
  if (stored.similarity === null || reported.similarity === null) return null
  const alike = likeness(stored.similarity, reported.similarity)
  return alike.sameHead ? Math.max(alike.text, 0.8) : alike.text
}
