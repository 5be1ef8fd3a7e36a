import { PackageURL } from 'packageurl-js'

type PackageUrl = { name: string; version: string | null; withoutVersion: string }

/**
 * Package URL types by ecosystem in lower case, as OSV and code hosts name it. Distributions are
 * left out: their advisories apply to one release only, and their scanners report the fixed version
 * themselves.
 */
const TYPES_BY_ECOSYSTEM = new Map([
  ['npm', 'npm'],
  ['pypi', 'pypi'],
  ['pip', 'pypi'],
  ['go', 'golang'],
  ['maven', 'maven'],
  ['rubygems', 'gem'],
  ['crates.io', 'cargo'],
  ['rust', 'cargo'],
  ['nuget', 'nuget'],
  ['packagist', 'composer'],
  ['composer', 'composer'],
  ['hex', 'hex'],
  ['erlang', 'hex'],
  ['pub', 'pub'],
  ['swifturl', 'swift'],
  ['swift', 'swift'],
  ['conancenter', 'conan'],
  ['cran', 'cran'],
  ['hackage', 'hackage'],
  ['github actions', 'githubactions'],
  ['actions', 'githubactions'],
])

/** The package URL type of an ecosystem; null for an unknown one. */
export function findPackageType(ecosystem: string): string | null {
  return TYPES_BY_ECOSYSTEM.get(ecosystem.toLowerCase()) ?? null
}

/**
 * The package URL of a package, as its ecosystem names it: `org.apache:log4j` on Maven. Null for an
 * unknown ecosystem.
 */
export function toPackageUrl(ecosystem: string, name: string): string | null {
  const type = findPackageType(ecosystem)
  if (type === null) return null
  const parts = (type === 'maven' ? name.replace(':', '/') : name).split('/')
  return parsePackageUrl(`pkg:${type}/${parts.map(encodeURIComponent).join('/')}`)?.withoutVersion ?? null
}

/** Types whose namespace is a distribution, which is not part of the package's name. */
export const DISTRIBUTION_TYPES: ReadonlySet<string> = new Set(['alpm', 'apk', 'deb', 'rpm'])

/**
 * Parses a package URL (purl-spec); null for any other text. The name is in its usual spelling,
 * with the namespace if that is part of the name: `@angular/core`, `org.apache/log4j`, `openssl`.
 * `withoutVersion` is in canonical form, equal for all spellings of a package.
 */
export function parsePackageUrl(text: string): PackageUrl | null {
  const match = /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\/([^?#]{1,1000})/i.exec(text.trim())
  if (match === null) return null
  const [, type = '', rest = ''] = match
  // A scoped npm name begins with @. The @ of the version is after the name.
  const at = rest.lastIndexOf('@')
  const hasVersion = at > 0 && at > rest.lastIndexOf('/') + 1
  // govulncheck encodes the slashes of a Go module, others that of a scope.
  const encoded = (hasVersion ? rest.slice(0, at) : rest).replace(/%2f/gi, '/').replace(/(?<!\/)\/+$/, '')
  if (encoded === '') return null
  const version = hasVersion ? decodePercents(rest.slice(at + 1)) : null
  const named = DISTRIBUTION_TYPES.has(type.toLowerCase()) ? encoded.slice(encoded.lastIndexOf('/') + 1) : encoded
  return { name: decodePercents(named), version, withoutVersion: normalizePackage(type, encoded) }
}

/** What identifies a package: its package URL without version and qualifiers, else its name. */
export function getPackageIdentity({ purl, name }: { purl: string | null; name: string | null }): string | null {
  return purl === null ? name : (parsePackageUrl(purl)?.withoutVersion ?? purl)
}

/**
 * The library defines which spellings are equal for each type of package: on PyPI, `Foo_Bar` is
 * `foo-bar`. It does not get the version, because it refuses versions that tools write, like Go's
 * `v1`.
 */
function normalizePackage(type: string, encoded: string): string {
  const slash = encoded.lastIndexOf('/')
  const namespace = slash < 0 ? undefined : decodePercents(encoded.slice(0, slash))
  try {
    return new PackageURL(
      type,
      namespace,
      decodePercents(encoded.slice(slash + 1)),
      undefined,
      undefined,
      undefined,
    ).toString()
  } catch {
    return `pkg:${type.toLowerCase()}/${encoded}`
  }
}

/** The decoded text; unchanged if its percent-encoding is invalid. */
export function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
