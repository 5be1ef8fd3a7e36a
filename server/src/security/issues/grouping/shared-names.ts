// Scanners name the same vulnerability or package differently. These are the forms in which names
// are compared.
import { parsePackageUrl } from '../../vocabulary/package-url.ts'
import { removeDistribution } from '../../vocabulary/vulnerability-id.ts'
import type { GroupingFacts } from './grouping-facts.ts'

/** The id that represents an id's group of aliases. */
export type CanonicalId = (id: string) => string

/**
 * Advisories of distributions and vendors. One may cover many vulnerabilities, so it identifies
 * none of them.
 */
const ADVISORY = /^(?:RHSA|RHBA|ELSA|ALSA|RLSA|USN|DSA|DLA|ALAS\d?)-/

export function isAdvisory(id: string): boolean {
  return ADVISORY.test(id)
}

/**
 * The canonical ids by which a finding is compared with others. A finding with several CVE ids is
 * about an advisory that covers them. It is its own vulnerability, because it would otherwise join
 * different ones into one issue; with one CVE id, it is a name of that.
 */
export function selectVulnerabilityNames(ids: readonly string[], canonicalId: CanonicalId): string[] {
  const names = [...new Set(ids.map((id) => canonicalId(removeDistribution(id))))].sort()
  const cves = names.filter((name) => name.startsWith('CVE-'))
  if (cves.length > 1) return [names.find((name) => !cves.includes(name)) ?? cves.join(' and ')]
  const own = names.filter((name) => !isAdvisory(name))
  return own.length > 0 ? own : names
}

type Package = Pick<GroupingFacts, 'purl' | 'package_name'>

/**
 * A package's name without version and qualifiers, in the form that its spellings share: `Foo_Bar`
 * on PyPI becomes `foo-bar`, and Maven's `group:artifact` becomes `group/artifact`. The ecosystem
 * is not part of it, because a scanner that writes no package URL does not name one.
 */
export function normalizeSharedPackageName({ purl, package_name: name }: Package): string | null {
  const shared = (purl === null ? null : parsePackageUrl(purl)?.name) ?? name
  return shared === null ? null : shared.toLowerCase().replaceAll(/[_.]/g, '-').replaceAll(':', '/')
}

/** The ecosystem of a package: the type in its package URL, or null without one. */
export function getEcosystem({ purl }: Pick<Package, 'purl'>): string | null {
  return /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\//i.exec(purl ?? '')?.[1]?.toLowerCase() ?? null
}
