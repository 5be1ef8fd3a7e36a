import { type JsonObject, objectOf, objectsOf, textOf } from '../../platform/json/read-value.ts'

/** A package that an advisory knows a fixed version of. */
export type Fix = {
  /** The type of its package URL. */
  type: string
  name: string
  /** Every affected range ends in a fix. */
  fixes_all: boolean
  /** The numbers of the highest fixed version; null where no fixed version has such a form. */
  latest_fix: string[] | null
}

/** Types of package URLs by ecosystem. A distribution's fix is one of its release only; its scanners name the fixed version themselves. */
const TYPES = new Map([
  ['npm', 'npm'],
  ['PyPI', 'pypi'],
  ['Go', 'golang'],
  ['Maven', 'maven'],
  ['RubyGems', 'gem'],
  ['crates.io', 'cargo'],
  ['NuGet', 'nuget'],
  ['Packagist', 'composer'],
  ['Hex', 'hex'],
  ['Pub', 'pub'],
  ['SwiftURL', 'swift'],
  ['ConanCenter', 'conan'],
  ['CRAN', 'cran'],
  ['Hackage', 'hackage'],
  ['GitHub Actions', 'githubactions'],
])

const AFFECTED_MAX = 1000
const NAME_MAX = 300

type Ranges = { type: string; name: string; opened: number; fixed: string[] }

/** The packages that an OSV record has a `fixed` event for (OSV schema, `affected[].ranges[].events`). */
export function fixesOf(record: JsonObject): Fix[] {
  const packages = new Map<string, Ranges>()
  for (const affected of objectsOf(record.affected).slice(0, AFFECTED_MAX)) collect(affected, packages)
  return [...packages.values()].filter(({ fixed }) => fixed.length > 0).map(toFix)
}

/** Some databases write one `affected` for each range of a package. */
function collect(affected: JsonObject, packages: Map<string, Ranges>): void {
  const stated = objectOf(affected.package)
  // Maven's ecosystem may name a registry after a colon.
  const type = TYPES.get(textOf(stated?.ecosystem)?.split(':', 1)[0] ?? '')
  const name = textOf(stated?.name)
  if (type === undefined || name === null || name.length > NAME_MAX) return
  const key = `${type}/${name}`
  const known = packages.get(key) ?? { type, name, opened: 0, fixed: [] }
  packages.set(key, known)
  const events = objectsOf(affected.ranges)
    .filter((range) => range.type !== 'GIT')
    .flatMap((range) => objectsOf(range.events))
  const fixed = events.flatMap((event) => textOf(event.fixed) ?? [])
  known.fixed.push(...fixed)
  known.opened += Math.max(events.filter((event) => textOf(event.introduced) !== null).length, 1) - fixed.length
}

function toFix({ type, name, opened, fixed }: Ranges): Fix {
  const releases = fixed.map(releaseOf).filter((release) => release !== null)
  const latest = releases.sort(compareReleases).at(-1)
  return { type, name, fixes_all: opened <= 0, latest_fix: latest?.map(String) ?? null }
}

/**
 * The numbers that a version begins with: `v1.10.2-rc.1` is 1, 10, 2. It is the part that the ecosystems above order
 * alike; null for a version of another form.
 */
export function releaseOf(version: string): bigint[] | null {
  const [, numbers] = /^v?(\d{1,18}(?:\.\d{1,18}){0,9})(?![\d:!])/.exec(version) ?? []
  return numbers?.split('.').map(BigInt) ?? null
}

function compareReleases(a: bigint[], b: bigint[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [left = -1n, right = -1n] = [a[at], b[at]]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}
