import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'

/** Issued statements. What they are about is older than they are, and has expired, too. */
export const expiringStatements = defineExpiringRows({
  kind: 'statements',
  table: 'statements',
  key: ['kind', 'subject_id', 'facts'],
  order: 'issued_at',
  isExpired: (db, { before }) => db`item.issued_at < ${before}`,
})
