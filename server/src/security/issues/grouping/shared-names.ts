// Scanners name the same vulnerability, package or rule differently. These are the forms in which
// names are compared.
import { parsePackageUrl } from '../../vocabulary/package-url.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import type { GroupingFacts } from './grouping-facts.ts'

/** The id that represents an id's group of aliases. */
export type CanonicalId = (id: string) => string

/**
 * Advisories of distributions and vendors. One may cover many vulnerabilities, so it identifies
 * none of them.
 */
const ADVISORY = /^(?:RHSA|RHBA|ELSA|ALSA|RLSA|USN|DSA|DLA|ALAS\d?)-/

/**
 * The canonical ids by which a finding is compared with others. A finding with several CVE ids is
 * about an advisory that covers them. It counts for the first one only, because it would otherwise
 * join different vulnerabilities into one issue.
 */
export function vulnerabilityNames(ids: readonly string[], canonicalId: CanonicalId): string[] {
  const names = [...new Set(ids.map((id) => canonicalId(plainId(id))))].sort()
  const cves = names.filter((name) => name.startsWith('CVE-'))
  if (cves.length > 1) return cves.slice(0, 1)
  const own = names.filter((name) => !ADVISORY.test(name))
  return own.length > 0 ? own : names
}

type Package = Pick<GroupingFacts, 'purl' | 'package_name'>

/**
 * A package's name without version and qualifiers, in the form that its spellings share: `Foo_Bar`
 * on PyPI becomes `foo-bar`, and Maven's `group:artifact` becomes `group/artifact`. The ecosystem
 * is not part of it, because a scanner that writes no package URL does not name one.
 */
export function sharedPackageName({ purl, package_name: name }: Package): string | null {
  const shared = (purl === null ? null : parsePackageUrl(purl)?.name) ?? name
  return shared === null ? null : shared.toLowerCase().replaceAll(/[_.]/g, '-').replaceAll(':', '/')
}

/** The ecosystem of a package: the type in its package URL, or null without one. */
export function ecosystemOf({ purl }: Pick<Package, 'purl'>): string | null {
  return /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\//i.exec(purl ?? '')?.[1]?.toLowerCase() ?? null
}

/**
 * Rules that other scanners adopted from Bandit with their number: ruff's S102 is Bandit's B102.
 */
const BANDIT_RULE = /^[sb](\d{3})$/

/** Older versions of Trivy prefix ids with the name of their database: `AVD-AWS-0088`. */
const DATABASE = /^avd-(?=[a-z]+-\d)/

/**
 * What the ids of equivalent rules have in common: the last part. Scanners put languages, plugins
 * and vendors before it, as in `python.lang.security.exec-detected`, `security/detect-eval` and
 * `js/xss`.
 */
function ruleFamily(ruleId: string): string {
  const last =
    ruleId
      .toLowerCase()
      .split(/[./:]/)
      .findLast((part) => /[a-z]/.test(part)) ?? ruleId.toLowerCase()
  const number = BANDIT_RULE.exec(last)?.[1]
  return number === undefined ? last.replace(DATABASE, '') : `bandit ${number}`
}

/**
 * The weaknesses of a finding: its CWEs and the family of its rule. Findings that share one are
 * comparable.
 */
export function weaknessesOf({ cwes, rule_id, secret_type }: GroupingFacts): string[] {
  const rule = secret_type ?? rule_id
  return rule === null ? [...cwes] : [...cwes, `rule ${ruleFamily(rule)}`]
}
