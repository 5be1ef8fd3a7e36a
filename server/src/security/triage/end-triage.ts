import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { statedByDocument, triagedAgain, triageEnded } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { buildShownAlerts, lockDecidable } from '../alerts/alert-decision.store.ts'
import { decideAlerts, getAuthor, getRepositoryName, listAlertConnections } from '../alerts/decide-alerts.ts'
import { findEdit, listLaterEdits } from '../issues/issue-edit.store.ts'
import { undoEdit } from '../issues/undo-edit.ts'
import { updateFindingsOfEnded, updateShownStatus } from '../writing/finding-writing.store.ts'
import { listLaterTriages, listTriagedRepositories, lockTriage, updateEndedTriages } from '../writing/triage.store.ts'
import { refreshTriaged, waitForRepositories } from '../writing/write-triage.ts'
import { listTriagedAlerts, type TriagedAlert } from './target.store.ts'

type End = { id: string; as: 'undone' | 'expired'; principal: Principal; at: Date }

/**
 * Ends a dismissal or reopening: its findings and alerts are again as they would be without it. The
 * repositories must be locked (`lockTriaged`).
 */
export async function closeTriage(tx: Tx, orgId: string, end: End): Promise<void> {
  const { id, as, principal, at } = end
  await updateEndedTriages(tx, orgId, [id], { as, by: { id: principal.id, name: principal.name }, at })
  const issueIds = [...(await updateFindingsOfEnded(tx, orgId, [id], at)), ...(await returnAlerts(tx, orgId, end))]
  await refreshTriaged(tx, orgId, issueIds, at)
  const action = as === 'undone' ? 'triage.undo' : 'triage.expire'
  await insertAuditEntry(tx, orgId, { principal, action, object: { type: 'triage', id }, reason: null }, at)
}

/**
 * Gives alerts the status that they had, unless they are fixed or have it already. Alerts of
 * repositories that are no longer connected stay as they are. Returns the issues to refresh.
 */
async function returnAlerts(tx: Tx, orgId: string, { id, principal, at }: End): Promise<string[]> {
  const triaged = await listTriagedAlerts(tx, orgId, id)
  if (triaged.length === 0) return []
  const before = new Map(triaged.map((alert) => [alert.alert_id, alert]))
  const alerts = await lockDecidable(tx, orgId, [...before.keys()])
  const connections = await listAlertConnections(tx, orgId, alerts)
  const returned = alerts.flatMap((alert) => {
    const { status_before: status, reason_before, comment_before } = before.get(alert.id) as TriagedAlert
    if (alert.status === 'fixed' || alert.status === status || !connections.has(getRepositoryName(alert))) return []
    const dismissal = status === 'dismissed' ? { reason: reason_before, comment: comment_before } : UNSTATED
    return { alert, decision: { ...getAuthor(principal), ...dismissal, status, at } }
  })
  await decideAlerts(tx, orgId, returned)
  const ids = returned.map(({ alert }) => alert.id)
  return updateShownStatus(tx, orgId, buildShownAlerts(tx, orgId, ids), at)
}

const UNSTATED = { reason: null, comment: null }

/**
 * Undoes a triage. Throws 404 `not_found`, 409 `stated_by_document` for a triage of a VEX document,
 * 409 `triage_ended` if it was undone or has expired, 409 `triaged_again` if a finding or alert of
 * it was triaged later, and 503 `unavailable`.
 */
export async function undoTriage(
  { sql, clock, ruleMap }: Pick<Services, 'sql' | 'clock' | 'ruleMap'>,
  orgId: string,
  principal: Principal,
  id: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    const edit = await findEdit(tx, orgId, id)
    const repositoryNos = edit === null ? await listTriagedRepositories(tx, orgId, id) : [edit.repository_no]
    await waitForRepositories(tx, orgId, repositoryNos)
    const triage = await lockTriage(tx, orgId, id)
    if (triage === null) throw createNotFoundError('triage')
    if (triage.source !== 'shiplock') throw statedByDocument()
    if (triage.ended_as !== null) throw triageEnded(triage.ended_as)
    const later = await (edit === null ? listLaterTriages : listLaterEdits)(tx, orgId, id)
    if (later.length > 0) throw triagedAgain(later)
    const at = clock.now()
    const { action } = triage
    if (action === 'split' || action === 'merge') {
      const undone = { org_id: orgId, triage_id: id, action, by: principal.name, at }
      await refreshTriaged(tx, orgId, await undoEdit(tx, ruleMap, undone), at)
    }
    await closeTriage(tx, orgId, { id, as: 'undone', principal, at })
  })
}
