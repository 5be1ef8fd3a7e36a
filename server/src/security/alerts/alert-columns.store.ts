import type { Db } from '../../platform/db/sql.ts'

/** The `dismissal_source` of an alert that was dismissed in Shiplock. */
const OWN_SOURCE = 'shiplock'

/** When an `alert` last changed: at its host, or by a dismissal or reopening in Shiplock. */
export function buildUpdatedAt(db: Db) {
  return db`greatest(alert.host_updated_at, case when alert.is_decided_here then alert.own_at end)`
}

/**
 * The dismissal of an `alert` that counts: ours or the host's. All null if Shiplock reopened it.
 */
export function buildDismissalColumns(db: Db) {
  const shown = (own: ReturnType<Db>, host: ReturnType<Db>) =>
    db`case when not alert.is_decided_here then ${host} when alert.own_status = 'dismissed' then ${own} end`
  return db`
    ${shown(db`alert.own_by`, db`alert.dismissed_by`)} as dismissed_by,
    ${shown(db`alert.own_reason`, db`alert.dismiss_reason`)} as dismiss_reason,
    ${shown(db`alert.own_comment`, db`alert.dismiss_comment`)} as dismiss_comment,
    rfc3339(${shown(db`alert.own_at`, db`alert.dismissed_at`)}) as dismissed_at,
    ${shown(db`alert.own_by_name`, db`alert.dismissed_by_name`)} as dismissed_by_name,
    case
      when alert.is_decided_here then case when alert.own_status = 'dismissed' then ${OWN_SOURCE} end
      when num_nonnulls(alert.dismissed_by, alert.dismiss_reason, alert.dismissed_at) > 0 then alert.provider
    end as dismissal_source`
}
