import type { RuleStatus } from '../policy-evaluation.ts'

/** What an engine says of one rule. Reason and evidence are null where it says nothing of its own. */
export type RuleAnswer = { status: RuleStatus; reason: string | null; evidence: string | null }

const TEXT_CHARS_MAX = 1000

/** No answer that counts, and why. */
export function errorAnswer(reason: string): RuleAnswer {
  return { status: 'error', reason: boundedText(reason), evidence: null }
}

/** A text of an engine as it may be stored. */
export function boundedText(text: string): string {
  const storable = text.replaceAll('\0', '').toWellFormed()
  return storable.length <= TEXT_CHARS_MAX ? storable : `${storable.slice(0, TEXT_CHARS_MAX - 1)}…`
}
