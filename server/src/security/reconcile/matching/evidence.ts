import { likeness } from '../../vocabulary/text-sketch.ts'
import { contentOf, hasContent, type TrackedFinding } from './tracked-finding.ts'

/** How much speaks for two findings of one rule being the same. */
export type Evidence = {
  weight: number
  /** How alike the flagged texts are, from 0 to 1; null if a text is unknown. */
  likeness: number | null
}

const EQUAL_TEXT = 8
const EQUAL_MESSAGE = 4
const RULE_ONLY = 1

export function evidenceOf(stored: TrackedFinding, reported: TrackedFinding): Evidence {
  const column = stored.start_column !== null && stored.start_column === reported.start_column ? 0.5 : 0
  if (isSameContent(stored, reported)) {
    const base = hasContent(stored) ? EQUAL_TEXT : EQUAL_MESSAGE
    return { weight: base + column + surroundings(stored, reported), likeness: 1 }
  }
  const alike = textLikeness(stored, reported)
  return { weight: RULE_ONLY + column + 5 * (alike ?? 0), likeness: alike }
}

export function isSameContent(stored: TrackedFinding, reported: TrackedFinding): boolean {
  return stored.fingerprint === reported.fingerprint || contentOf(stored) === contentOf(reported)
}

/** Equal texts are told apart by the lines around them. */
function surroundings(stored: TrackedFinding, reported: TrackedFinding): number {
  if (stored.similarity === null || reported.similarity === null) return 0
  return likeness(stored.similarity, reported.similarity).sameSurroundings ? 2 : 0
}

/** Blocks of code with the same name are alike, whatever else changed. */
function textLikeness(stored: TrackedFinding, reported: TrackedFinding): number | null {
  const isNamed = stored.resource_name !== null && reported.resource_name !== null
  if (isNamed && stored.resource_name === reported.resource_name) return 1
  if (stored.similarity === null || reported.similarity === null) return null
  const alike = likeness(stored.similarity, reported.similarity)
  return alike.sameHead ? Math.max(alike.text, 0.8) : alike.text
}
