import { buildAverageId } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { normalizeToolName } from '../vocabulary/stream-name.ts'
import { buildStreamLane } from '../writing/lane.store.ts'
import type { Stream, StreamFacts, StreamReport } from './finding-stream.store.ts'
import type { NamedStream } from './pair-exactly.store.ts'

/** A stream without a category or subject that a new stream with one may continue. */
export type EarlierStream = Pick<
  Stream,
  'id' | 'tracked' | 'reported_at' | 'seen_at' | 'upload_id' | 'commit_sha' | 'parts_since'
> & {
  facts: StreamFacts | null
}

type FoundStream = EarlierStream & {
  tool: string
  tool_family: string | null
  subject: string | null
  has_category: boolean
}

/**
 * The streams that these new ones may continue: those of the same tool, format, ref and lane
 * without their category or subject whose newest report is about another commit. They are locked
 * after those of the report, in the order of their names.
 */
export async function lockEarlierStreams(
  tx: Tx,
  report: StreamReport,
  streams: readonly Stream[],
): Promise<Map<number, EarlierStream>> {
  const fresh = streams.filter(
    ({ reported_at, subject }) => reported_at.getTime() === 0 && (report.category || subject),
  )
  if (fresh.length === 0) return new Map()
  const found = await tx<FoundStream[]>`
    select id, tool, tool_family, subject, coalesce(category, '') <> '' as has_category, tracked, reported_at, seen_at,
      upload_id, commit_sha, parts_since, facts
    from finding_streams stream
    where org_id = ${report.org_id}
      and repository_no = ${report.repository_no}
      and coalesce(category, '') in ('', coalesce(${report.category}::text, ''))
      and branch_name(git_ref) = branch_name(${report.git_ref})
      and origin not in ('alert', 'inventory')
      and coalesce(format_family, source) = ${report.source}
      and ${buildStreamLane(tx, report.org_id, tx`stream`)} = ${report.lane}
      and ended_at is null
      and reported_at between '2000-01-01' and ${report.reported_at}
      and (commit_sha is null or commit_sha is distinct from ${report.commit_sha}::text)
    order by tool_family nulls first, subject nulls first, tool, id
    for update`
  const pairs = fresh.flatMap((stream) => {
    const earlier = found.filter((other) => isWithout(other, stream, report.category))
    // The one that differs in less.
    const [first] = earlier.sort((a, b) => countNamed(b) - countNamed(a) || b.id - a.id)
    return first === undefined ? [] : [[stream.id, first] as const]
  })
  return new Map(pairs)
}

function isWithout(other: FoundStream, stream: Stream, category: string | null): boolean {
  const isSameTool = (other.tool_family ?? normalizeToolName(other.tool)) === stream.tool_family
  const hasMore = (Boolean(category) && !other.has_category) || (stream.subject !== null && other.subject === null)
  return isSameTool && hasMore && (other.subject === null || other.subject === stream.subject)
}

function countNamed({ subject, has_category }: FoundStream): number {
  return Number(has_category) + Number(subject !== null)
}

/** Whether a report has more than half of the open findings of a stream. */
export async function hasMostFindings(
  tx: Tx,
  orgId: string,
  { names }: NamedStream,
  { id }: EarlierStream,
): Promise<boolean> {
  const [{ open, same }] = await tx<[{ open: number; same: number }]>`
    select count(*) as open,
      count(*) filter (
        where exists (
          select from incoming
          where incoming.fingerprint = finding.fingerprint
            and incoming.tool = any(${[...names]}::text[])
        )
      ) as same
    from findings finding
    where org_id = ${buildAverageId(tx, orgId)}
      and stream_id = ${buildAverageId(tx, id)}
      and reported_state = 'open'`
  return same * 2 > open
}

/** A stream goes on from where the earlier one is. */
export async function updateContinuing(tx: Tx, orgId: string, id: number, earlier: EarlierStream): Promise<void> {
  await tx`
    update finding_streams
    set tracked = ${earlier.tracked}, reported_at = ${earlier.reported_at}, seen_at = ${earlier.seen_at},
      upload_id = ${earlier.upload_id}, commit_sha = ${earlier.commit_sha}
    where org_id = ${orgId}
      and id = ${id}`
}

/**
 * Forgets the pairs of findings that the report lacks in directories where it has none: another
 * report continues them. Returns the findings.
 */
export async function deleteElsewherePairs(tx: Tx, orgId: string, streamId: number): Promise<string[]> {
  const rows = await tx<{ finding_id: string }[]>`
    delete from paired
    using findings finding
    where finding.org_id = ${buildAverageId(tx, orgId)}
      and finding.id = paired.finding_id
      and paired.stream_id = ${streamId}
      and paired.position is null
      and not exists (
        select from paired reported
        join incoming using (position)
        where reported.stream_id = ${streamId}
          and coalesce(substring(incoming.path from '^(.*)/'), '') = coalesce(substring(finding.path from '^(.*)/'), '')
      )
    returning paired.finding_id`
  return rows.map(({ finding_id }) => finding_id)
}

export async function hasOpenFindings(tx: Tx, orgId: string, streamId: number): Promise<boolean> {
  const rows = await tx`
    select from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and stream_id = ${buildAverageId(tx, streamId)}
      and reported_state = 'open'
    limit 1`
  return rows.length > 0
}
