import { createUuidSeries } from '../../../platform/ids.ts'
import { compareCanonical } from '../../intel/aliases.ts'
import type { FindingKind, IssueStatus } from '../../vocabulary/finding.ts'
import { toSeverityRank } from '../../vocabulary/severity.ts'
import { type Group, getVulnerabilityIds } from './group-members.ts'
import { type CanonicalId, selectVulnerabilityNames } from './shared-names.ts'

/** The row of a group's issue. `severity`, `status` and `listed` are used for new issues only. */
export type IssueRow = {
  id: string
  is_new: boolean
  bucket: string
  kind: FindingKind
  severity: number
  status: IssueStatus
  listed: boolean
  vuln_ids: string[]
  canonical_id: string | null
  split_from: string | null
}

/** The fields of stored issues that grouping can change, by id. */
export type StoredIssue = Pick<IssueRow, 'id' | 'bucket' | 'kind' | 'vuln_ids' | 'canonical_id'>
export type StoredIssues = ReadonlyMap<string, StoredIssue>

/** `isWritten`: the issue is written too, not only the reasons of its findings. */
export type DescribedGroup = { group: Group; issue: IssueRow; isWritten: boolean }

/**
 * Describes the groups that must be written, with new ids for new issues. Groups without a change
 * are left out.
 */
export function describeGroups(
  groups: readonly Group[],
  stored: StoredIssues,
  canonicalId: CanonicalId,
  at: Date,
): DescribedGroup[] {
  const newId = createUuidSeries(at)
  const left = issuesLeft(groups)
  return groups.flatMap((group, index) => {
    const known = group.issue_id === null ? undefined : stored.get(group.issue_id)
    const isTouched = hasChangedMembers(group) || left.has(group.issue_id)
    const isAffected = isTouched || hasChangedReasons(group)
    if (!isAffected && known === undefined) return []
    const issue = describeIssue(
      group,
      group.issue_id ?? newId(firstPosition(group) ?? REPORTED_MAX + index),
      canonicalId,
    )
    const isWritten = isTouched || (known !== undefined && digest(issue) !== digest(known))
    return isWritten || isAffected ? [{ group, issue, isWritten }] : []
  })
}

/** Greater than every position in a report. */
const REPORTED_MAX = 2 ** 31

/**
 * The lowest position in the report. Ids of issues that are in the order of their findings are
 * faster to index, and to look up when the findings are written.
 */
function firstPosition({ members }: Group): number | null {
  return members.find(({ member }) => member.position !== null)?.member.position ?? null
}

/** True if a finding is new, was changed by the report, or comes from another issue. */
function hasChangedMembers({ issue_id, members }: Group): boolean {
  return members.some(({ member }) => member.position !== null || member.issue_id !== issue_id)
}

function hasChangedReasons({ members }: Group): boolean {
  return members.some(
    ({ member, reason }) => member.grouping_code !== reason.code || member.grouping_detail !== reason.detail,
  )
}

/** The issues that lost findings to other groups. */
function issuesLeft(groups: readonly Group[]): Set<string | null> {
  return new Set(
    groups.flatMap(({ issue_id, members }) =>
      members.flatMap(({ member }) => (member.issue_id === issue_id ? [] : member.issue_id)),
    ),
  )
}

function digest({ bucket, kind, vuln_ids: ids, canonical_id: name }: StoredIssue): string {
  return JSON.stringify([bucket, kind, ids, name])
}

/**
 * An issue that splits off is not listed yet, because the report may still close its findings. It
 * is listed when it is refreshed with the other issues.
 */
function describeIssue(group: Group, id: string, canonicalId: CanonicalId): IssueRow {
  const members = group.members.map(({ member }) => member)
  const counting = members.filter((member) => member.is_open && member.is_tracked)
  const rated = counting.length > 0 ? counting : members
  const ids = getVulnerabilityIds(group)
  const names = members.flatMap(({ vuln_ids: own }) => selectVulnerabilityNames(own, canonicalId))
  return {
    id,
    is_new: group.issue_id === null,
    bucket: group.bucket,
    kind: KINDS_OF_ISSUES.find((kind) => members.some((member) => member.kind === kind)) as FindingKind,
    severity: Math.max(...rated.map((member) => toSeverityRank(member.severity))),
    status: counting.length > 0 ? 'open' : members.some(({ is_open: isOpen }) => !isOpen) ? 'dismissed' : 'fixed',
    listed: group.split_from === null && members.some((member) => member.is_tracked),
    vuln_ids: ids,
    canonical_id: names.sort(compareCanonical)[0] ?? null,
    split_from: group.split_from,
  }
}

/**
 * An issue with findings of several kinds has the kind that comes first here: the most specific
 * one.
 */
const KINDS_OF_ISSUES: FindingKind[] = ['dependency', 'license', 'secret', 'iac', 'container', 'code', 'other']

/** What changed the groups: a report, changed aliases, or a regroup by the current rules. */
export type Cause = { by: 'report' | 'rules' } | { by: 'aliases'; source: string }

/**
 * `merged`: the issue's findings moved to the other issue. `split`: they came from the other issue.
 */
export type IssueChange = { event: 'merged' | 'split'; issue_id: string; other_issue_id: string; detail: string }

const APART = {
  report: 'Its findings no longer match those of the other issue.',
  rules: 'By the current rules, its findings do not match those of the other issue.',
}

/** The issues that were merged or split, each with a sentence that gives the reason. */
export function collectIssueChanges(
  described: readonly DescribedGroup[],
  dissolved: readonly LeftIssue[],
  stored: StoredIssues,
  cause: Cause,
): IssueChange[] {
  const names = new Map(described.map(({ issue }) => [issue.id, issue.canonical_id]))
  const getName = (id: string) => names.get(id) ?? stored.get(id)?.canonical_id ?? null
  const merged = dissolved.map(({ id, into, reason }): IssueChange => {
    const before = [stored.get(into)?.canonical_id, stored.get(id)?.canonical_id] as const
    return { event: 'merged', issue_id: id, other_issue_id: into, detail: mergeDetail(before, cause) ?? reason }
  })
  const split = described.flatMap(({ group, issue }): IssueChange[] => {
    if (group.split_from === null) return []
    const now = [getName(group.split_from), issue.canonical_id] as const
    return [{ event: 'split', issue_id: issue.id, other_issue_id: group.split_from, detail: splitDetail(now, cause) }]
  })
  return [...merged, ...split]
}

/** An issue that lost findings, and the issue that such findings moved to. */
type LeftIssue = { id: string; into: string; reason: string }

export function collectLeftIssues(described: readonly DescribedGroup[]): LeftIssue[] {
  const left = new Map<string, { into: string; reason: string }>()
  for (const { group, issue } of described) {
    for (const { member, reason } of group.members) {
      if (member.issue_id === null || member.issue_id === issue.id) continue
      left.set(member.issue_id, { into: issue.id, reason: reason.detail ?? APART.report })
    }
  }
  return [...left].map(([id, target]) => ({ id, ...target }))
}

type Names = readonly [string | null | undefined, string | null | undefined]

function mergeDetail(names: Names, cause: Cause): string | null {
  return cause.by === 'aliases' && areTwo(names) ? `${names.join(' and ')} are aliases (${cause.source}).` : null
}

function splitDetail(names: Names, cause: Cause): string {
  if (cause.by !== 'aliases') return APART[cause.by]
  return areTwo(names) ? `${names.join(' and ')} are no longer aliases (${cause.source}).` : APART.report
}

function areTwo([one, other]: Names): boolean {
  return Boolean(one) && Boolean(other) && one !== other
}
