import type { AffectedPackage } from '../../inventory/advisories/affected.ts'
import type { PackageAdvisory, VulnerabilityGroup } from '../../inventory/advisories/group-matches.ts'
import { buildUnnestedRows } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'

/**
 * Replaces what is stored of the packages of the advisories that an import changed. They are in the
 * temporary table `changed_advisories`, with `affected` as JSON.
 */
export async function upsertAffected(tx: Tx): Promise<void> {
  await tx`
    create temporary table changed_packages on commit drop as
    select distinct stored.ecosystem, stored.package_key
    from changed_advisories changed
    join intel_affected stored on stored.advisory_id = changed.id`
  const changed = await buildUnnestedRows(tx, 'changed_advisories', 'changed', ['id'])
  await tx`
    delete from intel_affected stored
    using ${changed()}
    where stored.advisory_id = changed.id`
  await tx`
    insert into intel_affected (
      advisory_id, position, ecosystem, release, package_key, name, ranges, versions, urgency, informational,
      is_truncated
    )
    select changed.id, affected.position, affected.ecosystem, affected.release, affected.package_key, affected.name,
      affected.ranges, affected.versions, affected.urgency, affected.informational, affected.is_truncated
    from changed_advisories changed
    cross join json_to_recordset(changed.affected) as affected (
      position integer, ecosystem text, release text, package_key text, name text, ranges jsonb, versions text[],
      urgency text, informational text, is_truncated boolean
    )`
}

/**
 * Numbers the packages whose matches an import may change: those that its records were or are
 * about, and those of all records of vulnerabilities that it changed or gave other ids. Returns
 * their number. Called after the groups of aliases were stored.
 */
export async function upsertPackageChanges(tx: Tx): Promise<number> {
  await tx`
    insert into changed_packages (ecosystem, package_key)
    with touched as (
      select id from changed_advisories
      union
      select id from touched_ids
    ),
    named as materialized (
      select id from touched
      union
      select member.id
      from touched
      join vulnerability_aliases own on own.id = touched.id
      join vulnerability_aliases member on member.canonical_id = own.canonical_id
    ),
    concerned as (
      select id from named
      union
      select advisory.id
      from intel_advisories advisory
      cross join unnest(advisory.upstream) of_vulnerability
      join named on named.id = of_vulnerability
    )
    select distinct affected.ecosystem, affected.package_key
    from concerned
    join intel_affected affected on affected.advisory_id = concerned.id`
  const [{ last }] = await tx<[{ last: number }]>`select coalesce(max(no), 0) as last from intel_package_changes`
  const changed = await buildUnnestedRows(tx, 'changed_packages', 'changed', ['ecosystem', 'package_key'])
  const rows = await tx`
    insert into intel_package_changes (ecosystem, package_key, no)
    select ecosystem, package_key, ${last}::bigint + row_number() over (order by ecosystem, package_key)
    from (select distinct ecosystem, package_key from ${changed()}) distinct_packages
    on conflict (ecosystem, package_key) do update
    set no = excluded.no`
  return rows.count
}

/** A package as advisories name it: OSV's ecosystem without release, and the key of the name. */
export type PackageName = { ecosystem: string; package_key: string }

/** The packages that one statement asks for. */
export const PACKAGES_AT_ONCE = 1000

/**
 * The advisories about packages, withdrawn ones included, with what they say of these releases. At
 * most `PACKAGES_AT_ONCE` packages. Sorted by package and advisory.
 */
export async function listAffected(
  db: Db,
  packages: readonly (PackageName & { releases: readonly string[] })[],
): Promise<(PackageName & PackageAdvisory)[]> {
  const asked = packages.flatMap(({ ecosystem, package_key, releases }) =>
    releases.map((release) => ({ ecosystem, package_key, release })),
  )
  return db<(PackageName & PackageAdvisory)[]>`
    select affected.ecosystem, affected.package_key, advisory.id, advisory.withdrawn, advisory.upstream,
      ${buildPackages(db)} as packages
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as asked (
      ecosystem text collate "C", package_key text collate "C", release text collate "C"
    )
    join intel_affected affected on affected.ecosystem = asked.ecosystem
      and affected.package_key = asked.package_key
      and affected.release = asked.release
    join intel_advisories advisory on advisory.id = affected.advisory_id
    group by affected.ecosystem, affected.package_key, advisory.id
    order by affected.ecosystem, affected.package_key, advisory.id`
}

/** SQL: what advisories say of packages, of rows `affected`. */
export function buildPackages(db: Db) {
  const members: (keyof AffectedPackage)[] = [
    ...(['ecosystem', 'release', 'package_key', 'name', 'ranges', 'versions'] as const),
    ...(['urgency', 'informational', 'is_truncated'] as const),
  ]
  const pairs = members.map((member) => `'${member}', affected.${member}`).join(', ')
  return db`json_agg(json_build_object(${db.unsafe(pairs)}) order by affected.position)`
}

/** The group of each id: its own id alone, if no source says that it has others. */
export async function listVulnerabilityGroups(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, VulnerabilityGroup>> {
  const rows = await db<(VulnerabilityGroup & { id: string })[]>`
    select own.id, own.canonical_id, array_agg(member.id order by member.id) as ids
    from vulnerability_aliases own
    join vulnerability_aliases member on member.canonical_id = own.canonical_id
    where own.id = any(${ids as string[]})
    group by own.id, own.canonical_id`
  return new Map(rows.map(({ id, canonical_id, ids: members }) => [id, { canonical_id, ids: members }]))
}
