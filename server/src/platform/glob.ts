import picomatch from 'picomatch/posix.js'

export const GLOB_CHARS_MAX = 200
const WILDCARD = /[*?{]/
const REFUSED = /[()[\]\\|]|\{[^{}]*\.\./
const BALANCED = /^[^{}]*(?:\{[^{}]*\}[^{}]*)*$/
/** Limits the cost of a failing match, which multiplies with each star that can backtrack. */
const STARS_PER_PART_MAX = 3
const GLOBSTARS_MAX = 2
const BRACES_MAX = 2
/** Longer texts match only themselves and `*`. */
const TEXT_CHARS_MAX = 300

const OPTIONS = { dot: true, nonegate: true, noextglob: true } as const

/**
 * Returns what is wrong with a pattern, or null. A pattern is a literal text, or has `*` (any
 * characters except `/`), `**` as a whole path segment (any segments), `?` (one character except
 * `/`) and `{a,b}` (alternatives). Its size is bounded so that matching stays fast.
 */
export function validateGlob(pattern: string): string | null {
  if (pattern === '') return 'a pattern must not be empty'
  if (pattern.length > GLOB_CHARS_MAX) return `a pattern has at most ${GLOB_CHARS_MAX} characters`
  if (!WILDCARD.test(pattern)) return null
  if (REFUSED.test(pattern)) return 'a pattern with *, ? or { cannot have ( ) [ ] \\ | or a range'
  if (!BALANCED.test(pattern)) return 'the braces of a pattern must be closed and not nested'
  if (count(pattern, '{') > BRACES_MAX) return `a pattern has at most ${BRACES_MAX} pairs of braces`
  if (pattern.split('/').filter((part) => part === '**').length > GLOBSTARS_MAX)
    return `a pattern has at most ${GLOBSTARS_MAX} times **`
  if (starsInPart(pattern) > STARS_PER_PART_MAX)
    return `a pattern has at most ${STARS_PER_PART_MAX} times * between two /`
  return null
}

/** Whether the whole text matches a valid pattern. `*` alone matches every text. */
export function matchGlob(pattern: string, text: string): boolean {
  if (pattern === '*' || pattern === '**' || pattern === text) return true
  if (!WILDCARD.test(pattern) || text.length > TEXT_CHARS_MAX || validateGlob(pattern) !== null) return false
  return picomatch.isMatch(text, pattern, OPTIONS)
}

export function matchAnyGlob(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchGlob(pattern, text))
}

/** Alternatives may contain a `/`. All stars then count for the same segment. */
function starsInPart(pattern: string): number {
  const parts = pattern.includes('{') ? [pattern] : pattern.split('/').filter((part) => part !== '**')
  return Math.max(0, ...parts.map((part) => count(part.replaceAll(/\*+/g, '*'), '*')))
}

function count(text: string, character: string): number {
  return text.split(character).length - 1
}
