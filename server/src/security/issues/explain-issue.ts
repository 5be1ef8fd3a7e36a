import type { Services } from '../../services.ts'
import { type AliasAssertion, type AliasStep, findAliasPath } from '../intel/aliases.ts'
import { SINGLE_DETAIL } from '../vocabulary/finding.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { findEdits } from '../writing/edit.store.ts'
import { listCanonicalIds } from '../writing/grouping.store.ts'
import { computeBucket } from './grouping/bucket.ts'
import { linkPinned } from './grouping/group-members.ts'
import type { GroupingFacts } from './grouping/grouping-facts.ts'
import { KnownRules } from './grouping/known-rules.ts'
import { applyRules, type Names } from './grouping/link-bucket.ts'
import { RecordedLinks, type RecordedMatch } from './grouping/links.ts'
import { type Cluster, type Edits, splitBetween } from './grouping/pins.ts'
import {
  type Evidence,
  findIssue,
  listGroupAssertions,
  listHistory,
  listOtherFindings,
  listOwnFindings,
} from './issue-evidence.store.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'
import { Rejections } from './rejection.ts'

/**
 * Explains how an issue was grouped by applying the rules again. Returns null if the organization
 * has no such issue, or if it was fixed before `since`.
 */
export async function explainIssue(
  { sql, ruleMap }: Services,
  orgId: string,
  id: string,
  since: Date,
): Promise<IssueExplanation | null> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const issue = await findIssue(tx, orgId, id, since)
    if (issue === null) return null
    const own = await listOwnFindings(tx, orgId, issue)
    const isMerged = issue.merged_into !== null
    const others = isMerged ? { rows: [], count: 0 } : await listOtherFindings(tx, orgId, issue, own.rows)
    const findings = [...own.rows, ...others.rows]
    const ids = new Set(findings.flatMap(({ vuln_ids }) => vuln_ids.map(removeDistribution)))
    const canonicalIds = await listCanonicalIds(tx, [...ids])
    const assertions = await listGroupAssertions(tx, [...new Set(canonicalIds.values())])
    const canonicalId = (vulnId: string) => canonicalIds.get(vulnId) ?? vulnId
    const findingIds = findings.map((finding) => finding.id)
    const edits = issue.has_edits ? await findEdits(tx, orgId, findingIds) : null
    const known = { canonicalId, assertions, rules: new KnownRules(ruleMap), edits }
    const group = explainGroup(own.rows, others.rows, known)
    const { status, split_from, merged_into } = issue
    const history = await listHistory(tx, orgId, id)
    const counts = { member_count: own.count, rejected_count: others.count }
    return { issue_id: id, status, split_from, merged_into, ...group, ...counts, history }
  })
}

const MEMBERS_MAX = 100
const REJECTED_MAX = 20
const MATCHING_MAX = 20

type Known = Names & { assertions: readonly AliasAssertion[]; edits: Edits | null }

/**
 * Applies the rules to the findings of an issue (`own`) and to the others in its bucket, and
 * explains the result.
 */
function explainGroup(
  own: readonly Evidence[],
  others: readonly Evidence[],
  known: Known,
): Pick<IssueExplanation, 'is_current' | 'members' | 'rejected'> {
  const findings = [...own, ...others]
  const { groups, getMatches, clusters } = (known.edits === null ? linkByRules : linkEdited)(findings, known)
  const ids = findings.map(({ id }) => id)
  return {
    is_current: isOneGroup(groups, own.length),
    members: own.slice(0, MEMBERS_MAX).map((finding, index) => ({
      ...evidenceFields(finding),
      identity: finding.identity,
      reason: {
        code: finding.grouping_code,
        detail: finding.grouping_detail ?? SINGLE_DETAIL,
        at: finding.grouped_at,
      },
      matches: getMatches(index).map((match) => explainMatch(match, finding, ids, known)),
    })),
    rejected: rejected(own, others, { ...known, clusters }),
  }
}

/** The groups of findings by the rules, the matches of each, and their clusters by their ids. */
type Explained = {
  groups: number[][]
  getMatches: (index: number) => RecordedMatch[]
  clusters: ReadonlyMap<string, Cluster>
}

function linkByRules(findings: readonly Evidence[], { rules, canonicalId }: Known): Explained {
  const links = new RecordedLinks(findings, rules)
  applyRules(links, canonicalId)
  return { groups: links.groups(), getMatches: (index) => links.getMatches(index), clusters: new Map() }
}

/** As `linkByRules`, for a repository where people have split or merged issues. */
function linkEdited(findings: readonly Evidence[], { rules, canonicalId, edits }: Known): Explained {
  const members = findings.map((finding) => ({ ...finding, bucket: computeBucket(finding, rules) }))
  const constraints = { names: { rules, canonicalId }, edits: edits ?? { edits: [], pins: [] } }
  const { groups, clusters, linked } = linkPinned(members, constraints, (inBucket, allow) => {
    return new RecordedLinks(inBucket, rules, allow)
  })
  const matches = new Map(
    linked.flatMap(({ indexes, links }) =>
      indexes.map((index, at) => [index, links.getMatches(at).map((match) => among(match, indexes))] as const),
    ),
  )
  return { groups, clusters, getMatches: (index) => matches.get(index) ?? [] }
}

/** A match of findings of one bucket, with their indexes among all findings. */
function among(match: RecordedMatch, indexes: readonly number[]): RecordedMatch {
  return { ...match, indexes: match.indexes.map((at) => indexes[at] as number) }
}

type Comparable = Names & { clusters: ReadonlyMap<string, Cluster> }

/** The nearest findings that do not belong to the issue: by lines, then by weakness. */
function rejected(own: readonly Evidence[], others: readonly Evidence[], names: Comparable) {
  const clustersIn = (findings: readonly Evidence[]) =>
    new Set(findings.flatMap(({ id }) => names.clusters.get(id) ?? []))
  const issues = Map.groupBy(others, ({ issue_id }) => issue_id)
  const splits = new Map([...issues].map(([issue, of]) => [issue, splitBetween(clustersIn(own), clustersIn(of))]))
  const rejections = new Rejections(own, names)
  return others
    .map((finding) => ({ finding, ...rejections.of(finding, splits.get(finding.issue_id) ?? null) }))
    .sort((a, b) => (a.lines === b.lines ? a.weakness - b.weakness : a.lines - b.lines))
    .slice(0, REJECTED_MAX)
    .map(({ finding, code, detail }) => ({ ...evidenceFields(finding), issue_id: finding.issue_id, code, detail }))
}

/** True if the issue's findings, which come first, are exactly one group. */
function isOneGroup(groups: readonly number[][], ownCount: number): boolean {
  return ownCount === 0 || groups.some((group) => group.length === ownCount && group.every((index) => index < ownCount))
}

function explainMatch(
  { code, on, value, detail, indexes }: RecordedMatch,
  { id, vuln_ids }: Evidence,
  ids: readonly string[],
  known: Known,
) {
  const others = indexes.map((index) => ids[index] as string).filter((other) => other !== id)
  const path = on === 'vulnerability' && value !== null ? shortestPath(value, vuln_ids, known) : []
  return { code, detail, on, value, alias_path: path, with: others.slice(0, MATCHING_MAX), with_count: others.length }
}

/** The shortest path of aliases from any of the ids that a finding names. */
function shortestPath(name: string, ids: readonly string[], { canonicalId, assertions }: Known): AliasStep[] {
  const paths = ids
    .filter((id) => canonicalId(removeDistribution(id)) === name)
    .flatMap((id) => {
      const path = findAliasPath(assertions, id, name)
      return path === null ? [] : [path]
    })
  return paths.sort((a, b) => a.length - b.length)[0] ?? []
}

function evidenceFields(finding: Evidence) {
  const { id, state, scanner, source, category, git_ref } = finding
  return { finding_id: id, state, scanner, source, category, git_ref, facts: shownFacts(finding) }
}

/** Hashes are left out, because they may be hashes of secrets. */
function shownFacts(finding: GroupingFacts) {
  const { kind, path, start_line, end_line, package_name, purl, vuln_ids, cwes, rule_id, secret_type, resource_name } =
    finding
  return {
    kind,
    path,
    start_line,
    end_line,
    package_name,
    purl,
    rule_id,
    secret_type,
    resource_name,
    vuln_ids: [...vuln_ids],
    cwes: [...cwes],
  }
}
