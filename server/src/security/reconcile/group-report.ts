import { splitByBucket } from '../issues/grouping/bucket.ts'
import { type DescribedGroup, describeGroups } from '../issues/grouping/describe-groups.ts'
import { type Group, groupMembers } from '../issues/grouping/group-members.ts'
import type { Member } from '../issues/grouping/grouping-facts.ts'
import type { Edits } from '../issues/grouping/pins.ts'
import type { CanonicalId } from '../issues/grouping/shared-names.ts'
import { toSeverityRank } from '../vocabulary/severity.ts'
import { findEdits } from '../writing/edit.store.ts'
import { type GroupedLines, hasIssues, listMembers, lockCanonicalNames } from '../writing/grouping.store.ts'
import type { NewIssues } from '../writing/issue-writing.store.ts'
import { formatGroupedLines, listEditedMembers, writeGroups } from '../writing/write-groups.ts'
import type { After } from './incoming.store.ts'
import { type ChangedFinding, hasPairs, listChanged, listNewPositions, type Paired } from './paired.store.ts'

/**
 * The temporary table `grouped` has the issue of every new and every changed finding of the report.
 * `touched` are stored issues that gained, lost or changed findings and issues that were split off;
 * `opened` counts the issues that consist of new findings only.
 */
export type GroupedReport = After<'group'> & {
  readonly paired: Paired
  readonly touched: string[]
  readonly opened: NewIssues
}

/**
 * Finds or creates the issue of every new and every changed finding of the report, before the
 * findings themselves are written. The repository must be locked.
 */
export async function groupReport(paired: Paired): Promise<GroupedReport> {
  const touched: string[] = []
  const opened: NewIssues = { open: 0, critical: 0, high: 0 }
  const isNews = hasPairs(paired, 'fresh') || hasPairs(paired, 'changed')
  const members = isNews ? await readMembersToGroup(paired) : []
  const canonicalId = await lockCanonicalNames(paired.tx, members)
  const findingIds = members.flatMap(({ id }) => id ?? [])
  const edits = paired.scope.has_edits ? await findEdits(paired.tx, paired.scope.org_id, findingIds) : null
  const next = batchesToWrite(members, paired, canonicalId, edits)
  for (let batch = next(); batch !== null; ) {
    const written = await writeBatch(paired, batch, next)
    const splitOff = batch.described.filter(({ issue }) => issue.is_new && issue.split_from !== null)
    touched.push(...written.touched, ...splitOff.map(({ issue }) => issue.id))
    countOpened(opened, batch.described)
    batch = written.following
  }
  return { paired, touched, opened } as GroupedReport
}

type BatchToWrite = { groups: Group[]; described: DescribedGroup[]; lines: GroupedLines }
/** Groups the next batch of findings, and formats its rows. Returns null at the end. */
type NextBatch = () => BatchToWrite | null
type WrittenBatch = { touched: string[]; following: BatchToWrite | null }

/** Writes a batch, and groups the next one while PostgreSQL does so. */
async function writeBatch({ tx, scope }: Paired, batch: BatchToWrite, next: NextBatch): Promise<WrittenBatch> {
  let following: BatchToWrite | null = null
  const meanwhile = () => {
    following = next()
  }
  const regrouping = { ...batch, stored: new Map(), cause: { by: 'report' }, meanwhile } as const
  const { touched } = await writeGroups(tx, scope, regrouping)
  return { touched, following }
}

function batchesToWrite(
  members: readonly Member[],
  { scope, members: { rules } }: Paired,
  canonicalId: CanonicalId,
  edits: Edits | null,
): NextBatch {
  const batches = splitByBucket(members).values()
  return () => {
    const batch = batches.next().value
    if (batch === undefined) return null
    const groups = groupMembers(batch, { canonicalId, rules }, edits)
    const described = describeGroups(groups, new Map(), canonicalId, scope.at)
    return { groups, described, lines: formatGroupedLines(described) }
  }
}

/**
 * The findings of the report that are new or changed, and the stored findings they may be grouped
 * with.
 */
async function readMembersToGroup(paired: Paired): Promise<Member[]> {
  const positions = await listNewPositions(paired)
  const changed = await listChanged(paired)
  const reported = [
    ...Iterator.from(positions).map((position) => paired.members.get(position)),
    ...changed.map((finding) => paired.members.get(finding.position, finding)),
  ]
  return [...reported, ...(await readNeighbours(paired, reported, changed))]
}

function countOpened(opened: NewIssues, described: readonly DescribedGroup[]): void {
  for (const { issue } of described) {
    if (!issue.is_new || !issue.listed || issue.status !== 'open') continue
    opened.open += 1
    if (issue.severity === toSeverityRank('critical')) opened.critical += 1
    if (issue.severity === toSeverityRank('high')) opened.high += 1
  }
}

/** Stored findings in the buckets of these findings, and in those that the changed ones were in. */
async function readNeighbours(
  { tx, scope, members: { rules } }: Paired,
  reported: readonly Member[],
  changed: readonly ChangedFinding[],
): Promise<Member[]> {
  const { org_id, repository_no } = scope
  if (reported.length === 0 || !(await hasIssues(tx, org_id, repository_no))) return []
  const buckets = [...new Set([...reported, ...changed].map(({ bucket }) => bucket))]
  const isChanged = new Set(changed.map(({ id }) => id))
  const stored = scope.has_edits
    ? (await listEditedMembers(tx, scope, buckets, rules)).members
    : await listMembers(tx, org_id, repository_no, buckets)
  return stored.filter(({ id }) => id === null || !isChanged.has(id))
}
