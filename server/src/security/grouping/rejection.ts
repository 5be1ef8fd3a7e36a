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

/** Says of a finding that the rules did not join with the others what it lacks. */
export function rejectionOf(
  finding: GroupingFacts,
  others: readonly GroupingFacts[],
  canonicalId: CanonicalId,
): Rejection {
  if (!isAboutPackage(finding.kind)) return fromPlace(finding, others)
  const namesOf = (facts: GroupingFacts) => vulnerabilityNames(facts.vuln_ids, canonicalId)
  const subject = compare(finding, others, namesOf)
  if (subject.own.length > 0 || subject.theirs.length > 0)
    return fromPackage(finding, others, 'other_vulnerability', subject)
  return fromPackage(
    finding,
    others,
    'other_rule',
    compare(finding, others, ({ rule_id: rule }) => rule ?? []),
  )
}

type Comparison = { own: string[]; theirs: string[]; shared: string[] }

function fromPackage(
  finding: GroupingFacts,
  others: readonly GroupingFacts[],
  code: 'other_vulnerability' | 'other_rule',
  { own, theirs, shared }: Comparison,
): Rejection {
  if (shared.length === 0) return { code, detail: `${listed(own)}, not ${listed(theirs)}.` }
  const ecosystems = compare(finding, others, (facts) => ecosystemOf(facts) ?? 'no named ecosystem')
  const detail = `${listed(shared)} too, but of ${listed(ecosystems.own)}, not of ${listed(ecosystems.theirs)}.`
  return { code: 'other_ecosystem', detail }
}

function fromPlace(finding: GroupingFacts, others: readonly GroupingFacts[]): Rejection {
  const { own, theirs, shared } = compare(finding, others, weaknessesOf)
  if (shared.length === 0) return { code: 'other_weakness', detail: `${listed(own)}, not ${listed(theirs)}.` }
  return { code: 'other_place', detail: `${listed(shared)} too, but other code ${linesOf(finding)}.` }
}

function linesOf({ start_line: from, end_line: to }: GroupingFacts): string {
  if (from === null) return 'without lines'
  return to === null || to === from ? `at line ${from}` : `at lines ${from} to ${to}`
}

function compare(
  finding: GroupingFacts,
  others: readonly GroupingFacts[],
  namesOf: (facts: GroupingFacts) => string | string[],
): Comparison {
  const own = [...new Set([namesOf(finding)].flat())]
  const theirs = [...new Set(others.flatMap(namesOf))]
  return { own, theirs, shared: own.filter((name) => theirs.includes(name)) }
}

const NAMES_LISTED_MAX = 3

function listed(names: string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length - NAMES_LISTED_MAX
  return names.slice(0, NAMES_LISTED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
