import { copyBytes, copyField, copyFields } from '../../../platform/db/copy-rows.ts'
import type { DescribedGroup } from '../grouping/describe-groups.ts'
import { type GroupedLines, ISSUE_COLUMNS } from './grouping.store.ts'

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
