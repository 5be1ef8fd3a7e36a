import { type AliasAssertion, type AliasStep, aliasPath } from '../../intel/aliases/alias-path.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import { ALONE_DETAIL, type GroupingFacts } from '../grouping/grouping-facts.ts'
import { applyRules } from '../grouping/link-bucket.ts'
import { RecordedLinks, type RecordedMatch } from '../grouping/recorded-links.ts'
import { REJECTION_CODES, Rejections } from '../grouping/rejection.ts'
import type { CanonicalId } from '../grouping/vulnerability-names.ts'
import type { Evidence } from './issue-evidence.store.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'

const MEMBERS_MAX = 100
const REJECTED_MAX = 20
const MATCHING_MAX = 20

export type Aliases = { canonicalId: CanonicalId; assertions: readonly AliasAssertion[] }

/** What the rules say of an issue's own findings, and of their neighbours in the same bucket. */
export function explainGroup(
  own: readonly Evidence[],
  neighbours: readonly Evidence[],
  aliases: Aliases,
): Pick<IssueExplanation, 'is_current' | 'members' | 'rejected'> {
  const findings = [...own, ...neighbours]
  const links = new RecordedLinks(findings)
  applyRules(links, aliases.canonicalId)
  const idOf = (number: number) => (findings[number] as Evidence).id
  return {
    is_current: isOneGroup(links.groups(), own.length),
    members: own.slice(0, MEMBERS_MAX).map((finding, at) => ({
      ...reported(finding),
      reason: {
        code: finding.grouping_code,
        detail: finding.grouping_detail ?? ALONE_DETAIL,
        at: finding.grouped_at,
      },
      matches: links.matchesOf(at).map((match) => explainMatch(match, finding, idOf, aliases)),
    })),
    rejected: rejected(own, neighbours, aliases.canonicalId),
  }
}

/** The nearest misses. */
function rejected(own: readonly Evidence[], neighbours: readonly Evidence[], canonicalId: CanonicalId) {
  const rejections = new Rejections(own, canonicalId)
  return neighbours
    .map((finding) => ({ finding, rejection: rejections.of(finding) }))
    .sort((a, b) => REJECTION_CODES.indexOf(a.rejection.code) - REJECTION_CODES.indexOf(b.rejection.code))
    .slice(0, REJECTED_MAX)
    .map(({ finding, rejection }) => ({ ...reported(finding), issue_id: finding.issue_id, ...rejection }))
}

/** The issue's findings, which have the first numbers, are one group, and nothing else is of it. */
function isOneGroup(groups: readonly number[][], ownCount: number): boolean {
  return ownCount === 0 || groups.some((group) => group.length === ownCount && group.every((at) => at < ownCount))
}

function explainMatch(
  { code, on, value, detail, numbers }: RecordedMatch,
  { id, vuln_ids }: Evidence,
  idOf: (number: number) => string,
  aliases: Aliases,
) {
  const others = numbers.map(idOf).filter((other) => other !== id)
  const path = on === 'vulnerability' && value !== null ? pathTo(value, vuln_ids, aliases) : []
  return { code, detail, on, value, alias_path: path, with: others.slice(0, MATCHING_MAX), with_count: others.length }
}

/** The shortest way from any of the ids that a finding names. */
function pathTo(name: string, ids: readonly string[], { canonicalId, assertions }: Aliases): AliasStep[] {
  const paths = ids
    .filter((id) => canonicalId(plainId(id)) === name)
    .flatMap((id) => {
      const path = aliasPath(assertions, id, name)
      return path === null ? [] : [path]
    })
  return paths.sort((a, b) => a.length - b.length)[0] ?? []
}

function reported(finding: Evidence) {
  const { id, scanner, source, category, git_ref } = finding
  return { finding_id: id, scanner, source, category, git_ref, facts: factsOf(finding) }
}

/** Without hashes: of a secret not even those leave. */
function factsOf(finding: GroupingFacts) {
  const { kind, path, start_line, end_line, package_name, purl, vuln_ids, cwes, rule_id, secret_type, resource_name } =
    finding
  return {
    ...{ kind, path, start_line, end_line, package_name, purl, rule_id, secret_type, resource_name },
    ...{ vuln_ids: [...vuln_ids], cwes: [...cwes] },
  }
}
