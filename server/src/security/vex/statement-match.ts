import { getCodeHost, PROVIDERS } from '../../codehosts/catalogue.ts'
import { getDefaultHost, isHost } from '../../repositories/repository-identity.ts'
import { type CanonicalId, isAdvisory, normalizeSharedPackageName } from '../issues/grouping/shared-names.ts'
import { decodePercents, parsePackageUrl } from '../vocabulary/package-url.ts'
import { normalizeSubject } from '../vocabulary/stream-name.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'

/** The package of a finding, as its scanner names it. */
export type FoundPackage = { purl: string | null; package_name: string | null; package_version: string | null }

/** The package of a statement. Without a version, the statement is about all of them. */
type StatedPackage = {
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

/**
 * The ids of a vulnerability as they are compared: aliases have one name. The advisory of a
 * distribution may cover many vulnerabilities, so it counts only if it is the only id.
 */
export function toComparedIds(ids: readonly string[], canonicalId: CanonicalId = (id) => id): string[] {
  const names = [...new Set(ids.map((id) => canonicalId(removeDistribution(id))))]
  const own = names.filter((name) => !isAdvisory(name))
  return own.length > 0 ? own : names
}

/**
 * Whether statements about the vulnerabilities `stated` cover a finding. A finding with several ids
 * of one database is about several vulnerabilities, each of which must be stated.
 */
export function hasStated(stated: ReadonlySet<string>, found: readonly string[]): boolean {
  if (!found.some((name) => stated.has(name))) return false
  return found.every((name) => stated.has(name) || isOnlyOfDatabase(name, found))
}

/** Whether a finding with these ids may be about several vulnerabilities. */
export function isAmbiguous(names: readonly string[]): boolean {
  return names.some((name) => !isOnlyOfDatabase(name, names))
}

function isOnlyOfDatabase(name: string, names: readonly string[]): boolean {
  const database = getDatabase(name)
  return names.every((other) => other === name || getDatabase(other) !== database)
}

function getDatabase(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf('-')))
}

const IMAGE = /^pkg:\/{0,2}(?:oci|docker)\//i

export function isImage(product: string | null): boolean {
  return product !== null && IMAGE.test(product.trim())
}

/**
 * The names under which reports may be about a product: an image by its repository, of which some
 * programs leave out the last part, or any other text as it is.
 */
export function listSubjectNames(product: string | null): string[] {
  if (product === null || !isImage(product)) return product === null ? [] : [product.trim()]
  const parsed = parsePackageUrl(product)
  const image = normalizeSubject({ isImage: false, name: null, purl: product })
  if (parsed === null || image === null) return []
  const name = parsed.name.slice(parsed.name.lastIndexOf('/') + 1).toLowerCase()
  const repository = normalizeSubject({ isImage: true, name: `${image}/${name}`, purl: null })
  return image.endsWith(name) || repository === null ? [image] : [image, repository]
}

/** The repository that statements are for, and the host where it is, if it is connected. */
export type OwnRepository = { name: string; provider: string | null; host: string | null }

/**
 * What a statement calls the product: the repository itself (`version` is the part of it that the
 * product names), another repository, or something that is not on a code host.
 */
export type Product = { is: 'repository'; version: string | null } | { is: 'other repository' } | { is: 'unknown' }

const HOSTED_TYPES = new Map(PROVIDERS.map((provider) => [getCodeHost(provider).packageUrlType, provider]))
/** Hosts where a repository has no groups or projects above its owner. */
const HOSTS_OF_TWO = PROVIDERS.filter((provider) => getCodeHost(provider).nameSegmentsMax === 2).map(getDefaultHost)
const UNKNOWN: Product = { is: 'unknown' }

/** Compares a product with the repository, by its address on a code host. */
export function matchProduct(text: string | null, repository: OwnRepository): Product {
  const address = text === null ? null : parseAddress(text.trim())
  if (address === null) return UNKNOWN
  if (address.host === null) return isNamed(address, repository) ? own(address) : UNKNOWN
  const known = [...PROVIDERS.map(getDefaultHost), ...(repository.host === null ? [] : [repository.host])]
  if (!known.includes(address.host)) return UNKNOWN
  const { host, provider } = repository
  const ofProvider = PROVIDERS.filter((each) => provider === null || each === provider)
  const hosts = host === null ? ofProvider.map(getDefaultHost) : [host]
  return hosts.includes(address.host) && isNamed(address, repository) ? own(address) : { is: 'other repository' }
}

type Address = { host: string | null; path: string; isModule: boolean; version: string | null }

/** The address of a repository in a package URL or another URL; null for any other text. */
function parseAddress(text: string): Address | null {
  if (/^pkg:/i.test(text)) return addressInPurl(text)
  const match =
    /^(?:git\+)?[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^@/\s]{1,100}@)?([^/\s]{1,255})\/([^?#\s]{3,300})(?:[?#].*)?$/i.exec(
      text,
    ) ?? /^git@([^:/\s]{1,255}):([^?#\s]{3,300})$/i.exec(text)
  if (match === null) return /^[^/:\s]+(?:\/[^/:\s]+)+$/.test(text) ? named(null, text) : null
  const [, host = '', path = ''] = match
  return isHost(host.toLowerCase()) ? named(host.toLowerCase(), path) : null
}

/** A page of a repository, like a release, names a part of it. */
function named(host: string | null, path: string): Address {
  const [bare = '', version = null] = path.replace(/(?<!\/)\/+$/, '').split('@', 2)
  const segments = bare.replace(/\.git$/i, '').split('/')
  const isPage = host !== null && HOSTS_OF_TWO.includes(host) && segments.length > 2
  const rest = isPage ? segments.splice(2).join('/') : null
  return { host, path: segments.join('/'), isModule: false, version: version ?? rest }
}

/** `pkg:github/owner/name@ref`, or a Go module, whose path begins with the repository's address. */
function addressInPurl(purl: string): Address | null {
  const [, type = ''] = /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\//i.exec(purl) ?? []
  const parsed = parsePackageUrl(purl)
  if (parsed === null) return null
  const path = decodePercents(parsed.name)
  const provider = HOSTED_TYPES.get(type.toLowerCase())
  if (provider !== undefined) {
    return { host: getDefaultHost(provider), path, isModule: false, version: parsed.version }
  }
  const slash = path.indexOf('/')
  if (type.toLowerCase() !== 'golang' || slash < 0) return null
  const host = path.slice(0, slash).toLowerCase()
  return { host, path: path.slice(slash + 1), isModule: true, version: parsed.version }
}

function isNamed({ path, isModule }: Address, { name }: OwnRepository): boolean {
  const [given, own] = [path.toLowerCase(), name.toLowerCase()]
  return given === own || (isModule && given.startsWith(`${own}/`))
}

function own({ version }: Address): Product {
  return { is: 'repository', version }
}
