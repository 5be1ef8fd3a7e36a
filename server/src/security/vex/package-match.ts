import { normalizeSharedPackageName } from '../issues/grouping/shared-names.ts'
import { decodePercents, parsePackageUrl } from '../vocabulary/package-url.ts'

/** The package of a finding, as its scanner names it. */
export type FoundPackage = { purl: string | null; package_name: string | null; package_version: string | null }

/** The package of a statement. Without a version, the statement is about all of them. */
export type StatedPackage = {
  purl: string
  identity: string
  name: string | null
  version: string | null
  qualifiers: Map<string, string>
}

export function parseStatedPackage(purl: string): StatedPackage | null {
  const parsed = parsePackageUrl(purl)
  if (parsed === null) return null
  return {
    purl,
    identity: parsed.withoutVersion,
    name: normalizeSharedPackageName({ purl, package_name: null }),
    version: plainVersion(purl, parsed.version),
    qualifiers: parseQualifiers(purl),
  }
}

/** Only findings with one of the keys of a stated package can be of that package. */
export function getPackageKey(found: FoundPackage): string {
  const parsed = found.purl === null ? null : parsePackageUrl(found.purl)
  return parsed === null ? namedKey(normalizeSharedPackageName({ ...found, purl: null })) : parsed.withoutVersion
}

export function getKeys({ identity, name }: StatedPackage): string[] {
  return name === null ? [identity] : [identity, namedKey(name)]
}

/** No package URL without a version has a space. */
function namedKey(name: string | null): string {
  return `name ${name ?? ''}`
}

/**
 * Whether a statement about a package is about the package of a finding. What the statement names,
 * the finding must have: a statement about one version or platform is not about another one, and
 * not about an unknown one. Scanners that write no package URL name the package only.
 */
export function isAbout(stated: StatedPackage, found: FoundPackage): boolean {
  const parsed = found.purl === null ? null : parsePackageUrl(found.purl)
  if (parsed === null) {
    return (
      stated.name !== null &&
      normalizeSharedPackageName({ ...found, purl: null }) === stated.name &&
      isVersion(stated, found)
    )
  }
  if (parsed.withoutVersion !== stated.identity || !isVersion(stated, found)) return false
  const qualifiers = parseQualifiers(found.purl ?? '')
  return [...stated.qualifiers].every(([name, value]) => qualifiers.get(name) === value)
}

function isVersion({ purl, version }: StatedPackage, found: FoundPackage): boolean {
  if (version === null) return true
  const own = found.purl === null ? null : (parsePackageUrl(found.purl)?.version ?? null)
  return [own, found.package_version].some((known) => known !== null && plainVersion(purl, known) === version)
}

/** Go versions are written with and without their first letter. */
function plainVersion(purl: string, version: string | null): string | null {
  return version !== null && /^pkg:\/{0,2}golang\//i.test(purl) ? version.replace(/^v(?=\d)/, '') : version
}

/** The qualifiers of a package URL. `type=jar` is what a Maven package is if it does not say so. */
function parseQualifiers(purl: string): Map<string, string> {
  const [, query = ''] = /\?([^#]*)/.exec(purl) ?? []
  const qualifiers = new Map<string, string>()
  for (const part of query.split('&', 50)) {
    const [name = '', value = ''] = part.split('=', 2).map(decodePercents)
    if (value !== '' && !(name === 'type' && value === 'jar')) qualifiers.set(name.toLowerCase(), value)
  }
  return qualifiers
}
