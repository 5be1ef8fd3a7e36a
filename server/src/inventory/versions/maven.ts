import { encodeNumber, encodeText, isDigits, type VersionOrder } from './version-key.ts'

/** Qualifiers before the release (Maven, "POM Reference", "Version Order Specification"). */
const BEFORE_RELEASE: ReadonlyMap<string, string> = new Map([
  ['alpha', '\u0002'],
  ['beta', '\u0003'],
  ['milestone', '\u0004'],
  ['rc', '\u0005'],
  ['cr', '\u0005'],
  ['snapshot', '\u0006'],
])
/** Letters that mean a qualifier if a number follows directly. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
])
const NULLS = new Set(['', '0', 'final', 'ga', 'release'])
const NULL_BEFORE_QUALIFIER = '\u0010'
const RELEASE = '\u0011'
const SERVICE_PACK = '\u0012'
const OTHER = '\u0013'
const NUMBER_AFTER_HYPHEN = '\u0014'
const NUMBER_AFTER_DOT = '\u0015'

type Token = { separator: '.' | '-'; value: string }

/**
 * Maven's order ("POM Reference", "Version Order Specification"). Maven's own comparison is not
 * transitive where a zero precedes a qualifier, as in `1.0.alpha`; here the version is lower than
 * its release, and so than all that follows.
 */
export const toMavenKey: VersionOrder = (version) => {
  const text = version.trim().toLowerCase()
  if (!/^[!-~]+$/.test(text)) return null
  let key = RELEASE
  let isLowered = false
  for (const token of trimNulls(parseTokens(text)).reverse()) {
    key = encodeToken(token, isLowered) + key
    if (!isNull(token)) isLowered = BEFORE_RELEASE.has(token.value)
  }
  return key
}

/** A change between digits and letters counts as a hyphen. */
function parseTokens(text: string): Token[] {
  const tokens: Token[] = []
  let separator: Token['separator'] = '.'
  for (const [part] of text.matchAll(/[.-]|[0-9]+|[^.\-0-9]+/g)) {
    if (part !== '.' && part !== '-') {
      const follows = tokens.at(-1)
      const isOpen = follows !== undefined && follows.value === ''
      if (isOpen) follows.value = part
      else tokens.push({ separator: tokens.length === 0 ? separator : '-', value: part })
      continue
    }
    // A separator after another one, or at the start, has an empty token before it.
    if (tokens.length === 0) tokens.push({ separator, value: '' })
    closeToken(tokens)
    separator = part
    tokens.push({ separator, value: '' })
  }
  closeToken(tokens)
  return expandShort(tokens, text)
}

function closeToken(tokens: Token[]): void {
  const last = tokens.at(-1)
  if (last?.value === '') last.value = '0'
}

function expandShort(tokens: Token[], text: string): Token[] {
  let at = 0
  for (const [index, token] of tokens.entries()) {
    at = text.indexOf(token.value, at)
    const next = tokens[index + 1]
    const long = SHORT.get(token.value)
    if (at >= 0) at += token.value.length
    if (long !== undefined && next !== undefined && isDigits(text[at] ?? '')) token.value = long
  }
  return tokens
}

/** Zeros and words for the release itself are left out at the end and before each hyphen. */
function trimNulls(tokens: readonly Token[]): Token[] {
  const kept: Token[] = []
  for (const token of tokens) {
    if (token.separator === '-') dropNulls(kept)
    kept.push(token)
  }
  dropNulls(kept)
  return kept
}

function dropNulls(tokens: Token[]): void {
  while (tokens.length > 0 && isNull(tokens.at(-1))) tokens.pop()
}

function isNull(token: Token | undefined): boolean {
  return token !== undefined && (NULLS.has(token.value) || /^0+$/.test(token.value))
}

/** Of equal kinds of qualifiers, those after a dot come first. */
function separatorMark(separator: Token['separator']): string {
  return separator === '.' ? '\u0001' : '\u0002'
}

/** `isLowered`: a qualifier that comes before the release follows, after zeros or none. */
function encodeToken(token: Token, isLowered: boolean): string {
  const { separator, value } = token
  if (isLowered && isNull(token)) return NULL_BEFORE_QUALIFIER
  if (isDigits(value)) return (separator === '.' ? NUMBER_AFTER_DOT : NUMBER_AFTER_HYPHEN) + encodeNumber(value)
  if (NULLS.has(value)) return RELEASE
  if (value === 'sp') return SERVICE_PACK
  const mark = BEFORE_RELEASE.get(value)
  return mark === undefined ? OTHER + separatorMark(separator) + encodeText(value) : mark + separatorMark(separator)
}
