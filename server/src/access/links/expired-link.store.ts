import { DAY_MS } from '../../platform/clock.ts'
import type { ExpiringShared } from '../../platform/db/expiring-rows.ts'
import type { Db } from '../../platform/db/sql.ts'

const KEPT_MS = 90 * DAY_MS

/**
 * Links that were used, revoked or replaced, or that can no longer be used. An invitation that was
 * not accepted stays, because it is listed and can be renewed.
 */
export const expiringLinks: ExpiringShared = {
  kind: 'links',
  async count(db, at) {
    const [row] = await db<[{ count: number }]>`
      select count(*) as count
      ${oldLinks(db, at)}`
    return row.count
  },
  async remove(tx, at, limit) {
    const { count } = await tx`
      delete from links
      where id in (
        select id
        ${oldLinks(tx, at)}
        limit ${limit}
      )`
    return count
  },
}

function oldLinks(db: Db, at: Date): ReturnType<Db> {
  return db`
    from links
    where coalesce(closed_at, case when kind <> 'invitation' then expires_at end) < ${new Date(at.getTime() - KEPT_MS)}`
}
