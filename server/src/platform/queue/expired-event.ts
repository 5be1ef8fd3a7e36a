import { DAY_MS } from '../clock.ts'
import { defineExpiringRows } from '../db/expiring-rows.ts'

/** Events are kept for as long in every plan. */
export const EVENTS_KEPT_MS = 30 * DAY_MS

export const expiringEvents = defineExpiringRows({
  kind: 'events',
  table: 'events',
  key: ['created_at', 'id'],
  order: 'created_at',
  isExpired: (db, { before }) => db`item.created_at < ${before}`,
})
