import { PackageURL } from 'packageurl-js'

export type PackageUrl = { name: string; version: string | null; withoutVersion: string }

/** Types whose namespace is the distribution that made the package, and no part of its name. */
const DISTRIBUTION_TYPES = new Set(['alpm', 'apk', 'deb', 'rpm'])

/**
 * The parts of a package URL (purl-spec) that findings need; null when it is none.
 * The name is as people write it, with its namespace before it where that belongs to it: `@angular/core`, `org.apache/log4j`, `openssl`.
 * `withoutVersion` is in canonical form, so that two spellings of one package are one.
 */
export function parsePackageUrl(text: string): PackageUrl | null {
  const match = /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\/([^?#]{1,1000})/i.exec(text.trim())
  if (match === null) return null
  const [, type = '', rest = ''] = match
  // A scoped npm name begins with @, so the version's @ is one after the last slash and not the first character.
  const at = rest.lastIndexOf('@')
  const hasVersion = at > 0 && at > rest.lastIndexOf('/') + 1
  const encoded = (hasVersion ? rest.slice(0, at) : rest).replace(/\/+$/, '')
  if (encoded === '') return null
  const version = hasVersion ? decoded(rest.slice(at + 1)) : null
  const named = DISTRIBUTION_TYPES.has(type.toLowerCase()) ? encoded.slice(encoded.lastIndexOf('/') + 1) : encoded
  return { name: decoded(named), version, withoutVersion: canonical(type, encoded) }
}

/** What names a package in a finding's identity: its package URL without version and qualifiers, else its name. */
export function packageIdentity({ purl, name }: { purl: string | null; name: string | null }): string | null {
  return purl === null ? name : (parsePackageUrl(purl)?.withoutVersion ?? purl)
}

/**
 * The library knows what each type of package holds for equal: PyPI's `Foo_Bar` is `foo-bar`. It is not asked about versions, because it
 * refuses many that tools write (Go's `v1`), and a version that it dislikes must not make another package.
 */
function canonical(type: string, encoded: string): string {
  const slash = encoded.lastIndexOf('/')
  const namespace = slash < 0 ? undefined : decoded(encoded.slice(0, slash))
  try {
    return new PackageURL(
      type,
      namespace,
      decoded(encoded.slice(slash + 1)),
      undefined,
      undefined,
      undefined,
    ).toString()
  } catch {
    return `pkg:${type.toLowerCase()}/${encoded}`
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
