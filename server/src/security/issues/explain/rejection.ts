import { isAboutPackage } from '../grouping/bucket.ts'
import type { GroupingFacts } from '../grouping/grouping-facts.ts'
import { type CanonicalId, ecosystemOf, vulnerabilityNames, weaknessesOf } from '../grouping/shared-names.ts'

/** In the order of similarity, the most similar first. */
export const REJECTION_CODES = [
  'other_ecosystem',
  'other_place',
  'other_vulnerability',
  'other_rule',
  'other_weakness',
] as const

/** Why a finding of the same package, file or resource does not belong to an issue. */
type Rejection = { code: (typeof REJECTION_CODES)[number]; detail: string }

/** Determines why the rules did not join findings with the members of an issue. */
export class Rejections {
  readonly #canonicalId: CanonicalId
  readonly #vulnerabilities: ReadonlySet<string>
  readonly #rules: ReadonlySet<string>
  readonly #ecosystems: ReadonlySet<string>
  readonly #weaknesses: ReadonlySet<string>

  constructor(members: readonly GroupingFacts[], canonicalId: CanonicalId) {
    this.#canonicalId = canonicalId
    this.#vulnerabilities = new Set(members.flatMap((facts) => vulnerabilityNames(facts.vuln_ids, canonicalId)))
    this.#rules = new Set(members.flatMap(({ rule_id: rule }) => rule ?? []))
    this.#ecosystems = new Set(members.map(ecosystemName))
    this.#weaknesses = new Set(members.flatMap(weaknessesOf))
  }

  of(finding: GroupingFacts): Rejection {
    return isAboutPackage(finding.kind) ? this.#inPackage(finding) : this.#inFile(finding)
  }

  #inPackage(finding: GroupingFacts): Rejection {
    const names = vulnerabilityNames(finding.vuln_ids, this.#canonicalId)
    const isNamed = names.length > 0 || this.#vulnerabilities.size > 0
    const own = new Set(isNamed ? names : [finding.rule_id ?? []].flat())
    const theirs = isNamed ? this.#vulnerabilities : this.#rules
    const shared = own.intersection(theirs)
    if (shared.size > 0) {
      const ecosystems = `${ecosystemName(finding)} instead of ${listed(this.#ecosystems)}`
      return { code: 'other_ecosystem', detail: `Different ecosystem: ${listed(shared)} in ${ecosystems}.` }
    }
    const difference = `${listed(own)} instead of ${listed(theirs)}`
    return isNamed
      ? { code: 'other_vulnerability', detail: `Different vulnerability: ${difference}.` }
      : { code: 'other_rule', detail: `Different rule: ${difference}.` }
  }

  #inFile(finding: GroupingFacts): Rejection {
    const own = new Set(weaknessesOf(finding))
    const shared = own.intersection(this.#weaknesses)
    if (shared.size > 0) {
      return { code: 'other_place', detail: `Different location: ${listed(shared)} ${locationOf(finding)}.` }
    }
    const difference = `${listed(own)} instead of ${listed(this.#weaknesses)}`
    return { code: 'other_weakness', detail: `Different weakness: ${difference}.` }
  }
}

function ecosystemName(facts: GroupingFacts): string {
  return ecosystemOf(facts) ?? 'an unknown ecosystem'
}

function locationOf({ resource_name: resource, start_line: from, end_line: to }: GroupingFacts): string {
  if (resource !== null) return `in the resource ${resource}`
  if (from === null) return 'without line numbers'
  return to === null || to === from ? `at line ${from}` : `at lines ${from} to ${to}`
}

const NAMES_LISTED_MAX = 3

function listed(names: ReadonlySet<string>): string {
  if (names.size === 0) return 'none'
  const more = names.size - NAMES_LISTED_MAX
  return [...names].slice(0, NAMES_LISTED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
