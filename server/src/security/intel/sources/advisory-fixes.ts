import { type JsonObject, objectOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, VERSION_MAX } from '../../vocabulary/bounded-text.ts'

/** A package that an advisory knows a fixed version of. */
export type Fix = {
  /** The type of its package URL. */
  type: string
  name: string
  /** Every affected range ends in a fix. */
  fixes_all: boolean
  fixed: string[]
}

/**
 * Types of package URLs by ecosystem. A distribution's fix is one of its release only, and its scanners name the fixed
 * version themselves, so those are left out.
 */
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

/** The packages that an OSV record has a `fixed` event for (OSV schema, `affected[].ranges[].events`). */
export function fixesOf(record: JsonObject): Fix[] {
  const packages = new Map<string, Fix>()
  for (const affected of objectsOf(record.affected).slice(0, AFFECTED_MAX)) collect(affected, packages)
  return [...packages.values()].filter(({ fixed }) => fixed.length > 0)
}

/** Some databases write one `affected` for each range of a package. */
function collect(affected: JsonObject, packages: Map<string, Fix>): void {
  const stated = objectOf(affected.package)
  // Maven's ecosystem may name a registry after a colon.
  const type = TYPES.get(textOf(stated?.ecosystem)?.split(':', 1)[0] ?? '')
  const name = boundedText(textOf(stated?.name), NAME_MAX)
  if (type === undefined || name === null) return
  const known = packages.get(`${type}/${name}`) ?? { type, name, fixes_all: true, fixed: [] }
  const { introduced, fixed } = eventsOf(affected)
  known.fixed.push(...fixed)
  known.fixes_all &&= fixed.length > 0 && fixed.length >= introduced
  packages.set(`${type}/${name}`, known)
}

/** A commit is no version of a package. */
function eventsOf(affected: JsonObject): { introduced: number; fixed: string[] } {
  const events = objectsOf(affected.ranges)
    .filter((range) => range.type !== 'GIT')
    .flatMap((range) => objectsOf(range.events))
  return {
    introduced: events.filter((event) => textOf(event.introduced) !== null).length,
    fixed: events.flatMap((event) => boundedText(textOf(event.fixed), VERSION_MAX) ?? []),
  }
}
