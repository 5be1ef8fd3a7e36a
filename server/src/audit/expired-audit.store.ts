import { defineExpiringRows, type Expiring } from '../platform/db/expiring-rows.ts'

const entries = defineExpiringRows({
  kind: 'audit_entries',
  table: 'audit_entries',
  key: ['id'],
  order: 'at',
  isExpired: (db, { before }) => db`item.at < ${before}`,
})

/**
 * Entries that are older than the retention of the audit log. The database refuses every other
 * deletion of an entry, except with its organization.
 */
export const expiringAuditEntries: Expiring = {
  ...entries,
  async remove(tx, batch) {
    await tx`select set_config('shiplock.audit_expired_before', ${batch.before.toISOString()}, true)`
    return entries.remove(tx, batch)
  },
}
