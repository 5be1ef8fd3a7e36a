import { isAboutPackage } from './grouping/bucket.ts'
import type { GroupingFacts } from './grouping/grouping-facts.ts'
import type { KnownRules } from './grouping/known-rules.ts'
import type { Names } from './grouping/link-bucket.ts'
import { describeEdit, type Edit } from './grouping/pins.ts'
import { getEcosystem, selectVulnerabilityNames } from './grouping/shared-names.ts'
import {
  canCompare,
  collectWeaknessKeys,
  isSecret,
  SHARED,
  selectComparableCwes,
  type WeaknessKey,
} from './grouping/weakness-names.ts'

/** In the order of similarity, the most similar first. */
export const REJECTION_CODES = [
  'other_ecosystem',
  'other_place',
  'other_vulnerability',
  'other_rule',
  'other_weakness',
  'split',
] as const

/** Why a finding of the same package, file or resource does not belong to an issue. */
type Rejection = { code: (typeof REJECTION_CODES)[number]; detail: string }

/**
 * How near a rejected finding is to the issue: by lines (0 if they overlap, infinite in another
 * file), then by weakness.
 */
type Nearness = { lines: number; weakness: number }

/** Determines why the rules did not join findings with the members of an issue. */
export class Rejections {
  readonly #names: Names
  readonly #members: readonly GroupingFacts[]
  readonly #vulnerabilities: ReadonlySet<string>
  readonly #ruleIds: ReadonlySet<string>
  readonly #ecosystems: ReadonlySet<string>
  readonly #keys: ReadonlyMap<string, WeaknessKey[]>

  constructor(members: readonly GroupingFacts[], names: Names) {
    this.#names = names
    this.#members = members
    this.#vulnerabilities = new Set(
      members.flatMap((facts) => selectVulnerabilityNames(facts.vuln_ids, names.canonicalId)),
    )
    this.#ruleIds = new Set(members.flatMap(({ rule_id: rule }) => rule ?? []))
    this.#ecosystems = new Set(members.map(ecosystemName))
    this.#keys = Map.groupBy(
      members.flatMap((facts) => getKeys(facts, names.rules)),
      describeKey,
    )
  }

  /** `split`: a person has split the issue of the finding from this one. */
  of(finding: GroupingFacts, split: Edit | null = null): Rejection & Nearness {
    const rejection = this.#byRules(finding)
    return split === null ? rejection : { ...rejection, code: 'split', detail: describeEdit(split, 'Split') }
  }

  #byRules(finding: GroupingFacts): Rejection & Nearness {
    if (isAboutPackage(finding.kind)) {
      const rejection = this.#inPackage(finding)
      return { ...rejection, lines: 0, weakness: REJECTION_CODES.indexOf(rejection.code) }
    }
    const lines = Math.min(...this.#members.map((member) => distance(finding, member)))
    const shared = this.#sharedWith(finding)
    const weakness = shared === null ? SHARED.length : SHARED.indexOf(shared.by)
    return { ...this.#inFile(finding, shared, lines), lines, weakness }
  }

  #inPackage(finding: GroupingFacts): Rejection {
    const names = selectVulnerabilityNames(finding.vuln_ids, this.#names.canonicalId)
    const isNamed = names.length > 0 || this.#vulnerabilities.size > 0
    const own = new Set(isNamed ? names : [finding.rule_id ?? []].flat())
    const theirs = isNamed ? this.#vulnerabilities : this.#ruleIds
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

  #inFile(finding: GroupingFacts, shared: WeaknessKey | null, lines: number): Rejection {
    if (shared === null) {
      const difference = `${this.#describeWeaknesses([finding])} instead of ${this.#describeWeaknesses(this.#members)}`
      return { code: 'other_weakness', detail: `Different weakness: ${difference}.` }
    }
    const rules = this.#names.rules
    const own = this.#members.filter((member) => rules.of(member).scanner === rules.of(finding).scanner)
    if (lines === 0 && finding.resource_name === null && own.length > 0) {
      const theirs = listed(new Set(own.map((member) => rules.of(member).label)))
      const detail = `Different rule of the same scanner: ${rules.of(finding).label} instead of ${theirs}.`
      return { code: 'other_rule', detail }
    }
    return { code: 'other_place', detail: `Different location: ${shared.name} ${describeLocation(finding)}.` }
  }

  /** The most reliable property that a finding shares with a member of the issue. */
  #sharedWith(finding: GroupingFacts): WeaknessKey | null {
    const shared = getKeys(finding, this.#names.rules).filter((key) =>
      this.#keys.get(describeKey(key))?.some((own) => canCompare(own, key)),
    )
    return shared.sort((a, b) => SHARED.indexOf(a.by) - SHARED.indexOf(b.by))[0] ?? null
  }

  #describeWeaknesses(findings: readonly GroupingFacts[]): string {
    return listed(
      new Set(
        findings.flatMap((facts) => {
          const rule = this.#names.rules.of(facts)
          const names = [...rule.groups, ...selectComparableCwes(facts, rule)]
          return names.length > 0 ? names : [rule.label]
        }),
      ),
    )
  }
}

/** Also the rule itself, by which a scanner's own findings are compared. */
function getKeys(facts: GroupingFacts, rules: KnownRules): WeaknessKey[] {
  const rule = rules.of(facts)
  const keys = collectWeaknessKeys(rule, selectComparableCwes(facts, rule))
  if (isSecret(facts, rule)) keys.push({ by: 'group', name: 'a secret', role: 'equal' })
  return [...keys, { by: 'name', name: rule.label, role: 'equal' }]
}

function describeKey({ by, name }: WeaknessKey): string {
  return `${by} ${name}`
}

/** The number of lines from one finding to the other; infinite in another file or without lines. */
function distance(one: GroupingFacts, other: GroupingFacts): number {
  if (one.path !== other.path || one.start_line === null || other.start_line === null) return Number.POSITIVE_INFINITY
  const [oneEnd, otherEnd] = [one.end_line ?? one.start_line, other.end_line ?? other.start_line]
  return Math.max(0, one.start_line - otherEnd, other.start_line - oneEnd)
}

function ecosystemName(facts: GroupingFacts): string {
  return getEcosystem(facts) ?? 'an unknown ecosystem'
}

function describeLocation({ resource_name: resource, start_line: from, end_line: to }: GroupingFacts): string {
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
