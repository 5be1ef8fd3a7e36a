import { defineExpiringWithParts, deleteBy } from '../../platform/db/expiring-rows.ts'

/** Alerts that are closed at the code host, and have not changed since the retention. */
export const expiringAlerts = defineExpiringWithParts(
  {
    kind: 'alerts',
    table: 'security_alerts',
    order: 'created_at',
    isExpired: (db, { before }) => db`
      item.created_at < ${before}
      and item.status <> 'open'
      and item.host_status <> 'open'
      and item.host_updated_at < ${before}
      and (item.fixed_at is null or item.fixed_at < ${before})
      and (item.own_at is null or (item.own_at < ${before} and item.own_delivery is distinct from 'pending'))`,
  },
  (tx, orgId, ids) => deleteBy(tx, { tables: ['triage_alerts', 'alert_findings'], column: 'alert_id' }, orgId, ids),
)
