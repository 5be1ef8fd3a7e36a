import type { GroupingFacts } from './grouping-facts.ts'
import { apartBy, groupBy, type Links } from './links.ts'
import { ecosystemOf } from './package-name.ts'
import { type CanonicalId, vulnerabilityNames } from './vulnerability-names.ts'

/** Findings in one package are one issue where they name one vulnerability, through its aliases. */
export function linkByVulnerability(links: Links, canonicalId: CanonicalId): void {
  const named = [...links.members.keys()].flatMap((at) =>
    vulnerabilityNames(links.factsOf(at).vuln_ids, canonicalId).map((name) => ({ at, name })),
  )
  for (const [name, findings] of groupBy(named, (finding) => finding.name)) {
    const numbers = findings.map(({ at }) => at)
    for (const same of ofOneEcosystem(links, numbers)) {
      links.join(same, 'same_vulnerability', { on: 'vulnerability', value: name }, (facts) =>
        vulnerabilityDetail(facts, name),
      )
    }
  }
}

/** Where no vulnerability is named, the rule stands for it: a license, a vendor's own number. */
export function linkByRule(links: Links): void {
  const unnamed = [...links.members.keys()].filter((at) => links.factsOf(at).vuln_ids.length === 0)
  for (const [rule, numbers] of groupBy(unnamed, (at) => links.factsOf(at).rule_id)) {
    if (rule === null) continue
    for (const same of ofOneEcosystem(links, numbers)) {
      links.join(same, 'same_fingerprint', { on: 'rule', value: rule }, (facts) => `${rule} ${subject(facts)}.`)
    }
  }
}

/** Two ecosystems may have a package of one name. */
function ofOneEcosystem(links: Links, numbers: number[]): number[][] {
  return apartBy(numbers, (at) => ecosystemOf(links.factsOf(at)))
}

function vulnerabilityDetail(facts: GroupingFacts, canonicalId: string): string {
  const reported = facts.vuln_ids.includes(canonicalId) ? '' : `, reported as ${facts.vuln_ids[0]}`
  return `${canonicalId} ${subject(facts)}${reported}.`
}

function subject({ package_name: name, path }: GroupingFacts): string {
  return name === null ? `in ${path ?? 'the repository'}` : `in the package ${name}`
}
