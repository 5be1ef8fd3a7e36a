import type { HostAlertName } from '../../codehosts/host-alert.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { type AlertRepository, lockAlerts } from './host-alert.store.ts'

/** An alert that is about to be dismissed. */
export type DismissibleAlert = HostAlertName & {
  id: string
  provider: string
  repository_id: string
  repository: string
  status: string
}

/** A dismissal in Shiplock. */
export type Dismissal = { by: string; by_name: string; reason: string; comment: string | null; at: Date }

/**
 * Locks the alerts of an alert's repository until the transaction ends, and reads the alert.
 * Returns null if it does not exist.
 */
export async function lockDismissible(tx: Tx, orgId: string, id: string): Promise<DismissibleAlert | null> {
  const [found] = await tx<AlertRepository[]>`
    select org_id, provider, repository_id
    from security_alerts
    where org_id = ${orgId}
      and id = ${id}`
  if (found === undefined) return null
  await lockAlerts(tx, found)
  const [alert] = await tx<DismissibleAlert[]>`
    select id, provider, repository_id, repository, type, number, status
    from security_alerts
    where org_id = ${orgId}
      and id = ${id}`
  return alert ?? null
}

/** Stores a dismissal that counts until the host answers. It replaces an earlier one. */
export async function storeDismissal(tx: Tx, orgId: string, id: string, dismissal: Dismissal): Promise<void> {
  await tx`
    update security_alerts
    set own_dismissed_by = ${dismissal.by}, own_dismissed_by_name = ${dismissal.by_name},
      own_dismiss_reason = ${dismissal.reason}, own_dismiss_comment = ${dismissal.comment},
      own_dismissed_at = ${dismissal.at}, own_host_updated_at = host_updated_at, own_delivery = 'pending',
      revision = revision + 1
    where org_id = ${orgId}
      and id = ${id}`
}

/** How the call of a dismissal ended. The same call again changes nothing. */
type EndedDismissal = { org_id: string; id: string; call_id: string; isAccepted: boolean }

/** Records whether the host has accepted a pending dismissal. Returns whether anything changed. */
export async function endDismissal(tx: Tx, { org_id, id, call_id, isAccepted }: EndedDismissal): Promise<boolean> {
  const rows = await tx`
    update security_alerts
    set own_delivery = ${isAccepted ? 'delivered' : 'failed'}, own_ended_call = ${call_id}, revision = revision + 1
    where org_id = ${org_id}
      and id = ${id}
      and own_delivery = 'pending'
      and own_ended_call is distinct from ${call_id}`
  return rows.count > 0
}
