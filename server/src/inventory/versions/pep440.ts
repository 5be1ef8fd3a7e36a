import { encodeNumber, encodeText, isDigits, type VersionOrder } from './version-key.ts'

/** The pattern of PEP 440, appendix B, with its optional separators and spellings. */
const PEP440 = new RegExp(
  [
    '^v?(?:([0-9]+)!)?([0-9]+(?:\\.[0-9]+)*)',
    '(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?',
    '(?:-([0-9]+)|[-_.]?(?:post|rev|r)[-_.]?([0-9]*))?',
    '(?:[-_.]?dev[-_.]?([0-9]*))?',
    '(?:\\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$',
  ].join(''),
)
const PRE_RELEASES: Readonly<Record<string, string>> = { a: 'a', alpha: 'a', b: 'b', beta: 'b' }

/**
 * PEP 440, "Version ordering": epoch, release without trailing zeros, pre-release, post-release,
 * development release, local version. Legacy versions, which PyPI has not accepted since 2023, have
 * no order.
 */
export const toPep440Key: VersionOrder = (version) => {
  const match = PEP440.exec(version.trim().toLowerCase())
  if (match === null) return null
  const [, epoch = '', release = '', pre, preNumber = '', implicitPost, post, dev, local] = match
  const postNumber = implicitPost ?? post
  return [
    encodeNumber(epoch),
    encodeRelease(release),
    encodePreRelease(pre, preNumber, postNumber === undefined && dev !== undefined),
    postNumber === undefined ? '\u0001' : `\u0002${encodeNumber(postNumber)}`,
    dev === undefined ? '\u0002' : `\u0001${encodeNumber(dev)}`,
    local === undefined ? '\u0000' : encodeLocal(local),
  ].join('')
}

/**
 * The version without its local part, which only the builder of a package adds: `2.0` of
 * `2.0+cu118`.
 */
export function removeLocalVersion(version: string): string {
  const at = version.indexOf('+')
  return at < 0 ? version : version.slice(0, at)
}

function encodeRelease(release: string): string {
  const numbers = release.split('.').map(encodeNumber)
  while (numbers.length > 1 && numbers.at(-1) === encodeNumber('')) numbers.pop()
  return `${numbers.join('')}\u0001`
}

/** A development release of the release itself comes before its pre-releases. */
function encodePreRelease(pre: string | undefined, number: string, isDevelopment: boolean): string {
  if (pre === undefined) return isDevelopment ? '\u0001' : '\u0003'
  return `\u0002${PRE_RELEASES[pre] ?? 'rc'}${encodeNumber(number)}`
}

/** Unlike in pre-releases of Semantic Versioning, numbers come after texts. */
function encodeLocal(local: string): string {
  const parts = local
    .split(/[-_.]/)
    .map((part) => (isDigits(part) ? `\u0003${encodeNumber(part)}` : `\u0002${encodeText(part)}`))
  return `\u0001${parts.join('')}\u0001`
}
