import type { Tx } from '../../platform/db/sql.ts'
import { bucketBatches } from '../issues/grouping/bucket-batches.ts'
import { groupMembers } from '../issues/grouping/group-members.ts'
import type { Member } from '../issues/grouping/member.ts'
import type { PlacedGroup } from '../issues/grouping/place-groups.ts'
import type { MergeScope } from '../issues/writing/grouping.store.ts'
import {
  type ChangedFinding,
  hasIssues,
  readChanged,
  readMembers,
  readNewPositions,
} from '../issues/writing/grouping.store.ts'
import type { NewIssues } from '../issues/writing/issue-refresh.store.ts'
import { readCanonicalNames } from '../issues/writing/read-canonical-names.ts'
import { writeGroups } from '../issues/writing/write-groups.ts'
import type { ReportFacts } from './report-facts.ts'

/** Issues that gained or lost findings or were split off, and how many were opened by new findings alone. */
export type GroupedReport = { touched: string[]; opened: NewIssues }

/**
 * Gives every finding of the report that is new or has changed its issue, before they are written: the issues are stored, and
 * which finding belongs to which stands in the temporary table `grouped`. The repository is locked.
 */
export async function groupReport(tx: Tx, scope: MergeScope, facts: ReportFacts): Promise<GroupedReport> {
  const positions = await readNewPositions(tx)
  const changed = await readChanged(tx, scope.org_id)
  const members = [
    ...positions.map((position) => facts.at(position)),
    ...changed.map((finding) => facts.at(finding.position, finding)),
  ]
  const all = [...members, ...(await readNeighbours(tx, scope, members, changed))]
  const canonicalId = await readCanonicalNames(tx, all)
  const report: GroupedReport = { touched: [], opened: { open: 0, critical: 0, high: 0 } }
  for (const batch of bucketBatches(all)) {
    const groups = groupMembers(batch, canonicalId)
    const written = await writeGroups(tx, scope, { groups, stored: new Map(), canonicalId, cause: { by: 'report' } })
    report.touched.push(...written.touched, ...splitOff(written.placed))
    countOpened(report.opened, written.placed)
  }
  return report
}

function splitOff(placed: readonly PlacedGroup[]): string[] {
  return placed.flatMap(({ issue }) => (issue.is_new && issue.split_from !== null ? issue.id : []))
}

function countOpened(opened: NewIssues, placed: readonly PlacedGroup[]): void {
  for (const { issue } of placed) {
    if (!issue.is_new || !issue.listed || issue.status !== 'open') continue
    opened.open += 1
    if (issue.severity === 4) opened.critical += 1
    if (issue.severity === 3) opened.high += 1
  }
}

/** What is stored where these findings are, and where the changed ones were. */
async function readNeighbours(
  tx: Tx,
  { org_id, repository_no }: MergeScope,
  members: readonly Member[],
  changed: readonly ChangedFinding[],
): Promise<Member[]> {
  if (members.length === 0 || !(await hasIssues(tx, org_id, repository_no))) return []
  const buckets = new Set([...members, ...changed].map(({ bucket }) => bucket))
  const isChanged = new Set(changed.map(({ id }) => id))
  const stored = await readMembers(tx, org_id, repository_no, [...buckets])
  return stored.filter(({ id }) => id === null || !isChanged.has(id))
}
