import { buildPageCondition } from '../../platform/db/page.ts'
import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositoryReference, RepositorySelection } from '../repositories/select-repository.ts'
import { updateTouchedIssues } from '../writing/issue-writing.store.ts'
import { buildLaneRank, buildShownTrust, buildStreamLane } from '../writing/lane.store.ts'
import type { StreamQuery } from './stream.schema.ts'

const STALE_DAYS = 30

type StreamSelection = RepositorySelection & { status: NonNullable<StreamQuery['status']> | null; now: Date }

/**
 * One page of the streams of reports, those with the newest reports first, and one row more where
 * there is a next page. Alerts are no reports.
 */
export async function listStreams(db: Db, orgId: string, page: Page, selection: StreamSelection): Promise<PageRow[]> {
  const { repositoryNos, provider, status, now } = selection
  const stream: ReturnType<Db> = db`stream`
  const isOfRepositories: ReturnType<Db> =
    repositoryNos === null ? db`true` : db`repository_no = any(${[...repositoryNos]}::bigint[])`
  const isShown: ReturnType<Db> = db`repository_no in (select repository_no from page)`
  const isSelected: ReturnType<Db> = status === null ? isShown : isOfRepositories
  const statuses: ReturnType<Db> = streamStatuses(db, orgId, { now, isSelected })
  const ofStatus: ReturnType<Db> = db`join ${statuses} stated on stated.id = stream.id`
  return db<PageRow[]>`
    with page as materialized (
      select stream.*${status === null ? db`` : db`, stated.status`}
      from (
        select *, reported_at as created_at
        from finding_streams
        where org_id = ${orgId}
          and origin <> 'alert'
          and reported_at > '-infinity'
          and ${isOfRepositories}
      ) stream
      ${status === null ? db`` : ofStatus}
      where ${buildPageCondition(db, page, stream)}
        ${buildProviderCondition(db, orgId, stream, provider)}
        ${status === null ? db`` : db`and stated.status = ${status}`}
      order by stream.created_at desc, stream.id desc
      limit ${page.limit + 1}
    )
    select stream.created_at, stream.id::text, ${streamJson(db, orgId, status === null ? db`stated.status` : db`stream.status`)} as json
    from page stream
    ${status === null ? ofStatus : db``}
    order by stream.created_at desc, stream.id desc`
}

/** A stream as JSON, or null if there is none. */
export async function findStreamJson(db: Db, orgId: string, id: number, now: Date): Promise<string | null> {
  const isBeside: ReturnType<Db> = db`repository_no = (select repository_no from finding_streams where org_id = ${orgId} and id = ${id})`
  const [row] = await db<{ json: string }[]>`
    select ${streamJson(db, orgId, db`stated.status`)} as json
    from finding_streams stream
    join ${streamStatuses(db, orgId, { now, isSelected: isBeside })} stated on stated.id = stream.id
    where stream.org_id = ${orgId}
      and stream.id = ${id}
      and stream.origin <> 'alert'`
  return row?.json ?? null
}

/** The repository of a stream; null if the organization has no such stream. */
export async function findStreamRepository(db: Db, orgId: string, id: number): Promise<RepositoryReference | null> {
  const [row] = await db<RepositoryReference[]>`
    select repository.name, repository.provider, repository.provider_id as "providerId"
    from finding_streams stream
    join reported_repositories repository
      on repository.org_id = stream.org_id and repository.id = stream.repository_no
    where stream.org_id = ${orgId}
      and stream.id = ${id}`
  return row ?? null
}

/**
 * SQL: what streams of one scanner have in common whose categories differ only in numbers, dates or
 * hashes.
 */
function similarKey(db: Db, of: ReturnType<Db>) {
  return db`
    ${of}.repository_no, branch_name(${of}.git_ref), ${of}.tool_family, ${of}.format_family, ${of}.subject, ${of}.lane,
    regexp_replace(${of}.category, '[0-9a-f]{7,}|[0-9]+', '#', 'g')`
}

/** SQL: whether a stream was reported once, so that its category may be one of a single scan. */
function isReportedOnce(db: Db, of: ReturnType<Db>) {
  return db`${of}.reports = 1 and ${of}.ended_at is null`
}

/** SQL: the streams of one commit are parts of one scan; others stand alone. */
function buildScan(db: Db, of: ReturnType<Db>) {
  return db`coalesce(${of}.commit_sha, 'stream ' || ${of}.id)`
}

/**
 * How many streams there are that differ from one of these only in numbers and were reported once
 * as well, with it; at most those of the one with the most.
 */
export async function countSimilarStreams(db: Db, orgId: string, ids: readonly number[]): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select coalesce(max(alike.count), 0) as count
    from finding_streams stream
    cross join lateral (
      select count(*) + 1 as count
      from finding_streams other
      where other.org_id = stream.org_id
        and other.repository_no = stream.repository_no
        and (${similarKey(db, db`other`)}) is not distinct from (${similarKey(db, db`stream`)})
        and ${isReportedOnce(db, db`other`)}
        and ${buildScan(db, db`other`)} <> ${buildScan(db, db`stream`)}
    ) alike
    where stream.org_id = ${orgId}
      and stream.id = any(${[...ids]}::bigint[])
      and ${isReportedOnce(db, db`stream`)}`
  return row.count
}

const SIMILAR_MIN = 3

/**
 * SQL: the status of all streams of some repositories, in time that is linear in their number. A
 * stream is stale if others of its ref were reported to in the last 30 days and it was not, or if
 * it is not the newest of several that only differ in numbers.
 */
function streamStatuses(
  db: Db,
  orgId: string,
  { now, isSelected }: { now: Date; isSelected: ReturnType<Db> },
): ReturnType<Db> {
  const since = db`${now}::timestamptz - make_interval(days => ${STALE_DAYS})`
  const stream: ReturnType<Db> = db`stream`
  return db`(
    with stream as materialized (
      select id, repository_no, git_ref, tool_family, format_family, subject, lane, category, commit_sha, reports,
        reported_at, ended_at
      from finding_streams
      where org_id = ${orgId}
        and origin <> 'alert'
        and ${isSelected}
    ),
    ref as (
      select repository_no, branch_name(git_ref) as ref, max(reported_at) as newest
      from stream
      group by repository_no, branch_name(git_ref)
    ),
    scan as (
      select row(${similarKey(db, stream)})::text as key, ${buildScan(db, stream)} as scan, count(*) as streams,
        max(reported_at) as newest
      from stream
      where ${isReportedOnce(db, stream)}
        and category ~ '[0-9]|[a-f]{7}'
      group by 1, 2
    ),
    -- The newest of the other scans is the first of all, or the second.
    ranked as (
      select key, scan, newest, sum(streams) over of_key - streams as others,
        first_value(scan) over newest_first as first_scan, first_value(newest) over newest_first as first,
        nth_value(newest, 2) over newest_first as second
      from scan
      window of_key as (partition by key),
        newest_first as (
          partition by key order by newest desc, scan rows between unbounded preceding and unbounded following
        )
    )
    select stream.id,
      case
        when stream.ended_at is not null then 'ended'
        when stream.reported_at < ${since} and ref.newest >= ${since} then 'stale'
        when ranked.others + 1 >= ${SIMILAR_MIN}
          and case when ranked.scan = ranked.first_scan then ranked.second else ranked.first end > stream.reported_at
        then 'stale'
        else 'active'
      end as status
    from stream
    left join ref
      on ref.repository_no = stream.repository_no
      and ref.ref is not distinct from branch_name(stream.git_ref)
    left join ranked
      on ranked.key = row(${similarKey(db, stream)})::text
      and ranked.scan = ${buildScan(db, stream)}
      and ${isReportedOnce(db, stream)}
  )`
}

function streamJson(db: Db, orgId: string, status: ReturnType<Db>) {
  const lane = buildStreamLane(db, orgId, db`stream`)
  return db`(
    select row_to_json(item)::text
    from (
      select stream.id::text, repository.name as repository, repository.provider,
        repository.provider_id as repository_id, stream.tool, stream.source as format, stream.subject, stream.category, stream.git_ref,
        ${buildShownTrust(db, { lane, origin: db`stream.origin` })} as trust, stream.tracked,
        ${status} as status, ${openFindings(db, db`stream`)} as open, stream.commit_sha,
        rfc3339(stream.reported_at) as reported_at, ${othersJson(db, orgId)} as can_take_over,
        case when stream.ended_at is not null then
          json_build_object(
            'at', rfc3339(stream.ended_at), 'reason', stream.ended_reason, 'by_name', stream.ended_by_name
          )
        end as ended
      from reported_repositories repository
      where repository.org_id = stream.org_id
        and repository.id = stream.repository_no
    ) item
  )`
}

function openFindings(db: Db, stream: ReturnType<Db>): ReturnType<Db> {
  return db`(
    select count(*)
    from findings finding
    where finding.org_id = ${stream}.org_id
      and finding.stream_id = ${stream}.id
      and finding.state = 'open'
  )`
}

const OTHERS_MAX = 10

/** The streams beside a row `stream` that are not stronger and have not ended. */
function othersJson(db: Db, orgId: string) {
  const [lane, own] = [buildStreamLane(db, orgId, db`other`), buildStreamLane(db, orgId, db`stream`)]
  const trust = buildShownTrust(db, { lane, origin: db`other.origin` })
  return db`(
    select coalesce(json_agg(beside order by beside.id), '[]')
    from (
      select other.id::text, ${trust} as trust, ${openFindings(db, db`other`)} as open
      from finding_streams other
      where other.org_id = stream.org_id
        and other.repository_no = stream.repository_no
        and coalesce(other.category, '') = coalesce(stream.category, '')
        and branch_name(other.git_ref) is not distinct from branch_name(stream.git_ref)
        and coalesce(other.tool_family, lower(other.tool)) = coalesce(stream.tool_family, lower(stream.tool))
        and coalesce(other.format_family, other.source) = coalesce(stream.format_family, stream.source)
        and other.subject is not distinct from stream.subject
        and other.origin <> 'alert'
        and other.id <> stream.id
        and other.ended_at is null
        and other.reported_at > '-infinity'
        and stream.ended_at is null
        and ${buildLaneRank(db, lane)} <= ${buildLaneRank(db, own)}
      order by other.id
      limit ${OTHERS_MAX}
    ) beside
  )`
}

/** `identity` is what streams of several lanes have in common. */
export type LockedStream = {
  id: number
  repository_no: number
  identity: string
  lane_rank: number
  ended_at: Date | null
  tool: string
  git_ref: string | null
  tracked: boolean
  seen_at: Date
}

/** Locks streams of reports until the transaction ends, in the order of their ids. */
export async function lockReportedStreams(tx: Tx, orgId: string, ids: readonly number[]): Promise<LockedStream[]> {
  return tx<LockedStream[]>`
    select id, repository_no, ended_at, tool, git_ref, tracked, seen_at,
      ${buildLaneRank(tx, buildStreamLane(tx, orgId, tx`stream`))} as lane_rank,
      jsonb_build_array(
        repository_no, coalesce(tool_family, lower(tool)), coalesce(format_family, source), coalesce(subject, ''),
        coalesce(category, ''), branch_name(git_ref)
      )::text as identity
    from finding_streams stream
    where org_id = ${orgId}
      and id = any(${[...ids]}::bigint[])
      and origin <> 'alert'
      and reported_at > '-infinity'
    order by id
    for update`
}

/** The streams whose newest report is an upload, and that have not ended. */
export async function listStreamsOfUpload(tx: Tx, orgId: string, uploadId: string): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id
    from finding_streams stream
    where org_id = ${orgId}
      and upload_id = ${uploadId}
      and origin <> 'alert'
      and ended_at is null`
  return rows.map(({ id }) => id)
}

type StreamEnd = { at: Date; reason: string; by_name: string }

export async function updateEndedStream(tx: Tx, orgId: string, id: number, end: StreamEnd): Promise<void> {
  await tx`
    update finding_streams
    set ended_at = ${end.at}, ended_reason = ${end.reason}, ended_by_name = ${end.by_name}
    where org_id = ${orgId}
      and id = ${id}`
}

/**
 * The tracked streams of a repository that had no report since streams have keys, with their refs.
 * Once, each report of a repository that is not connected was tracked.
 */
export async function listUpgradedStreams(
  tx: Tx,
  orgId: string,
  repositoryNo: number,
): Promise<{ id: number; git_ref: string }[]> {
  return tx<{ id: number; git_ref: string }[]>`
    select id, git_ref
    from finding_streams
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and tracked
      and reports = 0
      and origin <> 'alert'
      and git_ref is not null`
}

/** Ends that findings of these streams open issues, and refreshes those that they have. */
export async function updateUntrackedStreams(tx: Tx, orgId: string, ids: readonly number[], at: Date): Promise<void> {
  if (ids.length === 0) return
  await tx`
    update finding_streams
    set tracked = false
    where org_id = ${orgId}
      and id = any(${[...ids]}::bigint[])`
  const touched: ReturnType<Tx> = tx`
    select distinct issue_id
    from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and stream_id = any(${buildAverageIds(tx, [...ids])})`
  await updateTouchedIssues(tx, orgId, touched, at)
}
