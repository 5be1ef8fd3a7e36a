import type { Db } from '../../platform/db/sql.ts'

/**
 * A package's name in the form that its spellings share: `Foo_Bar` on PyPI becomes `foo-bar`, and
 * Maven's `group:artifact` becomes `group/artifact`. Names are compared within one vulnerability
 * only, so the rule may be generous.
 */
export function packageKey(db: Db, name: ReturnType<Db>) {
  return db`lower(translate(${name}, '_.:', '--/'))`
}

/** The type in a package URL. */
export function packageType(db: Db, purl: ReturnType<Db>) {
  return db`lower(substring(${purl} from '^pkg:/{0,2}([A-Za-z0-9.+-]+)/'))`
}

/**
 * The leading numbers of a version: 1, 10, 2 for `v1.10.2-rc.1`. All ecosystems order this part
 * alike. Null for a version in another form, such as one with an epoch. The expression is simple
 * because it runs for every version of an import.
 */
export function releaseOf(db: Db, version: ReturnType<Db>) {
  return db`
    case
      when position(':' in ${version}) = 0 and position('!' in ${version}) = 0
      then string_to_array(substring(${version} from '^v?([0-9]+(?:\\.[0-9]+)*)'), '.')::numeric[]
    end`
}
