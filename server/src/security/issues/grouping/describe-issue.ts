import { compareCanonical } from '../../intel/aliases/alias-groups.ts'
import { FINDING_KINDS } from '../../vocabulary/finding-kind.ts'
import { severityRank } from '../../vocabulary/severity.ts'
import { type Group, vulnerabilityIdsOf } from './group-members.ts'
import type { Member } from './member.ts'
import { type CanonicalId, vulnerabilityNames } from './vulnerability-names.ts'

/** What grouping decides of an issue. Severity, status and listing count for new ones only. */
export type IssueRow = {
  id: string
  is_new: boolean
  bucket: string
  kind: string
  severity: number
  status: string
  listed: boolean
  vuln_ids: string[]
  canonical_id: string | null
  split_from: string | null
}

/**
 * The row of a group's issue. It counts as it stands for a new one only: of others, what is stored is looked at again. One that is
 * split off has findings that the report may yet close: it is listed when it is looked at with the others.
 */
export function describeIssue(group: Group, id: string, canonicalId: CanonicalId): IssueRow {
  const members = group.members.map(({ member }) => member)
  const counting = members.filter((member) => member.is_open && member.is_tracked)
  const ids = vulnerabilityIdsOf(group)
  return {
    id,
    is_new: group.issue_id === null,
    bucket: group.bucket,
    kind: first(FINDING_KINDS, (kind) => members.some((member) => member.kind === kind)),
    severity: worstRank(counting.length > 0 ? counting : members),
    status: counting.length > 0 ? 'open' : members.some(({ is_open: isOpen }) => !isOpen) ? 'dismissed' : 'fixed',
    listed: group.split_from === null && members.some((member) => member.is_tracked),
    vuln_ids: ids,
    canonical_id: vulnerabilityNames(ids, canonicalId).sort(compareCanonical)[0] ?? null,
    split_from: group.split_from,
  }
}

function worstRank(members: readonly Member[]): number {
  return Math.max(...members.map(({ severity }) => severityRank(severity)))
}

function first<Value>(values: readonly Value[], holds: (value: Value) => boolean): Value {
  return values.find(holds) as Value
}
