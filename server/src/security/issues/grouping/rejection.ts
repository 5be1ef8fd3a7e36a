import { isAboutPackage } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { ecosystemOf } from './package-name.ts'
import { weaknessesOf } from './rule-family.ts'
import { type CanonicalId, vulnerabilityNames } from './vulnerability-names.ts'

/** The nearest miss first. */
export const REJECTION_CODES = [
  'other_ecosystem',
  'other_place',
  'other_vulnerability',
  'other_rule',
  'other_weakness',
] as const

/** Why a finding is not of an issue although it is about the same package, file or resource. */
export type Rejection = { code: (typeof REJECTION_CODES)[number]; detail: string }

/** Says of findings that the rules did not join with these what they lack. */
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
    return isAboutPackage(finding.kind) ? this.#ofPackage(finding) : this.#ofPlace(finding)
  }

  #ofPackage(finding: GroupingFacts): Rejection {
    const names = vulnerabilityNames(finding.vuln_ids, this.#canonicalId)
    const isNamed = names.length > 0 || this.#vulnerabilities.size > 0
    const own = new Set(isNamed ? names : [finding.rule_id ?? []].flat())
    const theirs = isNamed ? this.#vulnerabilities : this.#rules
    const shared = own.intersection(theirs)
    if (shared.size > 0) {
      const detail = `${listed(shared)} too, but of ${ecosystemName(finding)}, not of ${listed(this.#ecosystems)}.`
      return { code: 'other_ecosystem', detail }
    }
    return { code: isNamed ? 'other_vulnerability' : 'other_rule', detail: `${listed(own)}, not ${listed(theirs)}.` }
  }

  #ofPlace(finding: GroupingFacts): Rejection {
    const own = new Set(weaknessesOf(finding))
    const shared = own.intersection(this.#weaknesses)
    if (shared.size > 0) {
      return { code: 'other_place', detail: `${listed(shared)} too, but other code ${placeOf(finding)}.` }
    }
    return { code: 'other_weakness', detail: `${listed(own)}, not ${listed(this.#weaknesses)}.` }
  }
}

function ecosystemName(facts: GroupingFacts): string {
  return ecosystemOf(facts) ?? 'no named ecosystem'
}

function placeOf({ resource_name: resource, start_line: from, end_line: to }: GroupingFacts): string {
  if (resource !== null) return `of the resource ${resource}`
  if (from === null) return 'without lines'
  return to === null || to === from ? `at line ${from}` : `at lines ${from} to ${to}`
}

const NAMES_LISTED_MAX = 3

function listed(names: ReadonlySet<string>): string {
  if (names.size === 0) return 'none'
  const more = names.size - NAMES_LISTED_MAX
  return [...names].slice(0, NAMES_LISTED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
