import type { HostAlertName } from '../../codehosts/host-alert.ts'
import type { Tx } from '../../platform/db/sql.ts'

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

/** Reads an alert and locks it until the transaction ends. Returns null if it does not exist. */
export async function lockDismissible(tx: Tx, orgId: string, id: string): Promise<DismissibleAlert | null> {
  const [row] = await tx<DismissibleAlert[]>`
    select id, provider, repository_id, repository, type, number, status
    from security_alerts
    where org_id = ${orgId}
      and id = ${id}
    for update`
  return row ?? null
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
export type EndedDismissal = { org_id: string; id: string; call_id: string; isAccepted: boolean }

/** Records whether the host has accepted a pending dismissal. Returns null if nothing changed. */
export async function endDismissal(
  tx: Tx,
  { org_id, id, call_id, isAccepted }: EndedDismissal,
): Promise<DismissibleAlert | null> {
  const [row] = await tx<DismissibleAlert[]>`
    update security_alerts
    set own_delivery = ${isAccepted ? 'delivered' : 'failed'}, own_ended_call = ${call_id}, revision = revision + 1
    where org_id = ${org_id}
      and id = ${id}
      and own_delivery = 'pending'
      and own_ended_call is distinct from ${call_id}
    returning id, provider, repository_id, repository, type, number, status`
  return row ?? null
}
