import { type Claims, getClaimTexts } from '../claims.ts'
import { ClaimPattern } from './claim-pattern.ts'

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
