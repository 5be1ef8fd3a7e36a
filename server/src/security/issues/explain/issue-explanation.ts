import { type AliasAssertion, type AliasStep, aliasPath } from '../../intel/aliases/alias-path.ts'
import { SINGLE_DETAIL } from '../../vocabulary/finding.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import type { GroupingFacts } from '../grouping/grouping-facts.ts'
import { applyRules } from '../grouping/link-bucket.ts'
import { RecordedLinks, type RecordedMatch } from '../grouping/links.ts'
import type { CanonicalId } from '../grouping/shared-names.ts'
import type { Evidence } from './issue-evidence.store.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'
import { REJECTION_CODES, Rejections } from './rejection.ts'

const MEMBERS_MAX = 100
const REJECTED_MAX = 20
const MATCHING_MAX = 20

type Aliases = { canonicalId: CanonicalId; assertions: readonly AliasAssertion[] }

/**
 * Applies the rules to the findings of an issue (`own`) and to the others in its bucket, and
 * explains the result.
 */
export function explainGroup(
  own: readonly Evidence[],
  others: readonly Evidence[],
  aliases: Aliases,
): Pick<IssueExplanation, 'is_current' | 'members' | 'rejected'> {
  const findings = [...own, ...others]
  const links = new RecordedLinks(findings)
  applyRules(links, aliases.canonicalId)
  const ids = findings.map(({ id }) => id)
  return {
    is_current: isOneGroup(links.groups(), own.length),
    members: own.slice(0, MEMBERS_MAX).map((finding, index) => ({
      ...evidenceFields(finding),
      identity: finding.identity,
      reason: {
        code: finding.grouping_code,
        detail: finding.grouping_detail ?? SINGLE_DETAIL,
        at: finding.grouped_at,
      },
      matches: links.matchesOf(index).map((match) => explainMatch(match, finding, ids, aliases)),
    })),
    rejected: rejected(own, others, aliases.canonicalId),
  }
}

/** The most similar findings that do not belong to the issue. */
function rejected(own: readonly Evidence[], others: readonly Evidence[], canonicalId: CanonicalId) {
  const rejections = new Rejections(own, canonicalId)
  return others
    .map((finding) => ({ finding, rejection: rejections.of(finding) }))
    .sort((a, b) => REJECTION_CODES.indexOf(a.rejection.code) - REJECTION_CODES.indexOf(b.rejection.code))
    .slice(0, REJECTED_MAX)
    .map(({ finding, rejection }) => ({ ...evidenceFields(finding), issue_id: finding.issue_id, ...rejection }))
}

/** True if the issue's findings, which come first, are exactly one group. */
function isOneGroup(groups: readonly number[][], ownCount: number): boolean {
  return ownCount === 0 || groups.some((group) => group.length === ownCount && group.every((index) => index < ownCount))
}

function explainMatch(
  { code, on, value, detail, indexes }: RecordedMatch,
  { id, vuln_ids }: Evidence,
  ids: readonly string[],
  aliases: Aliases,
) {
  const others = indexes.map((index) => ids[index] as string).filter((other) => other !== id)
  const path = on === 'vulnerability' && value !== null ? shortestPath(value, vuln_ids, aliases) : []
  return { code, detail, on, value, alias_path: path, with: others.slice(0, MATCHING_MAX), with_count: others.length }
}

/** The shortest path of aliases from any of the ids that a finding names. */
function shortestPath(name: string, ids: readonly string[], { canonicalId, assertions }: Aliases): AliasStep[] {
  const paths = ids
    .filter((id) => canonicalId(plainId(id)) === name)
    .flatMap((id) => {
      const path = aliasPath(assertions, id, name)
      return path === null ? [] : [path]
    })
  return paths.sort((a, b) => a.length - b.length)[0] ?? []
}

function evidenceFields(finding: Evidence) {
  const { id, scanner, source, category, git_ref } = finding
  return { finding_id: id, scanner, source, category, git_ref, facts: shownFacts(finding) }
}

/** Hashes are left out, because they may be hashes of secrets. */
function shownFacts(finding: GroupingFacts) {
  const { kind, path, start_line, end_line, package_name, purl, vuln_ids, cwes, rule_id, secret_type, resource_name } =
    finding
  return {
    ...{ kind, path, start_line, end_line, package_name, purl, rule_id, secret_type, resource_name },
    ...{ vuln_ids: [...vuln_ids], cwes: [...cwes] },
  }
}
