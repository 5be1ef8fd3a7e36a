import { getCodeHost, PROVIDERS } from '../../codehosts/catalogue.ts'
import { getDefaultHost, isHost } from '../../repositories/repository-identity.ts'
import { decodePercents, parsePackageUrl } from '../vocabulary/package-url.ts'

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
  const hosts = repository.host !== null ? [repository.host] : defaultHosts(repository.provider)
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
  const [bare = '', version = null] = path.replace(/\/+$/, '').split('@', 2)
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

function defaultHosts(provider: string | null): string[] {
  return PROVIDERS.filter((known) => provider === null || known === provider).map(getDefaultHost)
}
