import type { Db } from '../../../platform/db/sql.ts'

/**
 * A package's name in the form that two spellings of it share: PyPI's `Foo_Bar` is `foo-bar`, Maven's `group:artifact` is
 * `group/artifact`. It is compared within one vulnerability only, where letting more names be equal does no harm.
 */
export function packageKey(db: Db, name: ReturnType<Db>) {
  return db`lower(translate(${name}, '_.:', '--/'))`
}

/** The type of a package URL. */
export function packageType(db: Db, purl: ReturnType<Db>) {
  return db`lower(substring(${purl} from '^pkg:/{0,2}([A-Za-z0-9.+-]+)/'))`
}

/**
 * The numbers that a version begins with: of `v1.10.2-rc.1` 1, 10, 2. It is the part that the ecosystems of packages order
 * alike; null for a version of another form, such as one with an epoch. The expression is kept simple, because it is
 * evaluated for each version of an import.
 */
export function releaseOf(db: Db, version: ReturnType<Db>) {
  return db`
    case
      when position(':' in ${version}) = 0 and position('!' in ${version}) = 0
      then string_to_array(substring(${version} from '^v?([0-9]+(?:\\.[0-9]+)*)'), '.')::numeric[]
    end`
}
