import {
  type AskedPackage,
  evaluateAdvisories,
  isPatched,
  type PackageAdvisory,
  toAskedPackage,
  type VulnerabilityGroup,
  type VulnerabilityMatch,
} from '../advisories/group-matches.ts'
import type { PresentComponent } from './match-scope.store.ts'

/** A component as advisories are asked about it. */
export type AskedComponent = AskedPackage & { component: PresentComponent; package_key: string }

/** What advisories are asked about a component; null if it has no version or no ecosystem. */
export function toAskedComponent(component: PresentComponent): AskedComponent | null {
  const asked = toAskedPackage(component, component.operating_system)
  return asked === null || asked.version === null ? null : { ...asked, version: asked.version, component }
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
      const isResolved = isPatched(one.component.patched, match.vuln_ids)
      const same = found.get(key)
      if (same === undefined) found.set(key, { ...one, match, isPatched: isResolved })
      else same.isPatched &&= isResolved
    }
  }
  return [...found.values()]
}

export function formatPackage(ecosystem: string, packageKey: string): string {
  return `${ecosystem}\n${packageKey}`
}
