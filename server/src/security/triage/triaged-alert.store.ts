import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DecidableAlert } from '../alerts/alert-decision.store.ts'

/** Records the alerts that a triage changes, with their dismissal before. */
export async function insertTriagedAlerts(
  tx: Tx,
  orgId: string,
  triageId: string,
  alerts: readonly DecidableAlert[],
): Promise<void> {
  if (alerts.length === 0) return
  await tx`
    insert into triage_alerts (org_id, triage_id, alert_id, status_before, reason_before, comment_before)
    select ${orgId}, ${triageId}, alert.*
    from unnest(
      ${alerts.map(({ id }) => id)}::text[], ${alerts.map(({ status }) => status)}::text[],
      ${alerts.map(({ dismiss_reason }) => dismiss_reason)}::text[],
      ${alerts.map(({ dismiss_comment }) => dismiss_comment)}::text[]
    ) as alert (id, status, reason, comment)`
}

/** An alert that a triage changed, and its dismissal before. */
export type TriagedAlert = {
  alert_id: string
  status_before: 'open' | 'dismissed'
  reason_before: string | null
  comment_before: string | null
}

export async function listTriagedAlerts(db: Db, orgId: string, triageId: string): Promise<TriagedAlert[]> {
  return db<TriagedAlert[]>`
    select alert_id, status_before, reason_before, comment_before
    from triage_alerts
    where org_id = ${orgId}
      and triage_id = ${triageId}
    order by no`
}
