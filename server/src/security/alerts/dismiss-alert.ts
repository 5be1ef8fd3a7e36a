import { type Principal, recordAudit } from '../../audit/audit.store.ts'
import { type callEnded, requestCall } from '../../codehosts/calls/request-call.ts'
import { findConnectionOfRepository } from '../../codehosts/connections/connection.store.ts'
import type { DismissReason } from '../../codehosts/host-alert.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, notFound } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { boundedText } from '../vocabulary/bounded-text.ts'
import { type DismissibleAlert, endDismissal, lockDismissible, storeDismissal } from './dismissal.store.ts'
import { readAlertJob } from './read-alert.job.ts'
import { reconcileAlertsJob } from './reconcile-alerts.job.ts'

/** Code hosts accept no longer comments. */
export const COMMENT_CHARS_MAX = 280

export type DismissRequest = { id: string; reason: DismissReason; comment: string | null }

/**
 * Dismisses an open alert at once, and sends the dismissal to the code host. Throws 400
 * `invalid_request`, 404 `not_found`, 409 `not_open`, and 409 `not_connected` if the repository of
 * the alert is not connected.
 */
export async function dismissAlert(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  principal: Principal,
  request: DismissRequest,
): Promise<void> {
  const comment = requireComment(request.comment)
  const now = clock.now()
  await sql.begin(async (tx) => {
    const alert = await lockDismissible(tx, orgId, request.id)
    if (alert === null) throw notFound('alert')
    if (alert.status !== 'open') throw new ApiError(409, 'not_open', `The alert is ${alert.status}.`)
    const { id: by, name: by_name } = principal
    const { reason } = request
    await storeDismissal(tx, orgId, alert.id, { by: by ?? by_name, by_name, reason, comment, at: now })
    await sendDismissal(tx, orgId, alert, { reason, comment, now })
    const object = { type: 'alert', id: alert.id }
    const entry = { principal, action: 'alert.dismiss', object, reason: comment, details: { reason } }
    await recordAudit(tx, orgId, entry, now)
    await enqueue(tx, reconcileAlertsJob, repositoryOf(orgId, alert))
  })
}

function requireComment(comment: string | null): string | null {
  if (comment === null || comment.length <= COMMENT_CHARS_MAX) return boundedText(comment, COMMENT_CHARS_MAX)
  throw invalidField('/comment', `must not be longer than ${COMMENT_CHARS_MAX} characters`)
}

async function sendDismissal(
  tx: Tx,
  orgId: string,
  { id, provider, repository_id, repository, type, number }: DismissibleAlert,
  { reason, comment, now }: { reason: DismissReason; comment: string | null; now: Date },
): Promise<void> {
  const connection = await findConnectionOfRepository(tx, orgId, provider, repository_id)
  if (connection === null || connection.status === 'removed')
    throw new ApiError(409, 'not_connected', `The repository ${repository} is not connected.`)
  await requestCall(
    tx,
    {
      org_id: orgId,
      connection_id: connection.id,
      idempotency_key: `dismissal ${newUuid(now)}`,
      subject: { type: 'alert', id },
      action: {
        type: 'dismissal',
        repository: { id: repository_id, full_name: repository },
        alert: { type, number },
        reason,
        comment,
      },
    },
    now,
  )
}

type CallEnded = NonNullable<(typeof callEnded)['carries']>

/**
 * After the call of a dismissal ended: the dismissal is delivered, or the state of the host counts
 * again. The alert is read, because the host may have changed it in the meantime.
 */
export async function settleDismissal(
  { sql }: Pick<Services, 'sql'>,
  { org_id, call_id, subject_type, subject_id, outcome }: CallEnded,
): Promise<void> {
  if (subject_type !== 'alert') return
  await sql.begin(async (tx) => {
    const alert = await lockDismissible(tx, org_id, subject_id)
    const ended = { org_id, id: subject_id, call_id, isAccepted: outcome === 'done' }
    if (alert === null || !(await endDismissal(tx, ended))) return
    const repository = repositoryOf(org_id, alert)
    await enqueue(tx, reconcileAlertsJob, repository)
    await enqueue(tx, readAlertJob, { ...repository, type: alert.type, number: alert.number })
  })
}

function repositoryOf(orgId: string, { provider, repository_id }: DismissibleAlert) {
  return { org_id: orgId, provider, repository_id }
}
