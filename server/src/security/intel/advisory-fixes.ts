import { type JsonObject, objectOf, objectsOf, textOf } from '../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, VERSION_MAX } from '../vocabulary/bounded-text.ts'
import { packageTypeOf } from '../vocabulary/package-url.ts'

/** A package for which an advisory lists a fixed version. */
export type Fix = {
  /** The package URL type. */
  type: string
  name: string
  /** True if every affected range ends in a fixed version. */
  fixes_all: boolean
  fixed: string[]
}

const AFFECTED_MAX = 1000

/**
 * The packages with a `fixed` event in an OSV record (OSV schema, `affected[].ranges[].events`).
 */
export function fixesOf(record: JsonObject): Fix[] {
  const packages = new Map<string, Fix>()
  for (const affected of objectsOf(record.affected).slice(0, AFFECTED_MAX)) collect(affected, packages)
  return [...packages.values()].filter(({ fixed }) => fixed.length > 0)
}

/** Some databases write one `affected` entry per range, so entries of one package are combined. */
function collect(affected: JsonObject, packages: Map<string, Fix>): void {
  const stated = objectOf(affected.package)
  // An ecosystem may be followed by a colon and a registry, as in Maven's.
  const type = packageTypeOf(textOf(stated?.ecosystem)?.split(':', 1)[0] ?? '')
  const name = boundedText(textOf(stated?.name), NAME_MAX)
  if (type === null || name === null) return
  const known = packages.get(`${type}/${name}`) ?? { type, name, fixes_all: true, fixed: [] }
  const { introduced, fixed } = eventsOf(affected)
  known.fixed.push(...fixed)
  known.fixes_all &&= fixed.length > 0 && fixed.length >= introduced
  packages.set(`${type}/${name}`, known)
}

/** GIT ranges are skipped: their events are commits, not versions of a package. */
function eventsOf(affected: JsonObject): { introduced: number; fixed: string[] } {
  const events = objectsOf(affected.ranges)
    .filter((range) => range.type !== 'GIT')
    .flatMap((range) => objectsOf(range.events))
  return {
    introduced: events.filter((event) => textOf(event.introduced) !== null).length,
    fixed: events.flatMap((event) => boundedText(textOf(event.fixed), VERSION_MAX) ?? []),
  }
}
