import type { PackageAdvisory } from '../../inventory/advisories/group-matches.ts'
import {
  type AskedComponent,
  type FoundMatch,
  formatPackage,
  matchComponents,
  toAskedComponent,
} from '../../inventory/matches/match-components.ts'
import type { PresentComponent } from '../../inventory/matches/match-scope.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { listAffected, listVulnerabilityGroups, PACKAGES_AT_ONCE } from '../intel/affected.store.ts'
import { type GroupRating, listGroupRatings } from '../intel/intel.store.ts'

/** The matches of components, with the ratings of their vulnerabilities by canonical id. */
export type FoundMatches = {
  matches: FoundMatch[]
  ratings: ReadonlyMap<string, GroupRating>
  /** The ids of withdrawn advisories, and of their vulnerabilities. */
  withdrawn: ReadonlySet<string>
}

/** Asks the stored advisories about components. */
export async function findMatches(db: Db, present: readonly PresentComponent[]): Promise<FoundMatches> {
  const asked = present.flatMap((component) => toAskedComponent(component) ?? [])
  const byPackage = Map.groupBy(asked, ({ ecosystem, package_key }) => formatPackage(ecosystem.name, package_key))
  const packages = [...byPackage.values()]
  const matches: FoundMatch[] = []
  const withdrawn = new Set<string>()
  for (let at = 0; at < packages.length; at += PACKAGES_AT_ONCE) {
    const found = await askAdvisories(db, packages.slice(at, at + PACKAGES_AT_ONCE))
    for (const match of found.matches) matches.push(match)
    for (const id of found.withdrawn) withdrawn.add(id)
  }
  const groups = matches.map(({ match: { vuln_ids } }) => ({ canonical_id: vuln_ids[0] as string, ids: vuln_ids }))
  const distinct = [...new Map(groups.map((group) => [group.canonical_id, group])).values()]
  const ratings = distinct.length === 0 ? new Map<string, GroupRating>() : await listGroupRatings(db, distinct)
  return { matches, ratings, withdrawn }
}

async function askAdvisories(
  db: Db,
  packages: readonly (readonly AskedComponent[])[],
): Promise<Pick<FoundMatches, 'matches'> & { withdrawn: string[] }> {
  const named = packages.map((same) => {
    const [{ ecosystem, package_key }] = same as [AskedComponent]
    return { ecosystem: ecosystem.name, package_key, releases: [...new Set(same.flatMap(({ releases }) => releases))] }
  })
  const advisories = await listAffected(db, named)
  if (advisories.length === 0) return { matches: [], withdrawn: [] }
  const byPackage = Map.groupBy(advisories, ({ ecosystem, package_key }) => formatPackage(ecosystem, package_key))
  const ids = new Set(advisories.flatMap(({ id, upstream }) => [id, ...upstream]))
  const groups = await listVulnerabilityGroups(db, [...ids])
  const toIds = ({ id }: PackageAdvisory) => groups.get(id)?.ids ?? [id]
  return {
    matches: matchComponents(packages.flat(), byPackage, groups),
    withdrawn: advisories.filter((advisory) => advisory.withdrawn).flatMap(toIds),
  }
}
