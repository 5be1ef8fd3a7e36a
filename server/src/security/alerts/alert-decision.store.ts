import type { HostAlertName } from '../../codehosts/host-alert.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { buildDismissalColumns } from './alert.store.ts'
import { type AlertRepository, lockAlerts } from './host-alert.store.ts'

/** An alert that is about to be dismissed or reopened, with the dismissal that counts now. */
export type DecidableAlert = HostAlertName & {
  id: string
  provider: string
  repository_id: string
  repository: string
  status: 'open' | 'dismissed' | 'fixed'
  dismiss_reason: string | null
  dismiss_comment: string | null
  finding_id: string | null
}

/** A dismissal or reopening in Shiplock. `reason` and `comment` are those of a dismissal. */
export type AlertDecision = {
  status: 'dismissed' | 'open'
  by: string
  by_name: string
  reason: string | null
  comment: string | null
  at: Date
}

/**
 * Locks the alerts of the repositories of these alerts until the transaction ends, and reads the
 * alerts. Alerts that do not exist are left out.
 */
export async function lockDecidable(tx: Tx, orgId: string, ids: readonly string[]): Promise<DecidableAlert[]> {
  const repositories = await tx<AlertRepository[]>`
    select distinct org_id, provider, repository_id
    from security_alerts
    where org_id = ${orgId}
      and id = any(${[...ids]}::text[])
    order by provider, repository_id`
  for (const repository of repositories) await lockAlerts(tx, repository)
  return tx<DecidableAlert[]>`
    select alert.id, alert.provider, alert.repository_id, alert.repository, alert.type, alert.number, alert.status,
      link.finding_id, ${buildDismissalColumns(tx)}
    from security_alerts alert
    left join alert_findings link on link.org_id = alert.org_id and link.alert_id = alert.id
    where alert.org_id = ${orgId}
      and alert.id = any(${[...ids]}::text[])
    order by alert.id`
}

/** A decision, and the call that tells the code host. */
type SentDecision = AlertDecision & { id: string; call_id: string | null }

/** Stores decisions that count until the host answers. They replace earlier ones. */
export async function upsertDecisions(tx: Tx, orgId: string, decisions: readonly SentDecision[]): Promise<void> {
  await tx`
    update security_alerts alert
    set own_status = decided.status, own_by = decided.by, own_by_name = decided.by_name, own_reason = decided.reason,
      own_comment = decided.comment, own_at = decided.at, own_call = decided.call_id,
      own_host_updated_at = alert.host_updated_at, own_delivery = 'pending', is_proposed = false,
      revision = alert.revision + 1
    from json_to_recordset(${tx.json(decisions)}::json) as decided (
      id text, status text, "by" text, by_name text, reason text, comment text, at timestamptz, call_id uuid
    )
    where alert.org_id = ${orgId}
      and alert.id = decided.id`
}

/** How the call of a decision ended. */
type EndedDecision = { org_id: string; id: string; call_id: string; isAccepted: boolean }

/** Records whether the host has accepted the newest decision. Returns whether anything changed. */
export async function updateDecisionOutcome(
  tx: Tx,
  { org_id, id, call_id, isAccepted }: EndedDecision,
): Promise<boolean> {
  const rows = await tx`
    update security_alerts
    set own_delivery = ${isAccepted ? 'delivered' : 'failed'}, revision = revision + 1
    where org_id = ${org_id}
      and id = ${id}
      and own_delivery = 'pending'
      and own_call = ${call_id}`
  return rows.count > 0
}

/** Selects the findings of these alerts with the status and the dismissal that count now. */
export function buildShownAlerts(tx: Tx, orgId: string, ids: readonly string[]): ReturnType<Tx> {
  return tx`
    select link.finding_id, alert.status, ${buildDismissalColumns(tx)}
    from security_alerts alert
    join alert_findings link on link.org_id = alert.org_id and link.alert_id = alert.id
    where alert.org_id = ${orgId}
      and alert.id = any(${[...ids]}::text[])`
}
