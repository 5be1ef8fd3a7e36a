import { encodeIdentifiers, encodeNumber, type VersionOrder } from './version-key.ts'

/** Leading `v`, numbers, pre-release and build metadata. */
const SEMVER = /^[vV]?([0-9]+(?:\.[0-9]+)*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.+-]*))?$/
const NUMBERS_MIN = 3
const RELEASED = '\u0004'

type Parts = { numbers: string[]; prerelease: string | null; build: string }

/**
 * Semantic Versioning 2.0.0 §11: npm, crates.io, Hex, SwiftURL. As in osv-scalibr, a leading `v`
 * and missing numbers are accepted. A fourth number, which the standard does not have, counts like
 * the others.
 */
export const toSemverKey: VersionOrder = (version) => {
  const parts = parseParts(version)
  return parts && toKey(parts)
}

/**
 * Versions of Go modules and of the standard library, which write pre-releases as `1.21rc2`
 * (go.dev, "Go Toolchains"). In records, they are `1.21.0-rc.2`.
 */
export const toGoKey: VersionOrder = (version) => {
  const plain = version.replace(/^(?:go|v)/, '')
  const toolchain = /^([0-9]+(?:\.[0-9]+){1,2})(rc|beta|alpha)([0-9]+)$/.exec(plain)
  return toSemverKey(toolchain === null ? plain : `${toolchain[1]}-${toolchain[2]}.${toolchain[3]}`)
}

/** A tag of an action has an order if it names one release: `v4` and `main` move. */
export const toActionKey: VersionOrder = (version) =>
  /^v?[0-9]+\.[0-9]+\.[0-9]+/.test(version) ? toSemverKey(version) : null

/** NuGet has four numbers, and compares pre-releases without case (NuGet, "Package versioning"). */
export const toNuGetKey: VersionOrder = (version) => toSemverKey(version.toLowerCase())

/** Pub also orders by build metadata (dart.dev, pub_semver): none sorts before any. */
export const toPubKey: VersionOrder = (version) => {
  const parts = parseParts(version)
  if (parts === null) return null
  return toKey(parts) + (parts.build === '' ? '' : encodeIdentifiers(parts.build.split('.')))
}

function parseParts(version: string): Parts | null {
  const match = SEMVER.exec(version)
  if (match === null) return null
  const [, release = '', prerelease = null, build = ''] = match
  const numbers = release.split('.')
  while (numbers.length < NUMBERS_MIN) numbers.push('0')
  while (numbers.length > NUMBERS_MIN && /^0+$/.test(numbers.at(-1) as string)) numbers.pop()
  return { numbers, prerelease, build }
}

function toKey({ numbers, prerelease }: Parts): string {
  const release = numbers.map(encodeNumber).join('')
  return release + (prerelease === null ? RELEASED : encodeIdentifiers(prerelease.split('.')))
}
