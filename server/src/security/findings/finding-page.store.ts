import { timedIdsOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import { ofProvider } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repositories.ts'
import {
  facetsOf,
  type FindingFilters,
  narrowsFacets,
  narrowsStreams,
  ofFacets,
  ofPath,
  ofStreams,
  pathRanges,
  streamsOf,
} from './finding-filter.store.ts'

export type FindingSelection = RepositorySelection & FindingFilters

/** What a page is picked from. Ids are version 7 UUIDs, so `from` and `before` are times as well. */
type Pick = { orgId: string; from: string; before: string; limit: number; selection: FindingSelection }

type Expression = ReturnType<typeof ofPath>

/**
 * The ids of a page, and one more where there is a next page. Each way to pick them reads an index
 * in the order of the ids or reads only findings that match the most selective filter, so that a
 * rare value does not read all findings of the organization.
 */
export function pickPage(db: Db, orgId: string, page: Page, selection: FindingSelection): Expression {
  const { from, before } = timedIdsOf(seenSince(page, selection.firstSeenSince))
  const pick: Pick = { orgId, from, before, limit: page.limit + 1, selection }
  if (selection.issueId !== null) return pickOfIssue(db, pick, selection.issueId)
  if (selection.path !== null) return pickByPath(db, pick, selection.path)
  const hasFacets = narrowsFacets(selection)
  const isOfSome = selection.repositoryNos !== null || selection.provider !== null
  if (narrowsStreams(selection) || (hasFacets && isOfSome)) return pickByStream(db, pick)
  if (hasFacets) return pickByFacet(db, pick)
  return selection.repositoryNos === null ? pickByAge(db, pick) : pickByRepository(db, pick, selection.repositoryNos)
}

/** A finding is created when it is first seen. */
function seenSince(page: Page, time: Date | null): Page {
  return time !== null && time > page.since ? { ...page, since: time } : page
}

function pickByAge(db: Db, { orgId, from, before, limit, selection }: Pick) {
  return db`
    select finding.id
    from findings finding
    where finding.org_id = ${orgId}
      and finding.id >= ${from}
      and finding.id < ${before}
      ${ofProvider(db, db`finding`, selection.provider)}
    order by finding.id desc
    limit ${limit}`
}

function pickByRepository(db: Db, pick: Pick, repositoryNos: number[]) {
  const lists = db`unnest(${repositoryNos}::bigint[]) list (no)`
  return newestOf(db, { ...pick, lists, column: db`repository_no`, condition: db`` })
}

function pickByFacet(db: Db, pick: Pick) {
  const lists = db`(${facetsOf(db, pick.selection)}) list (no)`
  return newestOfMany(db, { ...pick, lists, column: db`facet`, condition: db`` })
}

function pickByStream(db: Db, pick: Pick) {
  const lists = db`(${streamsOf(db, pick.orgId, pick.selection)}) list (no)`
  return newestOfMany(db, {
    ...pick,
    lists,
    column: db`stream_id`,
    condition: ofFacets(db, db`finding`, pick.selection),
  })
}

/** Lists of findings in the order of their ids, one for each number, by an index on the column. */
type Lists = Omit<Pick, 'selection'> & { lists: Expression; column: Expression; condition: Expression }

/**
 * The newest of each list, and of these the newest. Number and id are compared and sorted as one
 * row, although the number is constant: only one index has this order, so the planner needs no
 * statistics to choose it.
 */
function newestOf(db: Db, { lists, limit, ...list }: Lists, floor: Expression = db`${list.from}::uuid`) {
  return db`
    select found.id
    from ${lists}
    cross join lateral (
      ${readList(db, list, floor)}
      limit ${limit}
    ) found
    order by found.id desc
    limit ${limit}`
}

/**
 * The same for many lists. To read few rows, it first looks for an id that all ids of the page
 * reach: if `lists` have their nth newest finding at or after an id, `lists` times n findings are.
 */
function newestOfMany(db: Db, { limit, ...list }: Lists) {
  const nth = Math.ceil(Math.sqrt(limit))
  const lists = Math.ceil(limit / nth)
  const floor = db`coalesce((select id from page_floor), ${list.from}::uuid)`
  return db`
    with list as materialized (
      select no
      from ${list.lists}
    ),
    page_floor as materialized (
      select found.id
      from list
      cross join lateral (
        ${readList(db, list, db`${list.from}::uuid`)}
        limit 1
        offset ${nth - 1}
      ) found
      order by found.id desc
      limit 1
      offset ${lists - 1}
    )
    ${newestOf(db, { ...list, limit, lists: db`list` }, floor)}`
}

function readList(db: Db, { orgId, column, before, condition }: Omit<Lists, 'lists' | 'limit'>, floor: Expression) {
  return db`
    select finding.id
    from findings finding
    where finding.org_id = ${orgId}
      and (finding.${column}, finding.id) >= (list.no, ${floor})
      and (finding.${column}, finding.id) < (list.no, ${before}::uuid)
      ${condition}
    order by finding.${column} desc, finding.id desc`
}

/** So many of the newest findings are searched for a path, for each row of a page. */
const SEARCHED_PER_ROW = 10

/**
 * A frequent path fills a page with the newest findings. For a rare one, the index by path has all
 * findings that match. Its order and `offset 0` make the planner read them by this index.
 */
function pickByPath(db: Db, pick: Pick, path: string) {
  const { orgId, from, before, limit, selection } = pick
  return db`
    with newest as materialized (${pickOfNewest(db, pick, path)})
    select id
    from (
      select id
      from newest
      where (select count(*) from newest) = ${limit}
      union all
      select found.id
      from (${streamsOf(db, orgId, selection)} offset 0) stream
      cross join ${pathRanges(db, path)}
      cross join lateral (
        select finding.id, finding.facet
        from findings finding
        where finding.org_id = ${orgId}
          and finding.stream_id = stream.id
          and finding.path collate "C" >= range.first
          and finding.path collate "C" < range.beyond
        order by finding.path collate "C"
        offset 0
      ) found
      where (select count(*) from newest) < ${limit}
        and found.id >= ${from}::uuid
        and found.id < ${before}::uuid
        ${ofFacets(db, db`found`, selection)}
    ) found
    order by id desc
    limit ${limit}`
}

function pickOfNewest(db: Db, { orgId, from, before, limit, selection }: Pick, path: string) {
  return db`
    select finding.id
    from (
      select finding.id, finding.path, finding.stream_id, finding.facet
      from findings finding
      where finding.org_id = ${orgId}
        and finding.id >= ${from}
        and finding.id < ${before}
      order by finding.id desc
      limit ${limit * SEARCHED_PER_ROW}
    ) finding
    where true
      ${ofPath(db, path)}
      ${ofFacets(db, db`finding`, selection)}
      ${ofStreams(db, orgId, selection)}
    order by finding.id desc
    limit ${limit}`
}

/** An issue has few findings. `offset 0` makes the planner read them by their issue. */
function pickOfIssue(db: Db, { orgId, from, before, limit, selection }: Pick, issueId: string) {
  return db`
    select finding.id
    from (
      select finding.id, finding.path, finding.stream_id, finding.facet
      from findings finding
      where finding.org_id = ${orgId}
        and finding.issue_id = ${issueId}
      offset 0
    ) finding
    where finding.id >= ${from}
      and finding.id < ${before}
      ${ofPath(db, selection.path)}
      ${ofFacets(db, db`finding`, selection)}
      ${ofStreams(db, orgId, selection)}
    order by finding.id desc
    limit ${limit}`
}
