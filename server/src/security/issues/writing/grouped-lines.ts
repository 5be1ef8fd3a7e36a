import { copyBytes, copyField, copyFields } from '../../../platform/db/copy-rows.ts'
import type { DescribedGroup, IssueRow } from '../grouping/describe-groups.ts'

/**
 * Groups to write, as lines in COPY text format: they can be formatted while PostgreSQL does other
 * work.
 */
export type GroupedLines = {
  /** The changed issues: rows of `grouped_issues`. */
  issues: readonly string[]
  /** The findings of all groups: rows of `grouped`. */
  findings: readonly string[]
}

export const ISSUE_COLUMNS = [
  'id',
  'is_new',
  'bucket',
  'kind',
  'severity',
  'status',
  'listed',
  'vuln_ids',
  'canonical_id',
  'split_from',
] as const satisfies (keyof IssueRow)[]

export const FINDING_COLUMNS = ['position', 'finding_id', 'issue_id', 'grouping_code', 'grouping_detail']

export function formatGroupedLines(described: readonly DescribedGroup[]): GroupedLines {
  return {
    issues: described.filter(({ isWritten }) => isWritten).map(issueLine),
    findings: described.flatMap(findingLines),
  }
}

function issueLine({ issue }: DescribedGroup): string {
  const fields = ISSUE_COLUMNS.map((column) =>
    column === 'bucket' ? copyBytes(issue.bucket) : copyField(issue[column]),
  )
  return fields.join('\t')
}

function findingLines({ group, issue }: DescribedGroup): string[] {
  return group.members.map(({ member, reason }) =>
    copyFields([member.position, member.id, issue.id, reason.code, reason.detail]),
  )
}
