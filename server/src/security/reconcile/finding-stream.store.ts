import type { Lane } from '../../ci/runs/trust.ts'
import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { FindingSource } from '../formats/catalogue.ts'
import type { FindingOrigin } from '../vocabulary/finding.ts'
import { normalizeToolName } from '../vocabulary/stream-name.ts'
import { buildStreamKind, buildStreamLane, buildUploadLane } from '../writing/lane.store.ts'

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
 * What tells the streams of a report apart. Null for alerts, whose tools are told apart by name.
 */
export type StreamKey = { tool: string; tool_family: string | null; subject: string | null }

/** What a report states of itself, with which the next one is compared (`ReportTool`). */
export type StreamFacts = {
  failures: readonly string[]
  files: number
  rules: number
  /** A sample. */
  components: readonly string[]
  /** Of the image in the newest report; absent if that states none. */
  digests?: readonly string[]
}

/** What the newest report lacks without closing it, and the number of its results. */
export type Held = {
  upload_id: string | null
  findings: number
  reasons: readonly string[]
  results: number
  /** Whether the next report that lacks the same closes it. */
  may_be_repeated: boolean
  /** Whether the report is cut, so that nobody can confirm it. */
  is_cut: boolean
}

export type Stream = StreamKey & {
  id: number
  tracked: boolean
  reported_at: Date
  /**
   * Of the last complete report, or else the first one. Null if that was before they were stored.
   */
  facts: StreamFacts | null
  held: Held | null
  upload_id: string | null
  commit_sha: string | null
  /**
   * When the first report of the newest commit was read, if another part of the scan followed it.
   */
  parts_since: Date | null
  /**
   * The stream of another lane that was stored as one with this: what was decided there until they
   * were separated, at `seen_at`, holds here too.
   */
  continues_id: number | null
  seen_at: Date
}

/** A stream that goes on in another one, which has the same key. */
export type ReplacedStream = { from: number; into: number }
type LockedStreams = { streams: Stream[]; replaced: ReplacedStream[] }

/**
 * Creates the streams with these keys in the lane of the report where they are missing, and locks
 * them until the transaction ends. They are locked in the order of their names, so that two reports
 * cannot deadlock. Streams that were stored before they had keys get theirs; `replaced` are those
 * whose key another one has.
 */
export async function lockStreams(
  tx: Tx,
  report: StreamReport,
  keys: readonly StreamKey[],
  at: Date,
): Promise<LockedStreams> {
  const { org_id, repository_no, category, git_ref, lane } = report
  const replaced = lane === null ? [] : await settleStreams(tx, report, keys, at)
  const key = tx`unnest(
    ${keys.map(({ tool }) => tool)}::text[], ${keys.map(({ tool_family }) => tool_family)}::text[],
    ${keys.map(({ subject }) => subject)}::text[]
  ) as key (tool, tool_family, subject)`
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, tool_family, format_family, subject, lane, source, origin,
      tracked, reported_at, seen_at
    )
    select ${org_id}, ${repository_no}, ${category}, ${git_ref}, tool, tool_family, ${getFormatFamily(report)}, subject,
      ${lane}, ${report.source}, ${report.origin}, ${report.tracked}, '-infinity', '-infinity'
    from ${key}
    order by ${buildStreamOrder(tx)}
    on conflict do nothing`
  const streams = await tx<Stream[]>`
    select id, tool, tool_family, subject, tracked,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at, facts, held, upload_id, commit_sha,
      parts_since, continues_id,
      case when seen_at = '-infinity' then 'epoch' else seen_at end as seen_at
    from finding_streams
    where ${isOfScope(tx, report)}
      and format_family is not distinct from ${getFormatFamily(report)}
      and exists (
        select from ${key}
        where key.tool_family is not distinct from finding_streams.tool_family
          and key.subject is not distinct from finding_streams.subject
          and (key.tool_family is not null or key.tool = finding_streams.tool)
      )
      ${lane === null ? tx`` : tx`and lane = ${lane}`}
    order by ${buildStreamOrder(tx)}
    for update`
  return { streams, replaced }
}

/** Counts the open findings of the streams with these keys, which a report does not change. */
export async function countOpenOfKeys(tx: Tx, report: StreamReport, keys: readonly StreamKey[]): Promise<number> {
  const rows = await tx<{ id: number }[]>`
    select id
    from finding_streams stream
    join unnest(
      ${keys.map(({ tool_family }) => tool_family)}::text[], ${keys.map(({ subject }) => subject)}::text[]
    ) as key (tool_family, subject)
      on key.tool_family = stream.tool_family and key.subject is not distinct from stream.subject
    where ${isOfScope(tx, report)}
      and format_family is not distinct from ${getFormatFamily(report)}
      and lane = ${report.lane}`
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  const [{ open }] = await tx<[{ open: number }]>`
    select count(*) as open
    from findings
    where org_id = ${buildAverageId(tx, report.org_id)}
      and stream_id = any(${buildAverageIds(tx, ids)})
      and state = 'open'`
  return open
}

/** The order in which streams are locked. */
function buildStreamOrder(tx: Tx) {
  return tx`tool_family nulls first, subject nulls first, tool`
}

/** A report and a bill of materials of one run stand beside each other. Alerts have no format. */
function getFormatFamily({ origin, source }: StreamReport): string | null {
  return origin === 'alert' ? null : source
}

/** The streams of a report's repository, category and ref in all lanes. */
function isOfScope(tx: Tx, { org_id, repository_no, category, git_ref, origin }: StreamReport) {
  return tx`
    org_id = ${org_id}
    and repository_no = ${repository_no}
    and coalesce(category, '') = coalesce(${category}::text, '')
    and branch_name(git_ref) = branch_name(${git_ref})
    and ${buildStreamKind(tx, tx`origin`)} = ${buildStreamKind(tx, tx`${origin}::text`)}`
}

/** `tool` is its name, or the family that a settled stream has. */
type UnsettledStream = { id: number; tool: string; lane: string | null; format_family: string; is_settled: boolean }

/**
 * Gives the streams of these tools that were stored before they had keys their lane and their key.
 * Of several with one key the newest gets it. The others are returned: their findings go on in it.
 */
async function settleStreams(
  tx: Tx,
  report: StreamReport,
  keys: readonly StreamKey[],
  at: Date,
): Promise<ReplacedStream[]> {
  const families = new Set(keys.map(({ tool_family }) => tool_family))
  const isOfFamily = ({ tool }: UnsettledStream) => families.has(normalizeToolName(tool))
  const found = (await lockUnsettled(tx, report)).filter(isOfFamily)
  if (found.length === 0) return []
  await settleLanes(
    tx,
    report,
    found.filter(({ lane }) => lane === null).map(({ id }) => id),
    at,
  )
  const unsettled = (await lockUnsettled(tx, report)).filter(isOfFamily)
  const settled = await lockSettled(tx, report, [...families] as string[])
  const byKey = Map.groupBy(
    [...settled, ...unsettled],
    ({ tool, lane, format_family, is_settled }) =>
      `${lane} ${format_family} ${is_settled ? tool : normalizeToolName(tool)}`,
  )
  const groups = [...byKey.values()].map(([first, ...others]) => ({ first: first as UnsettledStream, others }))
  await updateKeys(
    tx,
    report.org_id,
    groups.flatMap(({ first }) => (first.is_settled ? [] : [first])),
  )
  return groups.flatMap(({ first, others }) => others.map(({ id }) => ({ from: id, into: first.id })))
}

/** The newest first, in each lane. */
async function lockUnsettled(tx: Tx, report: StreamReport): Promise<UnsettledStream[]> {
  const rows = await tx<(UnsettledStream & { reported_at: number })[]>`
    select id, tool, lane, source as format_family, false as is_settled,
      extract(epoch from reported_at)::float8 as reported_at
    from finding_streams
    where ${isOfScope(tx, report)}
      and tool_family is null
    order by tool, id
    for update`
  return rows.sort((a, b) => b.reported_at - a.reported_at || b.id - a.id)
}

/** The streams without a subject that have their keys. */
async function lockSettled(tx: Tx, report: StreamReport, families: readonly string[]): Promise<UnsettledStream[]> {
  return tx<UnsettledStream[]>`
    select id, tool_family as tool, lane, format_family, true as is_settled
    from finding_streams
    where ${isOfScope(tx, report)}
      and tool_family = any(${[...families]}::text[])
      and subject is null
    order by ${buildStreamOrder(tx)}
    for update`
}

async function updateKeys(tx: Tx, orgId: string, streams: readonly UnsettledStream[]): Promise<void> {
  await tx`
    update finding_streams stream
    set tool_family = key.tool_family, format_family = source
    from unnest(
      ${streams.map(({ id }) => id)}::bigint[], ${streams.map(({ tool }) => normalizeToolName(tool))}::text[]
    ) as key (id, tool_family)
    where stream.org_id = ${orgId}
      and stream.id = key.id`
}

/** Removes streams that go on in others, which have their findings. What continues them follows. */
export async function deleteReplaced(tx: Tx, orgId: string, replaced: readonly ReplacedStream[]): Promise<void> {
  const ids = replaced.map(({ from }) => from)
  await tx`
    update finding_streams stream
    set continues_id = replaced.into_id
    from unnest(${ids}::bigint[], ${replaced.map(({ into }) => into)}::bigint[]) as replaced (from_id, into_id)
    where stream.org_id = ${orgId}
      and stream.continues_id = replaced.from_id`
  await tx`
    delete from finding_streams
    where org_id = ${orgId}
      and id = any(${ids}::bigint[])`
}

/**
 * Gives streams that were stored before lanes the lane of their newest report, and each other lane
 * that had reported there an empty stream that continues them (decisions §7).
 */
async function settleLanes(tx: Tx, { org_id }: StreamReport, ids: readonly number[], at: Date): Promise<void> {
  if (ids.length === 0) return
  await tx`
    update finding_streams stream
    set lane = ${buildStreamLane(tx, org_id, tx`stream`)}
    where org_id = ${org_id}
      and id = any(${[...ids]}::bigint[])`
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
      and stream.id = any(${[...ids]}::bigint[])
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
      order by ${buildStreamOrder(tx)}
      for update
    ) newest
    where stream.org_id = ${seen.org_id}
      and stream.id = newest.id`
  return rows.count > 0
}

/**
 * The lanes whose streams an upload holds as their newest report, and may close if it is confirmed.
 */
export async function listHeldLanes(tx: Tx, { org_id, id }: { org_id: string; id: string }): Promise<Lane[]> {
  const rows = await tx<{ lane: Lane }[]>`
    select distinct ${buildStreamLane(tx, org_id, tx`stream`)} as lane
    from finding_streams stream
    where org_id = ${org_id}
      and upload_id = ${id}
      and held ->> 'upload_id' = ${id}
      and not (held -> 'is_cut')::boolean`
  return rows.map(({ lane }) => lane)
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
