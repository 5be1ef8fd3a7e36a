import { encodeNumber, encodeText, isDigits, type VersionOrder } from './version-key.ts'

const TEXT = '\u0002'
const ZERO_BEFORE_TEXT = '\u0003'
const END = '\u0004'
const VERSION = /^[0-9][0-9A-Za-z.-]*$/

/**
 * `Gem::Version` of RubyGems: segments of digits or letters. Letters come before the end, and so
 * make a pre-release; a missing number is zero. A hyphen reads as `.pre.`.
 */
export const toRubyGemsKey: VersionOrder = (version) => {
  const text = version.trim()
  if (!VERSION.test(text) || text.includes('..')) return null
  const segments = text.replaceAll('-', '.pre.').match(/[0-9]+|[A-Za-z]+/g) ?? []
  const firstText = segments.findIndex((segment) => !isDigits(segment))
  const end = firstText < 0 ? segments.length : firstText
  const canonical = [...dropTrailingZeros(segments.slice(0, end)), ...dropTrailingZeros(segments.slice(end))]
  let key = END
  let isLowered = false
  for (const segment of canonical.reverse()) {
    key = encodeSegment(segment, isLowered) + key
    if (!isZero(segment)) isLowered = !isDigits(segment)
  }
  return key
}

function dropTrailingZeros(segments: string[]): string[] {
  let end = segments.length
  while (end > 0 && isZero(segments[end - 1])) end -= 1
  return segments.slice(0, end)
}

function isZero(segment: string | undefined): boolean {
  return segment !== undefined && /^0+$/.test(segment)
}

/**
 * A missing number is zero, so a zero equals the end, and what follows decides: a version is lower
 * for a text (`isLowered`), and higher for a number.
 */
function encodeSegment(segment: string, isLowered: boolean): string {
  if (!isDigits(segment)) return TEXT + encodeText(segment)
  return isLowered && isZero(segment) ? ZERO_BEFORE_TEXT : encodeNumber(segment)
}
