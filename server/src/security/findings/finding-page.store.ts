import { getTimedIdRange, hasOpenStart } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { getLowestUuid } from '../../platform/ids.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repository.ts'
import {
  buildFacetCondition,
  buildFacets,
  buildPathCondition,
  buildPrefixCondition,
  buildStreamCondition,
  buildStreams,
  type FindingFilters,
  hasFacetFilters,
  hasStreamFilters,
  isOfAllStreams,
} from './finding-filter.store.ts'
import { buildList, buildNewestOfMany, buildNoCondition, type IdRange } from './finding-lists.store.ts'

export type FindingSelection = RepositorySelection & FindingFilters

/** `limit` is one more than the page has, which shows whether another page follows. */
type Pick = IdRange & {
  limit: number
  selection: FindingSelection
  /** Of findings that were over before this time, none. Null: findings of any state. */
  openSince: Date | null
}

/**
 * Selects the ids of one page, and one more if there is a next page. Findings within the window are
 * read by indexes alone. Older ones that are open are read after them, where the page has room.
 */
export function buildFindingPage(db: Db, orgId: string, page: Page, selection: FindingSelection) {
  const { firstSeenSince } = selection
  // A finding is created when it is first seen.
  const isSeenLater = firstSeenSince !== null && firstSeenSince > page.since
  const { from, before } = getTimedIdRange(isSeenLater ? { ...page, since: firstSeenSince } : page)
  const pick: Pick = { orgId, from, before, limit: page.limit + 1, selection, openSince: null }
  if (firstSeenSince !== null || !hasOpenStart(page)) return pickFindings(db, pick)
  const end = before < from ? before : from
  const older: Pick = { ...pick, from: getLowestUuid(new Date(0)), before: end, openSince: page.since }
  return db`
    with recent as materialized (${pickFindings(db, pick)})
    select id
    from (
      select id
      from recent
      union all
      select id
      from (${pickFindings(db, older)}) older
      where (select count(*) from recent) < ${pick.limit}
    ) found
    order by id desc
    limit ${pick.limit}`
}

/** SQL: true for a finding that is not over, or was not at `since`: a report contained it. */
export function buildIsOpenSince(db: Db, row: ReturnType<Db>, since: Date): ReturnType<Db> {
  return db`(
    ${row}.reported_state = 'open'
    or ${row}.last_seen_at is null
    or greatest(${row}.last_seen_at, ${row}.updated_at) >= ${since}
  )`
}

function buildOpenCondition(db: Db, { openSince }: Pick, row: ReturnType<Db>) {
  return openSince === null ? buildNoCondition(db) : db`and ${buildIsOpenSince(db, row, openSince)}`
}

/**
 * Each way reads an index in the order of the ids, or only findings that match a selective filter,
 * so that a rare value does not read all findings of the organization.
 */
function pickFindings(db: Db, pick: Pick) {
  const { selection } = pick
  const { issueId, path } = selection
  if (issueId !== null) return pickOfIssue(db, pick, issueId)
  if (hasFacetFilters(selection)) {
    return path === null && isOfAllStreams(selection) ? pickByFacet(db, pick) : pickOfRareFacets(db, pick)
  }
  if (path !== null) return pickByPath(db, pick, path)
  const isByStream = selection.repositoryNos !== null || hasStreamFilters(selection)
  return isByStream ? pickByStream(db, pick) : pickByAge(db, pick)
}

function pickByAge(db: Db, pick: Pick) {
  const { orgId, from, before, limit, selection } = pick
  return db`
    select finding.id
    from findings finding
    where finding.org_id = ${orgId}
      and finding.id >= ${from}
      and finding.id < ${before}
      ${buildProviderCondition(db, orgId, db`finding`, selection.provider)}
      ${buildOpenCondition(db, pick, db`finding`)}
    order by finding.id desc
    limit ${limit}`
}

function pickByFacet(db: Db, pick: Pick) {
  const lists = db`(${buildFacets(db, pick.selection)}) list (no)`
  return buildNewestOfMany(db, { ...pick, lists, by: 'facet', condition: buildOpenCondition(db, pick, db`finding`) })
}

function pickByStream(db: Db, pick: Pick) {
  const lists = db`(${buildStreams(db, pick.orgId, pick.selection)}) list (no)`
  const condition = db`
    ${buildFacetCondition(db, db`finding`, pick.selection)}
    ${buildOpenCondition(db, pick, db`finding`)}`
  return buildNewestOfMany(db, { ...pick, lists, by: 'stream_id', condition })
}

/** Facets with fewer findings are rare. */
const RARE = 5000

/**
 * Rare facets: all their findings are compared with the other filters. Other facets: the findings
 * of the streams or of the path are read, newest first.
 */
function pickOfRareFacets(db: Db, pick: Pick) {
  const { orgId, from, before, limit, selection } = pick
  const condition = buildOpenCondition(db, pick, db`finding`)
  const list = { orgId, from, before, by: 'facet', condition } as const
  return db`
    with rare as materialized (
      select found.id
      from (${buildFacets(db, selection)}) list (no)
      cross join lateral (
        ${buildList(db, list)}
        limit ${RARE}
      ) found
      limit ${RARE}
    )
    select id
    from (
      select finding.id
      from rare
      cross join lateral (
        select finding.id, finding.path, finding.stream_id
        from findings finding
        where finding.org_id = ${orgId}
          and finding.id = rare.id
        offset 0
      ) finding
      where (select count(*) from rare) < ${RARE}
        ${buildPathCondition(db, selection.path)}
        ${buildStreamCondition(db, orgId, selection)}
      union all
      select id
      from (${selection.path === null ? pickByStream(db, pick) : pickByPath(db, pick, selection.path)}) common
      where (select count(*) from rare) = ${RARE}
    ) found
    order by id desc
    limit ${limit}`
}

/** So many of the newest findings are searched for a path, for each row of a page. */
const SEARCHED_PER_ROW = 10

/**
 * A frequent path fills a page with the newest findings. For a rare one, the index by path has all
 * findings that match. Its order and `offset 0` make the planner read them by this index. A stream
 * belongs to one organization.
 */
function pickByPath(db: Db, pick: Pick, path: string) {
  const { orgId, from, before, limit, selection } = pick
  return db`
    with newest as materialized (${pickOfNewest(db, pick)})
    select id
    from (
      select id
      from newest
      where (select count(*) from newest) = ${limit}
      union all
      select found.id
      from (${buildStreams(db, orgId, selection)} offset 0) stream
      cross join lateral (
        select finding.id, finding.facet
        from findings finding
        where finding.stream_id = stream.id ${buildSpreadCondition(db, 'finding', orgId)}
          and ${buildPrefixCondition(db, db`finding.path`, path)}
          ${buildOpenCondition(db, pick, db`finding`)}
        order by finding.path collate "C"
        offset 0
      ) found
      where (select count(*) from newest) < ${limit}
        and found.id >= ${from}::uuid
        and found.id < ${before}::uuid
        ${buildFacetCondition(db, db`found`, selection)}
    ) found
    order by id desc
    limit ${limit}`
}

function pickOfNewest(db: Db, pick: Pick) {
  const { orgId, from, before, limit } = pick
  return newestWithin(
    db,
    pick,
    db`
      select finding.id, finding.path, finding.stream_id, finding.facet
      from findings finding
      where finding.org_id = ${orgId}
        and finding.id >= ${from}
        and finding.id < ${before}
        ${buildOpenCondition(db, pick, db`finding`)}
      order by finding.id desc
      limit ${limit * SEARCHED_PER_ROW}`,
  )
}

/** An issue has few findings. `offset 0` makes the planner read them by their issue. */
function pickOfIssue(db: Db, pick: Pick, issueId: string) {
  const { orgId, from, before } = pick
  return newestWithin(
    db,
    pick,
    db`
      select issue.id, issue.path, issue.stream_id, issue.facet
      from (
        select finding.id, finding.path, finding.stream_id, finding.facet
        from findings finding
        where finding.org_id = ${orgId}
          and finding.issue_id = ${issueId}
          ${buildOpenCondition(db, pick, db`finding`)}
        offset 0
      ) issue
      where issue.id >= ${from}
        and issue.id < ${before}`,
  )
}

/** The newest of these findings that match the filters by path, facet and stream. */
function newestWithin(db: Db, { orgId, limit, selection }: Pick, findings: ReturnType<Db>) {
  return db`
    select finding.id
    from (${findings}) finding
    where true
      ${buildPathCondition(db, selection.path)}
      ${buildFacetCondition(db, db`finding`, selection)}
      ${buildStreamCondition(db, orgId, selection)}
    order by finding.id desc
    limit ${limit}`
}
