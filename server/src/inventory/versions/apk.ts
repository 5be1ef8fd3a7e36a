import { encodeNumber, encodeText, type VersionOrder } from './version-key.ts'

/**
 * apk-package(5): numbers, letter, suffixes, commit, revision of the build. Beyond it, a number may
 * follow the letter, as in Alpine's versions of sudo: `1.9.5p2-r0`.
 */
const APK =
  /^([0-9]+(?:\.[0-9]+)*)(?:([a-z])([0-9]*))?((?:_(?:alpha|beta|pre|rc|cvs|svn|git|hg|p)[0-9]*)*)(?:~[0-9a-f]+)?(?:-r([0-9]+))?$/
/** Suffixes before and after the version without one, whose mark is `END_OF_SUFFIXES`. */
const SUFFIXES: Readonly<Record<string, string>> = {
  alpha: '\u0001',
  beta: '\u0002',
  pre: '\u0003',
  rc: '\u0004',
  cvs: '\u0006',
  svn: '\u0007',
  git: '\u0008',
  hg: '\u0009',
  p: '\u000a',
}
const END_OF_SUFFIXES = '\u0005'
const END_OF_NUMBERS = '\u0001'
const LEADING_ZERO = '\u0002'
const WITHOUT_LETTER = '\u0001'

/**
 * The order of apk-tools: Alpine, Wolfi, Chainguard. After the first, a number with a leading zero
 * compares as text, like a decimal fraction. The commit has no order. What apk-tools calls invalid
 * has none either.
 */
export const toApkKey: VersionOrder = (version) => {
  const match = APK.exec(version.trim())
  if (match === null) return null
  const [, numbers = '', letter = '', patch = '', suffixes = '', build = ''] = match
  const [first = '', ...others] = numbers.split('.')
  return [
    encodeNumber(first),
    ...others.map((digits) => (digits.startsWith('0') ? LEADING_ZERO + encodeText(digits) : encodeNumber(digits))),
    END_OF_NUMBERS,
    letter === '' ? WITHOUT_LETTER : letter + encodeNumber(patch),
    ...Array.from(suffixes.matchAll(/_([a-z]+)([0-9]*)/g), ([, name = '', number = '']) => {
      return SUFFIXES[name] + encodeNumber(number)
    }),
    END_OF_SUFFIXES,
    encodeNumber(build),
  ].join('')
}
