import { decodePercents } from '../../security/vocabulary/package-url.ts'
import type { Severity } from '../../security/vocabulary/severity.ts'
import { formatPackageKey } from '../components/package-key.ts'
import type { AffectedPackage } from './affected.ts'
import { type Ecosystem, findEcosystem, selectReleases } from './ecosystems.ts'
import { evaluateVersion, mergeVerdicts, selectFixedVersion, type Verdict } from './evaluate.ts'

/** An advisory with what it says about one package, in all releases. */
export type PackageAdvisory = {
  id: string
  withdrawn: boolean
  /** The ids of the vulnerabilities that it fixes, if a distribution lists several. */
  upstream: readonly string[]
  packages: readonly AffectedPackage[]
}

/** All ids of one vulnerability. */
export type VulnerabilityGroup = { canonical_id: string; ids: readonly string[] }

/** Packages that are harmful by intent, and those that are a risk without a vulnerability. */
export type MatchType = 'vulnerability' | 'malicious-package' | 'informational'

/** What the advisories of one vulnerability say about one version of a package. */
export type VulnerabilityMatch = {
  verdict: Verdict
  /** The canonical id first, then the others by code points. */
  vuln_ids: string[]
  /** The ids of the advisories that decide, sorted. */
  advisory_ids: string[]
  fixed_version: string | null
  type: MatchType
  /** RustSec's word, such as `unmaintained`, of an `informational` match. */
  informational: string | null
}

/** A version of a package; of a source package where the ecosystem names those. */
export type AskedPackage = { ecosystem: Ecosystem; version: string; releases: readonly string[] }

/** A component as documents name it, as far as advisories are asked about it. */
export type NamedComponent = {
  type: string
  namespace: string | null
  name: string
  version: string | null
  purl: string | null
  source_name: string | null
  source_version: string | null
}

/** The package that a component is asked about. Its version can be unknown. */
export type PackageOfComponent = Omit<AskedPackage, 'version'> & { package_key: string; version: string | null }

/**
 * The package that advisories are asked about: the source package where the ecosystem names those,
 * in the release of the component or of the document's operating system. Null if no advisory can be
 * about it (docs/inventory.md, "Ecosystems").
 */
export function toAskedPackage(component: NamedComponent, operatingSystem: string | null): PackageOfComponent | null {
  const { type, namespace, name, purl, source_name, source_version } = component
  const ecosystem = findEcosystem(type, namespace)
  if (ecosystem === null) return null
  const isSource = ecosystem.names === 'source' && source_name !== null
  const version = (isSource ? source_version : null) ?? component.version
  const stated = /[?&]distro=([^&#]{1,200})/.exec(purl ?? '')?.[1]
  const distro = stated === undefined ? operatingSystem : decodePercents(stated)
  const releases = selectReleases(ecosystem, { distro, version })
  return { ecosystem, version, releases, package_key: formatPackageKey(type, isSource ? source_name : name) }
}

/** Whether one of the ids that patches of a component resolve is one of these. */
export function isPatched(patched: readonly string[], ids: readonly string[]): boolean {
  return patched.some((id) => ids.some((own) => own.toUpperCase() === id.trim().toUpperCase()))
}

type Deciding = { id: string; packages: AffectedPackage[] }

/** Records that a distribution publishes for each vulnerability, beside its advisories. */
const PER_VULNERABILITY = /^(?:ALPINE|DEBIAN|UBUNTU)-CVE-/

/**
 * Evaluates a version by all advisories about its package: one result for each vulnerability, also
 * for those that do not affect it. An advisory that lists several vulnerabilities counts for each.
 * Where the distribution also publishes records by vulnerability, these decide, and its advisories
 * only name fixes. Withdrawn advisories do not count. `groups` holds the group of each id.
 */
export function evaluateAdvisories(
  asked: AskedPackage,
  advisories: readonly PackageAdvisory[],
  groups: ReadonlyMap<string, VulnerabilityGroup>,
): VulnerabilityMatch[] {
  const found = new Map<string, { group: VulnerabilityGroup; advisories: Map<string, Deciding> }>()
  for (const { id, withdrawn, upstream, packages } of advisories) {
    const relevant = withdrawn ? [] : selectPackages(asked, packages)
    if (relevant.length === 0) continue
    for (const vulnerability of upstream.length > 1 ? upstream : [id]) {
      const group = groups.get(vulnerability) ?? { canonical_id: vulnerability, ids: [vulnerability] }
      const entry = found.get(group.canonical_id) ?? { group, advisories: new Map<string, Deciding>() }
      entry.advisories.set(id, { id, packages: relevant })
      found.set(group.canonical_id, entry)
    }
  }
  return Array.from(found.values(), (entry) => evaluateGroup(asked, entry.group, [...entry.advisories.values()]))
}

/** Of the releases that count, only the first that the advisory names. */
function selectPackages(
  { ecosystem, releases }: AskedPackage,
  packages: readonly AffectedPackage[],
): AffectedPackage[] {
  const own = packages.filter((affected) => affected.ecosystem === ecosystem.name)
  for (const release of releases) {
    const found = own.filter((affected) => affected.release === release)
    if (found.length > 0) return found
  }
  return []
}

function evaluateGroup(asked: AskedPackage, group: VulnerabilityGroup, all: readonly Deciding[]): VulnerabilityMatch {
  const own = all.filter(({ id }) => PER_VULNERABILITY.test(id))
  const deciding = own.length > 0 ? own : all
  const { version, ecosystem } = asked
  const judged = deciding.map((advisory) => ({
    ...advisory,
    verdict: evaluateVersion(version, ecosystem.order, advisory.packages),
  }))
  const verdict = mergeVerdicts(judged.map((advisory) => advisory.verdict))
  const packages = deciding.flatMap((advisory) => advisory.packages)
  const hints = all.flatMap((advisory) => advisory.packages)
  return {
    verdict,
    vuln_ids: [group.canonical_id, ...[...group.ids].sort().filter((id) => id !== group.canonical_id)],
    advisory_ids: deciding.map(({ id }) => id).sort(),
    fixed_version: verdict === 'affected' ? selectFixedVersion(version, ecosystem.order, { packages, hints }) : null,
    ...classifyMatch(judged.filter((advisory) => advisory.verdict === 'affected')),
  }
}

/** A match is informational only if all advisories that say so are. */
function classifyMatch(affecting: readonly Deciding[]): Pick<VulnerabilityMatch, 'type' | 'informational'> {
  if (affecting.some(({ id }) => id.startsWith('MAL-'))) return { type: 'malicious-package', informational: null }
  const words = affecting.flatMap(({ packages }) => packages.map(({ informational }) => informational))
  const [word = null] = words.filter((stated) => stated !== null).sort()
  if (word === null || words.includes(null)) return { type: 'vulnerability', informational: null }
  return { type: 'informational', informational: word }
}

export type MatchSeverity = { severity: Severity; severity_source: 'advisory' | 'default' | 'type' }

/**
 * The severity of a match. `rated` is the severity of the group, as `intel` shows it
 * (`listGroupRatings`); a group without one counts as medium.
 */
export function decideSeverity({ type }: Pick<VulnerabilityMatch, 'type'>, rated: Severity | null): MatchSeverity {
  if (type === 'malicious-package') return { severity: 'critical', severity_source: 'type' }
  if (type === 'informational') return { severity: 'info', severity_source: 'type' }
  return rated === null
    ? { severity: 'medium', severity_source: 'default' }
    : { severity: rated, severity_source: 'advisory' }
}
