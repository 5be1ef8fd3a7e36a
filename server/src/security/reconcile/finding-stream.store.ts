import type { Lane } from '../../ci/runs/trust.ts'
import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { FindingSource } from '../formats/catalogue.ts'
import type { FindingOrigin } from '../vocabulary/finding.ts'
import { buildStreamLane, buildUploadLane } from '../writing/lane.store.ts'

/** The facts of a report that its streams store. */
export type StreamReport = {
  org_id: string
  /** Null for alerts. */
  upload_id: string | null
  /** Who reports. Null for alerts, which are the words of the code host itself. */
  lane: Lane | null
  repository_no: number
  category: string | null
  git_ref: string | null
  commit_sha: string | null
  tracked: boolean
  /** The format of the report, or the code host of the alerts. */
  source: FindingSource
  origin: FindingOrigin
  reported_at: Date
}

/**
 * `rules_named` is the number of rules that a report is compared with. Null where it is unknown.
 */
export type Stream = {
  id: number
  tool: string
  tracked: boolean
  reported_at: Date
  rules_named: number | null
  /**
   * The stream of another lane that was stored as one with this: what was decided there until they
   * were separated, at `seen_at`, holds here too.
   */
  continues_id: number | null
  seen_at: Date
}

/**
 * Creates the streams of these tools in the lane of the report where they are missing, and locks
 * them until the transaction ends. They are locked in the order of their tools' names, so that two
 * reports cannot deadlock.
 */
export async function lockStreams(tx: Tx, report: StreamReport, tools: readonly string[], at: Date): Promise<Stream[]> {
  const { org_id, repository_no, category, git_ref, lane } = report
  if (lane !== null) await settleLanes(tx, report, tools, at)
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, lane, source, origin, tracked, reported_at, seen_at
    )
    select ${org_id}, ${repository_no}, ${category}, ${git_ref}, tool, ${lane}, ${report.source}, ${report.origin},
      ${report.tracked}, '-infinity', '-infinity'
    from unnest(${tools}::text[]) tool
    order by tool
    on conflict do nothing`
  return tx<Stream[]>`
    select id, tool, tracked,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at, rules_named, continues_id,
      case when seen_at = '-infinity' then 'epoch' else seen_at end as seen_at
    from finding_streams
    where ${isOfReport(tx, report, tools)}
      ${lane === null ? tx`` : tx`and lane = ${lane}`}
    order by tool
    for update`
}

/** The streams of a report in all lanes. */
function isOfReport(
  tx: Tx,
  { org_id, repository_no, category, git_ref, origin }: StreamReport,
  tools: readonly string[],
) {
  return tx`
    org_id = ${org_id}
    and repository_no = ${repository_no}
    and coalesce(category, '') = coalesce(${category}::text, '')
    and branch_name(git_ref) = branch_name(${git_ref})
    and tool = any(${tools})
    and (origin = 'alert') = ${origin === 'alert'}`
}

/**
 * Gives streams that were stored before lanes the lane of their newest report, and each other lane
 * that had reported there an empty stream that continues them (decisions §7).
 */
async function settleLanes(tx: Tx, report: StreamReport, tools: readonly string[], at: Date): Promise<void> {
  const { org_id } = report
  const settled = await tx<{ id: number }[]>`
    update finding_streams stream
    set lane = ${buildStreamLane(tx, org_id, tx`stream`)}
    where org_id = ${org_id}
      and id in (
        select id
        from finding_streams
        where ${isOfReport(tx, report, tools)}
          and lane is null
        order by tool
        for update
      )
    returning id`
  if (settled.length === 0) return
  const ids = settled.map(({ id }) => id)
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, lane, source, origin, tracked, continues_id, reported_at, seen_at
    )
    select distinct stream.org_id, stream.repository_no, stream.category, stream.git_ref, stream.tool,
      ${buildUploadLane(tx, tx`upload`)}, stream.source, stream.origin, stream.tracked, stream.id,
      '-infinity'::timestamptz, ${at}::timestamptz
    from finding_streams stream
    join security_uploads upload
      on upload.org_id = stream.org_id
      and upload.repository_no = stream.repository_no
      and coalesce(upload.category, upload.report_category, '') = coalesce(stream.category, '')
      and branch_name(upload.git_ref) = branch_name(stream.git_ref)
      and upload.status = 'finished'
    where stream.org_id = ${org_id}
      and stream.id = any(${ids}::bigint[])
      and ${buildUploadLane(tx, tx`upload`)} <> stream.lane
    on conflict do nothing`
}

/** An upload whose findings were seen in another commit at this time, as one lane says. */
export type SeenAgain = {
  org_id: string
  repository_no: number
  upload_id: string
  lane: Lane
  commit_sha: string
  at: Date
}

/**
 * Records that all findings of an upload were seen again in another commit, in the streams whose
 * newest report it is. Locks the streams in the same order as `lockStreams`. Returns false if
 * nothing changed.
 */
export async function updateSeenAgain(tx: Tx, seen: SeenAgain): Promise<boolean> {
  const rows = await tx`
    update finding_streams stream
    set commit_sha = ${seen.commit_sha}, reported_at = ${seen.at}, seen_at = greatest(stream.seen_at, ${seen.at})
    from (
      select id
      from finding_streams
      where org_id = ${seen.org_id}
        and repository_no = ${seen.repository_no}
        and upload_id = ${seen.upload_id}
        and ${buildStreamLane(tx, seen.org_id, tx`finding_streams`)} = ${seen.lane}
        and reported_at <= ${seen.at}
        and commit_sha is distinct from ${seen.commit_sha}
      order by tool
      for update
    ) newest
    where stream.org_id = ${seen.org_id}
      and stream.id = newest.id`
  return rows.count > 0
}

/** Whether a stream of a lane was ended whose newest report is this upload. */
export async function hasEndedStream(
  tx: Tx,
  { org_id, id }: { org_id: string; id: string },
  lane: Lane,
): Promise<boolean> {
  const rows = await tx`
    select from finding_streams stream
    where org_id = ${org_id}
      and upload_id = ${id}
      and ${buildStreamLane(tx, org_id, tx`stream`)} = ${lane}
      and ended_at is not null
    limit 1`
  return rows.length > 0
}

export type SeverityCounts = { critical: number; high: number; medium: number; low: number }

/** Counts the open findings of these streams. */
export async function countOpenBySeverity(tx: Tx, orgId: string, streamIds: number[]): Promise<SeverityCounts> {
  const [row] = await tx<[SeverityCounts]>`
    select count(*) filter (where severity = 'critical') as critical,
      count(*) filter (where severity = 'high') as high,
      count(*) filter (where severity = 'medium') as medium,
      count(*) filter (where severity = 'low') as low
    from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and stream_id = any(${buildAverageIds(tx, streamIds)})
      and state = 'open'`
  return row
}
