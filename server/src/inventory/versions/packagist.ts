import { encodeNumber, encodeText, isDigits, type VersionOrder } from './version-key.ts'

/** The forms of a release that PHP knows, by their first letters; each sorts by its mark. */
const FORMS: readonly (readonly [prefix: string, mark: string])[] = [
  ['dev', '\u0002'],
  ['a', '\u0003'],
  ['b', '\u0004'],
  ['rc', '\u0005'],
  ['p', '\u0008'],
]
const UNKNOWN = '\u0001'
const END = '\u0006'
const NUMBER = '\u0007'

/**
 * PHP's `version_compare`, by which Composer compares: dev, alpha, beta, rc, the release itself,
 * its next number, patch level. The case of the words does not matter, as in Composer. A version
 * with `#` has no order, because PHP finds such a part equal to every number.
 */
export const toPackagistKey: VersionOrder = (version) => {
  const text = version.trim().replace(/^[vV]/, '').toLowerCase()
  if (!/^[0-9a-z._+/@-]+$/.test(text)) return null
  const parts = text.match(/[0-9]+|[a-z/@]+/g)
  return parts && parts.map(encodePart).join('') + END
}

function encodePart(part: string): string {
  if (isDigits(part)) return NUMBER + encodeNumber(part)
  const form = FORMS.find(([prefix]) => part.startsWith(prefix))
  return form === undefined ? UNKNOWN + encodeText(part) : form[1]
}

/**
 * Versions of numbers only, separated by dots and hyphens: CRAN (R's `package_version`) and Hackage
 * (Haskell's package versioning policy). A version comes before the longer ones that begin with it.
 */
export const toNumbersKey: VersionOrder = (version) =>
  /^[0-9]+(?:[.-][0-9]+)*$/.test(version) ? version.split(/[.-]/).map(encodeNumber).join('') : null
