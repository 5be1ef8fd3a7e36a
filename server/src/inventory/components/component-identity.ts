import { hash } from 'node:crypto'
import { DISTRIBUTION_TYPES, decodePercents, parsePackageUrl } from '../../security/vocabulary/package-url.ts'
import { formatPackageKey } from './package-key.ts'

/** What identifies a component: its package URL, else its CPE, else its type, name and version. */
export const IDENTITIES = ['purl', 'cpe', 'name'] as const
export type ComponentIdentity = (typeof IDENTITIES)[number]

/** What a document states about a component that can identify it. */
export type StatedComponent = {
  purl: string | null
  cpe: string | null
  type: string
  /** With its group or namespace, as `org.apache/log4j`. */
  name: string | null
  version: string | null
  /** The source package that a package of a distribution was built from. */
  sourceName: string | null
  sourceVersion: string | null
}

/** A component as it is stored. */
export type IdentifiedComponent = {
  identity: ComponentIdentity
  /** The canonical package URL, with the case that the document wrote. */
  purl: string | null
  cpe: string | null
  /** The type of the package URL; of a component without one, the type that the document states. */
  type: string
  ecosystem: string | null
  namespace: string | null
  /** The full name as the ecosystem writes it. */
  name: string
  version: string | null
  /** The keys (`formatPackageKey`) of the full name and of its last part. */
  package_key: string
  name_key: string
  source_name: string | null
  source_version: string | null
  /** Equal for all ways to write one component. */
  hash: Buffer
}

/** Names of OSV for types of package URLs. */
const ECOSYSTEMS: Readonly<Record<string, string>> = {
  npm: 'npm',
  pypi: 'PyPI',
  maven: 'Maven',
  golang: 'Go',
  cargo: 'crates.io',
  nuget: 'NuGet',
  gem: 'RubyGems',
  composer: 'Packagist',
  pub: 'Pub',
  hex: 'Hex',
  swift: 'SwiftURL',
  githubactions: 'GitHub Actions',
  'deb/debian': 'Debian',
  'deb/ubuntu': 'Ubuntu',
  'apk/alpine': 'Alpine',
  'apk/wolfi': 'Wolfi',
  'apk/chainguard': 'Chainguard',
  'rpm/rocky': 'Rocky Linux',
  'rpm/almalinux': 'AlmaLinux',
}

/** Qualifiers that tell packages apart. The others say where a package comes from. */
const IDENTIFYING = ['arch', 'classifier', 'distro', 'epoch', 'os_name', 'os_version', 'type']

const TEXT_MAX = 1000

/**
 * The component that a document describes; null if it has neither a package URL, a CPE nor a
 * name.
 */
export function parseComponent(stated: StatedComponent): IdentifiedComponent | null {
  return parsePurlComponent(stated) ?? parseOtherComponent(stated)
}

/** The component of a package URL that stands alone; null for any other text. */
export function parsePackage(purl: string): IdentifiedComponent | null {
  const unnamed = { cpe: null, type: 'library', name: null, version: null, sourceName: null, sourceVersion: null }
  return parseComponent({ ...unnamed, purl })
}

function parsePurlComponent(stated: StatedComponent): IdentifiedComponent | null {
  const text = stated.purl?.trim() ?? ''
  const [, given = ''] = /^pkg:\/{0,2}([a-z][a-z0-9.+-]{0,49})\//i.exec(text) ?? []
  const parsed = text.length > TEXT_MAX ? null : parsePackageUrl(text)
  if (given === '' || parsed === null) return null
  const type = given.toLowerCase()
  const { namespace, name: lastName } = readPath(text)
  if (lastName === '') return null
  const name = joinName(type, namespace, lastName)
  const version = readVersion(type, parsed.version)
  const qualifiers = readQualifiers(text)
  const identifying = selectIdentifying(type, namespace, qualifiers)
  const subpath = type === 'golang' ? readSubpath(text) : null
  const source = readSource(type, { name: lastName, qualifiers, stated })
  const package_key = formatPackageKey(type, name)
  const suffix = identifying.map(([key, value]) => `${key}=${encode(value)}`).join('&')
  const written = encodePath(type, namespace, lastName)
  const key = [
    'purl',
    type,
    DISTRIBUTION_TYPES.has(type) ? (namespace?.toLowerCase() ?? '') : '',
    package_key,
    version ?? '',
    suffix,
    subpath ?? '',
    source.name ?? '',
    source.version ?? '',
  ]
  return {
    identity: 'purl',
    purl:
      `pkg:${type}/${written}` +
      (parsed.version === null || parsed.version === '' ? '' : `@${encode(parsed.version)}`) +
      (suffix === '' ? '' : `?${suffix}`) +
      (subpath === null ? '' : `#${subpath}`),
    cpe: null,
    type,
    ecosystem: ECOSYSTEMS[type] ?? ECOSYSTEMS[`${type}/${namespace?.toLowerCase()}`] ?? null,
    namespace,
    name,
    version,
    package_key,
    name_key: formatPackageKey(type, lastName),
    source_name: source.name,
    source_version: source.version,
    hash: hashKey(key),
  }
}

/** Without a package URL the same name of two types is two components. */
function parseOtherComponent(stated: StatedComponent): IdentifiedComponent | null {
  const cpe = parseCpe(stated.cpe)
  const name = stated.name?.trim().slice(0, TEXT_MAX) || cpe?.product || null
  if (name === null) return null
  const version = stated.version?.trim() || cpe?.version || null
  const facts = { type: stated.type, ecosystem: null, namespace: null, purl: null, name, version, package_key: name }
  const source = { source_name: stated.sourceName, source_version: stated.sourceVersion }
  const name_key = name.slice(name.lastIndexOf('/') + 1)
  const sourceKey = [stated.sourceName ?? '', stated.sourceVersion ?? '']
  return cpe === null
    ? {
        ...{ identity: 'name', cpe: null, ...facts, name_key, ...source },
        hash: hashKey(['name', stated.type, name, version ?? '', ...sourceKey]),
      }
    : {
        ...{ identity: 'cpe', cpe: cpe.text, ...facts, name_key, ...source },
        hash: hashKey(['cpe', cpe.text, ...sourceKey]),
      }
}

function hashKey(parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, 16)
}

/** CPE 2.3 as a formatted string (NISTIR 7695 §6.2). Letters have no case in it. */
function parseCpe(text: string | null): { text: string; product: string; version: string | null } | null {
  const cpe = text?.trim().toLowerCase() ?? ''
  if (cpe.length > TEXT_MAX || !/^cpe:2\.3:[aho*-]:/.test(cpe)) return null
  const parts = cpe.split(/(?<!\\):/)
  const [product = '', version = '*'] = parts.slice(4)
  if (parts.length !== 13 || product === '' || product === '*') return null
  const stated = version === '*' || version === '-' ? null : version.replaceAll('\\', '')
  return { text: cpe, product: product.replaceAll('\\', ''), version: stated }
}

/** The path of a package URL without its version, decoded. */
function readPath(purl: string): { namespace: string | null; name: string } {
  const path = (/^pkg:\/{0,2}[^/]{1,50}\/([^?#]*)/i.exec(purl)?.[1] ?? '').replace(/%2f/gi, '/')
  // A scope of npm begins with @. The @ of the version is after the name.
  const at = path.lastIndexOf('@')
  const unversioned = at > 0 && at > path.lastIndexOf('/') + 1 ? path.slice(0, at) : path
  const parts = unversioned.split('/').filter((part) => part !== '')
  const name = decodePercents(parts.pop() ?? '')
  return { namespace: parts.length === 0 ? null : parts.map(decodePercents).join('/'), name }
}

/** The name as the ecosystem writes it: `org.apache:log4j`, `@angular/core`, `github.com/x/y`. */
function joinName(type: string, namespace: string | null, name: string): string {
  if (namespace === null || DISTRIBUTION_TYPES.has(type)) return name
  return type === 'maven' ? `${namespace}:${name}` : `${namespace}/${name}`
}

/** Versions of Go have `v` in some documents, and the ones of its tools `go`. */
function readVersion(type: string, version: string | null): string | null {
  if (version === null || version.trim() === '') return null
  return type === 'golang' ? version.replace(/^(?:v|go)(?=\d)/, '') : version
}

function readQualifiers(purl: string): Map<string, string> {
  const query = /\?([^#]*)/.exec(purl)?.[1] ?? ''
  const pairs = query.split('&').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    const value = at < 0 ? '' : decodePercents(pair.slice(at + 1)).trim()
    return value === '' ? [] : [[pair.slice(0, at).toLowerCase(), value]]
  })
  return new Map(pairs)
}

function readSubpath(purl: string): string | null {
  const at = purl.indexOf('#')
  const parts = at < 0 ? [] : purl.slice(at + 1).split('/')
  const kept = parts.filter((part) => part !== '' && part !== '.' && part !== '..')
  return kept.length === 0 ? null : kept.map((part) => encode(decodePercents(part))).join('/')
}

function selectIdentifying(
  type: string,
  namespace: string | null,
  qualifiers: ReadonlyMap<string, string>,
): [string, string][] {
  return IDENTIFYING.flatMap((key): [string, string][] => {
    const value = qualifiers.get(key)
    if (value === undefined) return []
    if (key === 'epoch' && value === '0') return []
    if (key === 'type' && type === 'maven' && value === 'jar') return []
    return [[key, key === 'distro' ? reduceDistribution(value.toLowerCase(), namespace) : value]]
  })
}

/** Distributions whose point releases share their packages. */
const MAJOR_RELEASES = new Set('debian rhel redhat centos rocky almalinux ol oracle oraclelinux amzn fedora'.split(' '))

/**
 * `debian-12.5` is `debian-12`, `ubuntu-22.04.4` is `ubuntu-22.04`, `alpine-3.19.1` is
 * `alpine-3.19`.
 */
function reduceDistribution(distro: string, namespace: string | null): string {
  const stated = /^\d/.test(distro) && namespace !== null ? `${namespace.toLowerCase()}-${distro}` : distro
  const [, vendor = '', release = ''] = /^([a-z][a-z_-]{0,40}?)-?(\d[\d.]{0,30})$/.exec(stated) ?? []
  if (vendor === '') return stated
  const parts = release.split('.')
  if (MAJOR_RELEASES.has(vendor)) return `${vendor}-${parts[0]}`
  return vendor === 'alpine' || vendor === 'ubuntu' ? `${vendor}-${parts.slice(0, 2).join('.')}` : stated
}

type SourceFacts = { name: string; qualifiers: ReadonlyMap<string, string>; stated: StatedComponent }
type SourcePackage = { name: string | null; version: string | null }

/** Qualifiers have precedence over what the members of the document say. */
function readSource(type: string, { qualifiers, stated }: SourceFacts): SourcePackage {
  if (!DISTRIBUTION_TYPES.has(type)) return { name: null, version: null }
  const upstream = qualifiers.get('upstream') ?? qualifiers.get('source') ?? null
  const text = upstream ?? stated.sourceName
  if (text === null) return { name: null, version: null }
  if (type === 'rpm') {
    const [, name, version] = /^(.{1,300}?)-([^-]{1,100}-[^-]{1,100})\.(?:no)?src\.rpm$/.exec(text) ?? []
    if (name !== undefined && version !== undefined) return { name, version }
  }
  const at = text.lastIndexOf('@')
  if (at > 0) return { name: text.slice(0, at), version: text.slice(at + 1) }
  return { name: text, version: qualifiers.get('sourceversion') ?? stated.sourceVersion }
}

function encodePath(type: string, namespace: string | null, name: string): string {
  const parts = [...(namespace?.split('/') ?? []), name]
  // PEP 503 and the namespaces of distributions have one spelling, which is in lower case.
  if (type === 'pypi') return encode(formatPackageKey(type, name))
  if (!DISTRIBUTION_TYPES.has(type)) return parts.map(encode).join('/')
  return [...parts.slice(0, -1).map((part) => part.toLowerCase()), name].map(encode).join('/')
}

/** As purl-spec encodes: `:` stays. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':')
}
