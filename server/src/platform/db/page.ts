import type { Page } from '../http/lists.ts'
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
