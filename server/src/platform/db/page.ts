import type { Page, PageRow } from '../http/lists.ts'
import { getLowestUuid } from '../ids.ts'
import type { Query } from './client/query.ts'
import type { Fragment } from './client/template.ts'
import type { Db } from './sql.ts'

/** Rows of a list that are counted at most. */
const COUNTED_MAX = 10_000

type Asked = { page: Page; query: { count?: boolean } }

/**
 * How many rows a list has on all of its pages together, or null if the query does not ask. `list`
 * is its statement for a page. PostgreSQL does not make the JSON that nobody reads.
 */
export async function countRows(db: Db, { page, query }: Asked, list: (page: Page) => Fragment) {
  if (!query.count) return null
  const [row] = await db<[{ count: number }]>`
    select count(*)::integer as count
    from (${list({ ...page, limit: COUNTED_MAX, after: null })}) listed`
  return { count: Math.min(row.count, COUNTED_MAX), exact: row.count <= COUNTED_MAX }
}

/** The rows of a page, and how many there are on all pages. */
export async function listRows(db: Db, asked: Asked, list: (page: Page) => Query<PageRow[]>) {
  return { rows: await list(asked.page), matching: await countRows(db, asked, list) }
}

/**
 * SQL: true for rows that are not over, or were not before the start of the window. They are listed
 * whatever their age, unless the caller sent `since` (decisions §4).
 */
type OpenCondition = object | null

/**
 * The condition that selects one page of a list: the time window, and the rows after the last page.
 * `table` is the list's table or alias; it needs an index on (org_id, created_at, id) and an order
 * by created_at desc, id desc. What retention has not removed yet is all that is read for `isOpen`.
 */
export function buildPageCondition(db: Db, page: Page, table: ReturnType<Db>, isOpen: OpenCondition = null) {
  return db`
    ${buildWindowStart(db, page, db`${table}.created_at >= ${page.since}`, isOpen)}
    and ${buildPageEndCondition(db, page, { at: db`${table}.created_at`, id: db`${table}.id` })}`
}

/**
 * The condition for the end of a page with its newest rows. A later page ends at its position only,
 * which is never later than `until`: with both bounds, PostgreSQL starts to read the index at
 * `until`, and a page in the depth of a list would read all rows before it.
 */
export function buildPageEndCondition(
  db: Db,
  { until, after }: Page,
  { at, id }: { at: ReturnType<Db>; id: ReturnType<Db> },
) {
  return after ? db`(${at}, ${id}) < (${after.created_at}, ${after.id})` : db`${at} <= ${until}`
}

/**
 * The same for a list whose ids are version 7 UUIDs of the time of creation: an index on (org_id,
 * id) and an order by id desc are enough.
 */
export function buildTimedIdsCondition(db: Db, page: Page, table: ReturnType<Db>, isOpen: OpenCondition = null) {
  const { from, before } = getTimedIdRange(page)
  return db`
    ${buildWindowStart(db, page, db`${table}.id >= ${from}`, isOpen)}
    and ${table}.id < ${before}`
}

function buildWindowStart(db: Db, page: Page, isCreatedWithin: ReturnType<Db>, isOpen: OpenCondition): ReturnType<Db> {
  if (isOpen === null || !hasOpenStart(page)) return isCreatedWithin
  return db`(${isCreatedWithin} or ${isOpen as ReturnType<Db>})`
}

/** Whether the page also has what was created before its window and is not over. */
export function hasOpenStart({ asked: [since] }: Page): boolean {
  return since === null
}

/** The ids that a page can have: `from` and higher ones, up to but not including `before`. */
export function getTimedIdRange({ since, until, after }: Page): { from: string; before: string } {
  const end = getLowestUuid(new Date(until.getTime() + 1))
  return { from: getLowestUuid(since), before: after !== null && after.id < end ? after.id : end }
}
