import { decodePercents } from '../../security/vocabulary/package-url.ts'
import { findEcosystem, selectReleases } from '../advisories/ecosystems.ts'
import {
  type AskedPackage,
  evaluateAdvisories,
  type PackageAdvisory,
  type VulnerabilityGroup,
  type VulnerabilityMatch,
} from '../advisories/group-matches.ts'
import { formatPackageKey } from '../components/package-key.ts'
import type { PresentComponent } from './match-scope.store.ts'

/** A component as advisories are asked about it. */
export type AskedComponent = AskedPackage & { component: PresentComponent; package_key: string }

/**
 * What advisories are asked about a component: about its source package where the ecosystem names
 * those, and in the release of the component or of the document's operating system. Null if it has
 * no version, or no advisory can be about it (docs/inventory.md, "Ecosystems").
 */
export function toAskedComponent(component: PresentComponent): AskedComponent | null {
  const { type, namespace, purl } = component
  const ecosystem = findEcosystem(type, namespace)
  if (ecosystem === null) return null
  const isSource = ecosystem.names === 'source' && component.source_name !== null
  const version = (isSource ? component.source_version : null) ?? component.version
  if (version === null) return null
  const stated = /[?&]distro=([^&#]{1,200})/.exec(purl)?.[1]
  const distro = stated === undefined ? component.operating_system : decodePercents(stated)
  const releases = selectReleases(ecosystem, { distro, version })
  const package_key = formatPackageKey(type, isSource ? (component.source_name as string) : component.name)
  return { component, ecosystem, version, releases, package_key }
}

/** A component that is affected by a vulnerability. `isPatched`: by what the documents say. */
export type FoundMatch = AskedComponent & { match: VulnerabilityMatch; isPatched: boolean }

/** Identifies a component in a file. */
export function formatPlace({ component_no, path }: { component_no: number; path: string | null }): string {
  return `${component_no}\n${path ?? ''}`
}

/**
 * The vulnerabilities that components are affected by, one match for each component, file and group
 * of ids. `advisories` are by ecosystem and package key, as `formatPackage` writes them.
 */
export function matchComponents(
  asked: readonly AskedComponent[],
  advisories: ReadonlyMap<string, readonly PackageAdvisory[]>,
  groups: ReadonlyMap<string, VulnerabilityGroup>,
): FoundMatch[] {
  const found = new Map<string, FoundMatch>()
  const evaluated = new Map<string, VulnerabilityMatch[]>()
  for (const one of asked) {
    const about = advisories.get(formatPackage(one.ecosystem.name, one.package_key)) ?? []
    const question = JSON.stringify([one.component.component_no, one.releases])
    const matches =
      evaluated.get(question) ?? evaluateAdvisories(one, about, groups).filter(({ verdict }) => verdict === 'affected')
    evaluated.set(question, matches)
    for (const match of matches) {
      const key = `${formatPlace(one.component)}\n${match.vuln_ids[0]}`
      const isPatched = one.component.patched.some((id) =>
        match.vuln_ids.some((own) => own.toUpperCase() === id.trim().toUpperCase()),
      )
      const same = found.get(key)
      if (same === undefined) found.set(key, { ...one, match, isPatched })
      else same.isPatched &&= isPatched
    }
  }
  return [...found.values()]
}

export function formatPackage(ecosystem: string, packageKey: string): string {
  return `${ecosystem}\n${packageKey}`
}
