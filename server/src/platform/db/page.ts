import type { Page } from '../http/lists.ts'
import { lowestUuidAt } from '../ids.ts'
import type { Db } from './sql.ts'

/**
 * The condition that makes a list one page: the window, and what stands after the page before. `table` is the list's
 * table or alias; it needs an index on (org_id, created_at, id) and an order by created_at desc, id desc.
 */
export function pageOf(db: Db, page: Page, table: ReturnType<Db>) {
  const after = page.after
  return db`
    ${table}.created_at >= ${page.since}
    and ${table}.created_at <= ${page.until}
    ${after ? db`and (${table}.created_at, ${table}.id) < (${after.created_at}, ${after.id})` : db``}`
}

/**
 * The same where ids are version 7 UUIDs of the moment of creation: they hold the time, so that the table needs an index on
 * (org_id, id) alone, and an order by id desc.
 */
export function pageOfTimedIds(db: Db, page: Page, table: ReturnType<Db>) {
  const after = page.after
  return db`
    ${windowOfTimedIds(db, page, table)}
    ${after ? db`and ${table}.id < ${after.id}` : db``}`
}

/** The window alone, for a list that is sorted by something else before its age. */
export function windowOfTimedIds(db: Db, { since, until }: Page, table: ReturnType<Db>) {
  return db`
    ${table}.id >= ${lowestUuidAt(since)}
    and ${table}.id < ${lowestUuidAt(new Date(until.getTime() + 1))}`
}
