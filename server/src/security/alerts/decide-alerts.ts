import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import type { HostAction } from '../../codehosts/code-host.ts'
import { findConnectionOfRepository } from '../../codehosts/connections/connection.store.ts'
import { type CallEnded, enqueueCall } from '../../codehosts/connections/send-call.job.ts'
import type { DismissReason } from '../../codehosts/host-alert.ts'
import { notConnected, notOpen } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import { truncateText } from '../vocabulary/bounded-text.ts'
import {
  type AlertDecision,
  type DecidableAlert,
  lockDecidable,
  updateDecisionOutcome,
  upsertDecisions,
} from './alert-decision.store.ts'
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
  if (request.comment !== null && request.comment.length > COMMENT_CHARS_MAX) {
    throw createInvalidFieldError('/comment', `must not be longer than ${COMMENT_CHARS_MAX} characters`)
  }
  const comment = truncateText(request.comment, COMMENT_CHARS_MAX)
  const now = clock.now()
  await sql.begin(async (tx) => {
    const [alert] = await lockDecidable(tx, orgId, [request.id])
    if (alert === undefined) throw createNotFoundError('alert')
    if (alert.status !== 'open') throw notOpen(`The alert is ${alert.status}.`)
    const { reason } = request
    const decision = { ...getAuthor(principal), status: 'dismissed', reason, comment, at: now } as const
    await decideAlerts(tx, orgId, [{ alert, decision }])
    const object = { type: 'alert', id: alert.id }
    const entry = { principal, action: 'alert.dismiss', object, reason: comment, details: { reason } }
    await insertAuditEntry(tx, orgId, entry, now)
  })
}

export function getAuthor({ id, name }: Principal): Pick<AlertDecision, 'by' | 'by_name'> {
  return { by: id ?? name, by_name: name }
}

/**
 * Dismisses or reopens alerts at once, and sends each decision to the code host. The alerts must be
 * locked by `lockDecidable`. Throws 409 `not_connected` if a repository is not connected.
 */
export async function decideAlerts(
  tx: Tx,
  orgId: string,
  decided: readonly { alert: DecidableAlert; decision: AlertDecision }[],
): Promise<void> {
  if (decided.length === 0) return
  const connections = await listAlertConnections(
    tx,
    orgId,
    decided.map(({ alert }) => alert),
  )
  const sent = await Promise.all(
    decided.map(async ({ alert, decision: given }) => {
      const comment = given.comment === null ? null : truncate(given.comment, COMMENT_CHARS_MAX)
      const decision = { ...given, comment }
      const connection_id = connections.get(getRepositoryName(alert)) ?? null
      if (connection_id === null) throw notConnected(alert.repository, alert.id)
      const call_id = await enqueueCall(tx, toCall(orgId, connection_id, alert, decision), decision.at)
      return { ...decision, id: alert.id, call_id }
    }),
  )
  await upsertDecisions(tx, orgId, sent)
  const repositories = new Map(decided.map(({ alert }) => [getRepositoryName(alert), toAlertRepository(orgId, alert)]))
  for (const repository of repositories.values()) await enqueue(tx, reconcileAlertsJob, repository)
}

/** The connection of each repository of these alerts. Repositories without one are left out. */
export async function listAlertConnections(
  tx: Tx,
  orgId: string,
  alerts: readonly DecidableAlert[],
): Promise<Map<string, string>> {
  const connections = new Map<string, string>()
  const byRepository = new Map(alerts.map((alert) => [getRepositoryName(alert), alert]))
  for (const [name, { provider, repository_id }] of byRepository) {
    const connection = await findConnectionOfRepository(tx, orgId, provider, repository_id)
    if (connection !== null && connection.status !== 'removed') connections.set(name, connection.id)
  }
  return connections
}

export function getRepositoryName({ provider, repository_id }: DecidableAlert): string {
  return `${provider} ${repository_id}`
}

function toCall(orgId: string, connection_id: string, alert: DecidableAlert, decision: AlertDecision) {
  const { type, number, repository_id, repository: full_name } = alert
  const target = { repository: { id: repository_id, full_name }, alert: { type, number } }
  const { status, reason, comment } = decision
  const action: HostAction =
    status === 'open'
      ? { type: 'reopening', ...target }
      : { type: 'dismissal', ...target, reason: reason as string, comment }
  return {
    org_id: orgId,
    connection_id,
    idempotency_key: `dismissal ${createUuid(decision.at)}`,
    subject: { type: 'alert', id: alert.id } as const,
    action,
  }
}

/**
 * After the call of a dismissal or reopening ended: it is delivered, or the state of the host
 * counts again. The alert is read, because the host may have changed it in the meantime.
 */
export async function settleDismissal(
  { sql }: Pick<Services, 'sql'>,
  { org_id, call_id, subject_type, subject_id, outcome }: CallEnded,
): Promise<void> {
  if (subject_type !== 'alert') return
  await sql.begin(async (tx) => {
    const [alert] = await lockDecidable(tx, org_id, [subject_id])
    const ended = { org_id, id: subject_id, call_id, isAccepted: outcome === 'done' }
    if (alert === undefined || !(await updateDecisionOutcome(tx, ended))) return
    const repository = toAlertRepository(org_id, alert)
    await enqueue(tx, reconcileAlertsJob, repository)
    await enqueue(tx, readAlertJob, { ...repository, type: alert.type, number: alert.number })
  })
}

function toAlertRepository(orgId: string, { provider, repository_id }: DecidableAlert) {
  return { org_id: orgId, provider, repository_id }
}
