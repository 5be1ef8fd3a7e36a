import { type Claims, getClaimTexts } from './claims.ts'

/**
 * A claim's name to the value that it must have: a text or glob, or a list of which one matches.
 */
export type Conditions = Readonly<Record<string, string | readonly string[]>>

/** A condition that is ready to be compared with many tokens. */
export type Condition = { claim: string; patterns: readonly ClaimPattern[] }

/** A condition beside the claim of a token. */
export type CheckedCondition = { claim: string; expected: string[]; seen: string[]; matches: boolean }

export function toConditions(conditions: Conditions): Condition[] {
  return Object.entries(conditions).map(([claim, value]) => ({
    claim,
    patterns: [value].flat().map((text) => new ClaimPattern(text)),
  }))
}

/** Whether every condition holds. Of a claim that is a list, one item has to match. */
export function matchConditions(conditions: readonly Condition[], claims: Claims): boolean {
  return conditions.every(({ claim, patterns }) => isMatched(patterns, getClaimTexts(claims, claim)))
}

/** Each condition with what the token has. */
export function checkConditions(conditions: Conditions, claims: Claims): CheckedCondition[] {
  return Object.entries(conditions).map(([claim, value]) => {
    const [expected, seen] = [[value].flat(), getClaimTexts(claims, claim)]
    const patterns = expected.map((text) => new ClaimPattern(text))
    return { claim, expected, seen, matches: isMatched(patterns, seen) }
  })
}

function isMatched(patterns: readonly ClaimPattern[], texts: readonly string[]): boolean {
  return texts.some((text) => patterns.some((pattern) => pattern.matches(text)))
}

export const PATTERN_CHARS_MAX = 300
/** No asterisk matches a longer text, so that a claim cannot make a comparison slow. */
const TEXT_CHARS_MAX = 2000

/** One step of a pattern: one character, or what an asterisk stands for. */
type Step = { kind: 'character' | 'star' | 'globstar' | 'parts'; character: string }

const STEPS = /(?<=^|\/)\*\*\/|\*\*|\*|[^*]/gs
const KINDS: Readonly<Record<string, Step['kind']>> = { '*': 'star', '**': 'globstar', '**/': 'parts' }

/**
 * A value of a condition. In it, `*` matches any characters except slashes and `**` any characters.
 * At the start of a part, `**` with a slash matches any number of whole parts. All other characters
 * match themselves. The time of a comparison grows with the length of the text, never faster.
 */
export class ClaimPattern {
  readonly text: string
  readonly isLiteral: boolean
  readonly #steps: readonly Step[]

  constructor(text: string) {
    this.text = normalUuid(text)
    this.isLiteral = !text.includes('*')
    this.#steps = this.isLiteral ? [] : parseSteps(this.text)
  }

  /** Whether the whole text matches. Case counts, except in a UUID. */
  matches(given: string): boolean {
    const text = normalUuid(given)
    if (this.isLiteral) return text === this.text
    return text.length <= TEXT_CHARS_MAX && acceptsText(this.#steps, text)
  }
}

const UUID = /^\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i
const UUID_CHARS = [36, 38]

/** Bitbucket writes UUIDs in braces. A UUID is the same without them, and in any case. */
function normalUuid(text: string): string {
  return UUID_CHARS.includes(text.length) ? (UUID.exec(text)?.[1]?.toLowerCase() ?? text) : text
}

function parseSteps(pattern: string): Step[] {
  return [...pattern.matchAll(STEPS)].map(([token]) => ({ kind: KINDS[token] ?? 'character', character: token }))
}

/** A state is the number of steps done, plus whether a `parts` step is in the middle of a part. */
type State = number
const INSIDE = 0.5

/** The states that can be reached without a character. */
function closure(steps: readonly Step[], states: Iterable<State>): Set<State> {
  const reached = new Set(states)
  for (const state of reached) {
    const kind = steps[state]?.kind
    if (kind !== undefined && kind !== 'character') reached.add(state + 1)
  }
  return reached
}

/** The states after one character. */
function advance(steps: readonly Step[], state: State, character: string): State[] {
  const step = steps[Math.floor(state)]
  if (step === undefined) return []
  if (step.kind === 'character') return step.character === character ? [state + 1] : []
  if (step.kind === 'star') return character === '/' ? [] : [state]
  if (step.kind === 'globstar') return [state]
  const inside = Math.floor(state) + INSIDE
  return character === '/' ? [inside, Math.floor(state) + 1] : [inside]
}

function acceptsText(steps: readonly Step[], text: string): boolean {
  let states = closure(steps, [0])
  for (const character of text.split('')) {
    states = closure(
      steps,
      [...states].flatMap((state) => advance(steps, state, character)),
    )
    if (states.size === 0) return false
  }
  return states.has(steps.length)
}
