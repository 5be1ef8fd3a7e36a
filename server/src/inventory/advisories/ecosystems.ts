import type { VersionOrderName } from '../versions/version-orders.ts'

/**
 * How the release of a distribution in OSV's `package.ecosystem` follows from a component's
 * `distro`.
 */
type ReleaseRule = 'alpine' | 'debian' | 'major' | 'red-hat' | 'ubuntu'

/** One kind of package, as package URLs, OSV records and versions name it. */
export type Ecosystem = {
  /** OSV's name without the release (OSV schema, "Defined ecosystems"). */
  name: string
  /** The type of the package URL. */
  type: string
  /** The namespaces of the package URL, of a distribution; any if empty. */
  namespaces: readonly string[]
  order: VersionOrderName
  /** Whether records name the source package or the one that is installed. */
  names: 'package' | 'source'
  /** Null if a record is about all releases. */
  release: ReleaseRule | null
}

/** Packages of a language: one list of versions for everybody. */
function define(name: string, type: string, order: VersionOrderName): Ecosystem {
  return { name, type, namespaces: [], order, names: 'package', release: null }
}

/**
 * The ecosystems whose advisories are matched. A component of another one is `unknown`, with the
 * reason `unsupported_ecosystem` (docs/inventory.md).
 */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  define('CRAN', 'cran', 'numbers'),
  define('GitHub Actions', 'githubactions', 'actions'),
  define('Go', 'golang', 'go'),
  define('Hackage', 'hackage', 'numbers'),
  define('Hex', 'hex', 'semver'),
  define('Maven', 'maven', 'maven'),
  define('NuGet', 'nuget', 'nuget'),
  define('Packagist', 'composer', 'packagist'),
  define('Pub', 'pub', 'pub'),
  define('PyPI', 'pypi', 'pep440'),
  define('RubyGems', 'gem', 'rubygems'),
  define('SwiftURL', 'swift', 'semver'),
  define('crates.io', 'cargo', 'semver'),
  define('npm', 'npm', 'npm'),
  { ...define('Alpine', 'apk', 'apk'), namespaces: ['alpine'], names: 'source', release: 'alpine' },
  { ...define('Chainguard', 'apk', 'apk'), namespaces: ['chainguard'], names: 'source' },
  { ...define('Wolfi', 'apk', 'apk'), namespaces: ['wolfi'], names: 'source' },
  { ...define('Debian', 'deb', 'dpkg'), namespaces: ['debian'], names: 'source', release: 'debian' },
  { ...define('Ubuntu', 'deb', 'dpkg'), namespaces: ['ubuntu'], names: 'source', release: 'ubuntu' },
  { ...define('AlmaLinux', 'rpm', 'rpm'), namespaces: ['almalinux', 'alma'], release: 'major' },
  { ...define('Red Hat', 'rpm', 'rpm'), namespaces: ['redhat', 'rhel'], release: 'red-hat' },
  {
    ...define('Rocky Linux', 'rpm', 'rpm'),
    namespaces: ['rocky', 'rocky-linux', 'rockylinux'],
    names: 'source',
    release: 'major',
  },
]

const BY_NAME = new Map(ECOSYSTEMS.map((ecosystem) => [ecosystem.name, ecosystem]))

/**
 * The ecosystem of a component by the type and namespace of its package URL; null if it has no
 * row.
 */
export function findEcosystem(type: string, namespace: string | null): Ecosystem | null {
  const vendor = namespace?.toLowerCase() ?? ''
  const candidates = ECOSYSTEMS.filter((ecosystem) => ecosystem.type === type)
  return candidates.find(({ namespaces }) => namespaces.length === 0 || namespaces.includes(vendor)) ?? null
}

/**
 * `package.ecosystem` of an OSV record: the ecosystem, and its release in the form that is stored.
 */
export type StatedEcosystem = { ecosystem: Ecosystem; release: string }

/**
 * Reads `package.ecosystem` of an OSV record. Null if the ecosystem has no row. A registry, as in
 * `Maven:https://…`, is left out. The releases of Red Hat are products by CPE: those of the
 * distribution itself are stored by their major version, the others as they are, so that extended
 * support streams stay apart.
 */
export function parseEcosystem(text: string): StatedEcosystem | null {
  const colon = text.indexOf(':')
  const ecosystem = BY_NAME.get(colon < 0 ? text : text.slice(0, colon))
  if (ecosystem === undefined) return null
  if (ecosystem.release === null) return { ecosystem, release: '' }
  const release = colon < 0 ? '' : text.slice(colon + 1)
  const major = ecosystem.release === 'red-hat' ? /^enterprise_linux:([0-9]+)(?:[.:]|$)/.exec(release) : null
  return { ecosystem, release: major?.[1] ?? release }
}

/** What a component, or the operating system of its document, says about the distribution. */
export type Distribution = { distro: string | null; version: string | null }

/**
 * The releases of records that are about a component, the one that decides first. Empty if the
 * component does not say its release: then no release counts, and neither do all.
 */
export function selectReleases({ release }: Ecosystem, { distro, version }: Distribution): string[] {
  if (release === null) return ['']
  const stated = distro === null ? null : parseRelease(distro)
  if (stated === null) return []
  return toReleases(release, stated, version ?? '')
}

/** Releases that tools name by their code name (purl-spec, "deb"). */
const CODE_NAMES: ReadonlyMap<string, string> = new Map([
  ['wheezy', '7'],
  ['jessie', '8'],
  ['stretch', '9'],
  ['buster', '10'],
  ['bullseye', '11'],
  ['bookworm', '12'],
  ['trixie', '13'],
  ['forky', '14'],
  ['trusty', '14.04'],
  ['xenial', '16.04'],
  ['bionic', '18.04'],
  ['focal', '20.04'],
  ['jammy', '22.04'],
  ['noble', '24.04'],
])

/**
 * The numbers of a release: `12.5` of `debian-12.5`, `3.18.4` of `alpine-3.18.4`, `12` of
 * `bookworm`.
 */
function parseRelease(distro: string): string | null {
  const text = distro.trim().toLowerCase()
  const name = text.slice(text.lastIndexOf('-') + 1)
  return CODE_NAMES.get(name) ?? /^v?([0-9]+(?:\.[0-9]+)*)/.exec(name)?.[1] ?? null
}

function toReleases(rule: ReleaseRule, stated: string, version: string): string[] {
  const [major = '', minor] = stated.split('.')
  if (rule === 'debian' || rule === 'major' || rule === 'red-hat') return [major]
  if (minor === undefined) return []
  if (rule === 'alpine') return [`v${major}.${minor}`]
  const release = `${major}.${minor}`
  const isLongTerm = Number(major) % 2 === 0 && minor === '04'
  const releases = isLongTerm ? [`${release}:LTS`] : [release]
  // Packages of Ubuntu Pro have "esm" in their version. Others never get its fixes.
  return version.includes('esm') ? [...releases.map((name) => `Pro:${name}`), ...releases] : releases
}
