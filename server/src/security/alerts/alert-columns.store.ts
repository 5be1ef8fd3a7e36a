import type { Db } from '../../platform/db/sql.ts'

/** Where Shiplock itself dismissed an alert, this is its `dismissal_source`. */
const OWN_SOURCE = 'shiplock'

/** When an `alert` last changed: at its host, or by our dismissal. */
export function updatedAt(db: Db) {
  return db`greatest(alert.host_updated_at, case when alert.is_dismissed_here then alert.own_dismissed_at end)`
}

/** The dismissal of an `alert` that counts: ours or the host's. */
export function dismissalColumns(db: Db) {
  const shown = (own: ReturnType<Db>, host: ReturnType<Db>) =>
    db`case when alert.is_dismissed_here then ${own} else ${host} end`
  return db`
    ${shown(db`alert.own_dismissed_by`, db`alert.dismissed_by`)} as dismissed_by,
    ${shown(db`alert.own_dismiss_reason`, db`alert.dismiss_reason`)} as dismiss_reason,
    ${shown(db`alert.own_dismiss_comment`, db`alert.dismiss_comment`)} as dismiss_comment,
    rfc3339(${shown(db`alert.own_dismissed_at`, db`alert.dismissed_at`)}) as dismissed_at,
    ${shown(db`alert.own_dismissed_by_name`, db`alert.dismissed_by_name`)} as dismissed_by_name,
    case
      when alert.is_dismissed_here then ${OWN_SOURCE}
      when num_nonnulls(alert.dismissed_by, alert.dismiss_reason, alert.dismissed_at) > 0 then alert.provider
    end as dismissal_source`
}
