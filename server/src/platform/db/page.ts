import type { Page } from '../http/lists.ts'
import { lowestUuidAt } from '../ids.ts'
import type { Db } from './sql.ts'

/**
 * The condition for one page of a list: the window, and the rows after the previous page. `table`
 * is the table or alias. It needs an index on (org_id, created_at, id) and an order by created_at
 * desc, id desc.
 */
export function pageOf(db: Db, page: Page, table: ReturnType<Db>) {
  const after = page.after
  return db`
    ${table}.created_at >= ${page.since}
    and ${table}.created_at <= ${page.until}
    ${after ? db`and (${table}.created_at, ${table}.id) < (${after.created_at}, ${after.id})` : db``}`
}

/**
 * The same for tables whose ids are version 7 UUIDs of the time of creation. The ids contain the
 * time, so an index on (org_id, id) and an order by id desc suffice.
 */
export function pageOfTimedIds(db: Db, page: Page, table: ReturnType<Db>) {
  const after = page.after
  return db`
    ${windowOfTimedIds(db, page, table)}
    ${after ? db`and ${table}.id < ${after.id}` : db``}`
}

/** The window only, for a list that is sorted by something else first. */
export function windowOfTimedIds(db: Db, { since, until }: Page, table: ReturnType<Db>) {
  return db`
    ${table}.id >= ${lowestUuidAt(since)}
    and ${table}.id < ${lowestUuidAt(new Date(until.getTime() + 1))}`
}
