import { encodeNumber, encodeText, isDigits, type VersionOrder } from './version-key.ts'

const MARKS: Readonly<Record<string, string>> = { '~': '\u0001', '^': '\u0003' }
const END = '\u0002'
const LETTERS = '\u0004'
const NUMBER = '\u0005'
const WITHOUT_RELEASE = '\u0000'
const EPOCH = /^([0-9]+):/

/**
 * `rpmvercmp` on epoch, version and release (rpm-version(7)). Segments of digits or letters
 * decide; a tilde comes before the end, a caret after it. Other characters only separate. An
 * absent epoch is zero, and an absent release comes before every other.
 */
export const toRpmKey: VersionOrder = (version) => {
  const text = version.trim()
  if (text === '') return null
  const epoch = EPOCH.exec(text)
  const rest = epoch === null ? text : text.slice(epoch[0].length)
  const hyphen = rest.indexOf('-')
  const [name, release] = hyphen < 0 ? [rest, null] : [rest.slice(0, hyphen), rest.slice(hyphen + 1)]
  const key = encodeNumber(epoch?.[1] ?? '') + encodeSegments(name)
  return key + (release === null ? WITHOUT_RELEASE : encodeSegments(release))
}

function encodeSegments(text: string): string {
  let key = ''
  for (const [segment] of text.matchAll(/[0-9]+|[A-Za-z]+|[~^]/g)) {
    const mark = MARKS[segment]
    if (mark !== undefined) key += mark
    else key += isDigits(segment) ? NUMBER + encodeNumber(segment) : LETTERS + encodeText(segment)
  }
  return key + END
}
