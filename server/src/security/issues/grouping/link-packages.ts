import type { GroupingFacts } from './grouping-facts.ts'
import { groupBy, type Links, splitByName } from './links.ts'
import { type CanonicalId, getEcosystem, selectVulnerabilityNames } from './shared-names.ts'

/** Joins findings of one package that name the same vulnerability, also by aliases. */
export function linkByVulnerability(links: Links, canonicalId: CanonicalId): void {
  const named = [...links.members.keys()].flatMap((index) =>
    selectVulnerabilityNames(links.getFacts(index).vuln_ids, canonicalId).map((name) => ({ index, name })),
  )
  for (const [name, findings] of groupBy(named, (finding) => finding.name)) {
    const indexes = findings.map(({ index }) => index)
    for (const same of byEcosystem(links, indexes)) {
      const getDetail = (facts: GroupingFacts) => vulnerabilityDetail(facts, name)
      links.join(same, { code: 'same_vulnerability', on: 'vulnerability', value: name, getDetail })
    }
  }
}

/**
 * Joins findings of one package that name no vulnerability by their rule, such as a license or a
 * vendor's number.
 */
export function linkByRule(links: Links): void {
  const unnamed = [...links.members.keys()].filter((index) => links.getFacts(index).vuln_ids.length === 0)
  for (const [rule, indexes] of groupBy(unnamed, (index) => links.getFacts(index).rule_id)) {
    if (rule === null) continue
    for (const same of byEcosystem(links, indexes)) {
      const getDetail = (facts: GroupingFacts) => `${rule} ${subject(facts)}.`
      links.join(same, { code: 'same_fingerprint', on: 'rule', value: rule, getDetail })
    }
  }
}

/** Packages of different ecosystems may have the same name. */
function byEcosystem(links: Links, indexes: number[]): number[][] {
  return splitByName(indexes, (index) => getEcosystem(links.getFacts(index)))
}

function vulnerabilityDetail(facts: GroupingFacts, canonicalId: string): string {
  const reported = facts.vuln_ids.includes(canonicalId) ? '' : `, reported as ${facts.vuln_ids[0]}`
  return `${canonicalId} ${subject(facts)}${reported}.`
}

function subject({ package_name: name, path }: GroupingFacts): string {
  return name === null ? `in ${path ?? 'the repository'}` : `in the package ${name}`
}
