import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositoryReference, RepositorySelection } from '../repositories/select-repository.ts'
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
  return db<PageRow[]>`
    select created_at, id::text, ${streamJson(db, orgId, now)} as json
    from (
      select stream.*, stream.reported_at as created_at
      from finding_streams stream
      where stream.org_id = ${orgId}
        and stream.origin <> 'alert'
        and stream.reported_at > '-infinity'
        ${repositoryNos === null ? db`` : db`and stream.repository_no = any(${[...repositoryNos]}::bigint[])`}
        ${buildProviderCondition(db, orgId, stream, provider)}
        ${status === null ? db`` : db`and ${streamStatus(db, now)} = ${status}`}
    ) stream
    where ${buildPageCondition(db, page, stream)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** A stream as JSON, or null if there is none. */
export async function findStreamJson(db: Db, orgId: string, id: number, now: Date): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${streamJson(db, orgId, now)} as json
    from finding_streams stream
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
 * SQL: streams of one scanner whose categories differ only in numbers, dates or hashes, and which
 * were reported once each. Those of one commit are parts of one scan.
 */
function isSimilar(db: Db, other: ReturnType<Db>, stream: ReturnType<Db>) {
  const pattern = (of: ReturnType<Db>) => db`regexp_replace(${of}.category, '[0-9a-f]{7,}|[0-9]+', '#', 'g')`
  return db`
    ${other}.org_id = ${stream}.org_id
    and ${other}.repository_no = ${stream}.repository_no
    and branch_name(${other}.git_ref) is not distinct from branch_name(${stream}.git_ref)
    and ${other}.tool_family = ${stream}.tool_family
    and ${other}.format_family = ${stream}.format_family
    and ${other}.subject is not distinct from ${stream}.subject
    and ${other}.lane = ${stream}.lane
    and ${other}.reports = 1
    and ${other}.ended_at is null
    and ${pattern(other)} = ${pattern(stream)}
    and (
      ${other}.id = ${stream}.id
      or ${other}.commit_sha is null
      or ${other}.commit_sha is distinct from ${stream}.commit_sha
    )`
}

/**
 * How many streams there are like one of these, with it; at most those of the one with the most.
 */
export async function countSimilarStreams(db: Db, orgId: string, ids: readonly number[]): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select coalesce(max(alike.count), 0) as count
    from finding_streams stream
    cross join lateral (
      select count(*) as count
      from finding_streams other
      where ${isSimilar(db, db`other`, db`stream`)}
    ) alike
    where stream.org_id = ${orgId}
      and stream.id = any(${[...ids]}::bigint[])
      and stream.reports = 1`
  return row.count
}

const SIMILAR_MIN = 3

/**
 * A stream is stale if others of its ref were reported to in the last 30 days and it was not, or if
 * it is not the newest of several that only differ in numbers.
 */
function streamStatus(db: Db, now: Date) {
  const since = db`${now}::timestamptz - make_interval(days => ${STALE_DAYS})`
  return db`
    case
      when stream.ended_at is not null then 'ended'
      when stream.reported_at < ${since} and exists (
        select from finding_streams other
        where other.org_id = stream.org_id
          and other.repository_no = stream.repository_no
          and branch_name(other.git_ref) is not distinct from branch_name(stream.git_ref)
          and other.origin <> 'alert'
          and other.reported_at >= ${since}
      ) then 'stale'
      when stream.reports = 1 and stream.category ~ '[0-9]|[a-f]{7}' and (
        select count(*) >= ${SIMILAR_MIN} and max(other.reported_at) > stream.reported_at
        from finding_streams other
        where ${isSimilar(db, db`other`, db`stream`)}
      ) then 'stale'
      else 'active'
    end`
}

function streamJson(db: Db, orgId: string, now: Date) {
  const lane = buildStreamLane(db, orgId, db`stream`)
  return db`(
    select row_to_json(item)::text
    from (
      select stream.id::text, repository.name as repository, repository.provider,
        repository.provider_id as repository_id, stream.tool, stream.source as format, stream.subject, stream.category, stream.git_ref,
        ${buildShownTrust(db, { lane, origin: db`stream.origin` })} as trust, stream.tracked,
        ${streamStatus(db, now)} as status, ${openFindings(db, db`stream`)} as open, stream.commit_sha,
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

type StreamEnd = { at: Date; reason: string; by_name: string }

export async function updateEndedStream(tx: Tx, orgId: string, id: number, end: StreamEnd): Promise<void> {
  await tx`
    update finding_streams
    set ended_at = ${end.at}, ended_reason = ${end.reason}, ended_by_name = ${end.by_name}
    where org_id = ${orgId}
      and id = ${id}`
}
