import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'

/** Calls of code hosts that have ended. */
export const expiringCalls = defineExpiringRows({
  kind: 'codehost_calls',
  table: 'codehost_calls',
  key: ['id'],
  order: 'created_at',
  isExpired: (db, { before }) => db`item.created_at < ${before} and item.status <> 'pending'`,
})
