import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { notDismissed, notOpen } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, missing } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { buildShownAlerts, type DecidableAlert, lockDecidable } from '../alerts/alert-decision.store.ts'
import { decideAlerts, getAuthor, getRepositoryName, listAlertConnections } from '../alerts/decide-alerts.ts'
import { truncateText } from '../vocabulary/bounded-text.ts'
import { updateShownStatus, updateTriagedFindings } from '../writing/finding-writing.store.ts'
import { insertTriage, type NewTriage, type TriageTarget } from '../writing/triage.store.ts'
import { refreshTriaged, waitForRepositories } from '../writing/write-triage.ts'
import { insertTriagedAlerts, listTargetFindings, listTargetRepositories, type TargetFinding } from './target.store.ts'
import { type NewTriageRequest, TRIAGE_COMMENT_MAX } from './triage.schema.ts'

type Decision = NewTriage & { action: 'dismiss' | 'reopen' }

/**
 * Dismisses or reopens findings, issues or alerts: all of them, or none. Returns the id of the
 * triage. Throws 400 `invalid_request`, 404 `not_found`, 409 `not_open`, `not_dismissed` or
 * `not_connected`, and 503 `unavailable`.
 */
export async function createTriage(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  principal: Principal,
  request: NewTriageRequest,
): Promise<string> {
  const decision = toDecision(request, principal, clock.now())
  return sql.begin(async (tx) => {
    const selection = await lockAndSelect(tx, orgId, decision)
    refuse(decision, selection)
    if (decision.scope === 'vulnerability' && !selection.areVulnerabilities)
      throw createInvalidFieldError('/body/scope', 'is only for vulnerabilities of packages')
    const triageId = await insertTriage(tx, orgId, decision)
    await apply(tx, orgId, { triageId, selection, decision, principal })
    const { action, target, scope, reason, comment, expires_at, at } = decision
    const details = { target_type: target.type, target_ids: target.ids, scope, reason, expires_at }
    const object = { type: 'triage', id: triageId }
    await insertAuditEntry(tx, orgId, { principal, action: `triage.${action}`, object, reason: comment, details }, at)
    return triageId
  })
}

function toDecision(request: NewTriageRequest, { id, name }: Principal, at: Date): Decision {
  const { action, reason = null, comment = null, scope = 'issue' } = request
  const expires = request.expires_at ?? null
  if (action === 'dismiss' && reason === null)
    throw createInvalidFieldError('/body/reason', 'is required for a dismissal')
  if (action === 'reopen' && reason !== null) throw createInvalidFieldError('/body/reason', 'is only for a dismissal')
  if (action === 'reopen' && expires !== null)
    throw createInvalidFieldError('/body/expires_at', 'is only for a dismissal')
  if (action === 'reopen' && scope !== 'issue') throw createInvalidFieldError('/body/scope', 'is only for a dismissal')
  const expires_at = expires === null ? null : new Date(expires)
  if (expires_at !== null && expires_at <= at)
    throw createInvalidFieldError('/body/expires_at', 'must be in the future')
  return {
    action,
    scope,
    reason,
    expires_at,
    at,
    source: 'shiplock',
    target: toTarget(request),
    by: { id, name },
    comment: truncateText(comment, TRIAGE_COMMENT_MAX),
  }
}

function toTarget({ finding_ids, issue_ids, alert_ids }: NewTriageRequest): TriageTarget {
  const targets: { type: TriageTarget['type']; ids: string[] | undefined }[] = [
    { type: 'finding', ids: finding_ids },
    { type: 'issue', ids: issue_ids },
    { type: 'alert', ids: alert_ids },
  ]
  const given = targets.flatMap(({ type, ids }) => (ids === undefined ? [] : { type, ids: [...new Set(ids)] }))
  const [target] = given
  if (target === undefined || given.length > 1)
    throw createInvalidFieldError('/body', 'must have exactly one of finding_ids, issue_ids and alert_ids')
  return target
}

async function lockAndSelect(tx: Tx, orgId: string, { action, target }: Decision): Promise<TriageSelection> {
  await waitForRepositories(tx, orgId, await listTargetRepositories(tx, orgId, target))
  const findings = await listTargetFindings(tx, orgId, target)
  const alertIds = target.type === 'alert' ? target.ids : findings.flatMap(({ alert_id }) => alert_id ?? [])
  const alerts = alertIds.length === 0 ? [] : await lockDecidable(tx, orgId, alertIds)
  const connections = await listAlertConnections(tx, orgId, alerts)
  const isConnected = (alert: DecidableAlert) => connections.has(getRepositoryName(alert))
  return selectTriaged({ action, target, findings, alerts, isConnected })
}

function refuse({ action, target }: Decision, { unknown, refused }: TriageSelection): void {
  const what = (ids: string[]) => (ids.length === 1 ? `The ${target.type} ${ids[0]}` : `${ids.length} ${target.type}s`)
  const does = (ids: string[], one: string, many: string) => (ids.length === 1 ? one : many)
  if (unknown.length > 0) {
    const message = `${what(unknown)} ${does(unknown, 'does', 'do')} not exist.`
    throw missing(message, { ids: unknown })
  }
  if (refused.length === 0) return
  const error = action === 'dismiss' ? notOpen : notDismissed
  const state = action === 'dismiss' ? 'open' : 'dismissed'
  throw error(`${what(refused)} ${does(refused, 'is', 'are')} not ${state}.`, { ids: refused })
}

type Selected = { triageId: string; selection: TriageSelection; decision: Decision; principal: Principal }

async function apply(tx: Tx, orgId: string, { triageId, selection, decision, principal }: Selected): Promise<void> {
  const { findingIds, alerts } = selection
  const { action, reason, comment, at } = decision
  const alertIds = alerts.map(({ id }) => id)
  const status = action === 'dismiss' ? 'dismissed' : 'open'
  const own = { ...getAuthor(principal), status, reason, comment: action === 'dismiss' ? comment : null, at } as const
  await insertTriagedAlerts(tx, orgId, triageId, alerts)
  await decideAlerts(
    tx,
    orgId,
    alerts.map((alert) => ({ alert, decision: own })),
  )
  const issueIds = [
    ...(await updateTriagedFindings(tx, orgId, { triageId, findingIds, at })),
    ...(await updateShownStatus(tx, orgId, buildShownAlerts(tx, orgId, alertIds), at)),
  ]
  await refreshTriaged(tx, orgId, issueIds, at)
}

type TriageSubject = {
  action: 'dismiss' | 'reopen'
  target: TriageTarget
  findings: readonly TargetFinding[]
  /** The alerts of the findings, or those that the request names. */
  alerts: readonly DecidableAlert[]
  isConnected(alert: DecidableAlert): boolean
}

/** What a triage changes, and the targets for which it is impossible. */
type TriageSelection = {
  findingIds: string[]
  alerts: DecidableAlert[]
  /** Do not exist. */
  unknown: string[]
  /** Are not open, or not dismissed. */
  refused: string[]
  /** Whether all findings are about vulnerabilities of packages. */
  areVulnerabilities: boolean
}

/**
 * Selects what a triage changes. A dismissal changes what is not fixed and was not dismissed by a
 * person; a reopening what is dismissed. Of an issue, at least one finding must change. The finding
 * of an alert follows its alert, which the code host is told about; if that is impossible, the
 * finding is triaged itself.
 */
function selectTriaged(subject: TriageSubject): TriageSelection {
  const { action, target, findings } = subject
  const changed = findings.filter((finding) => isChanged(subject, finding))
  const statusBefore = action === 'dismiss' ? 'open' : 'dismissed'
  const changedAlerts = subject.alerts.filter(({ status }) => status === statusBefore)
  const decided = target.type === 'alert' ? changedAlerts : selectAlerts(subject, changed, changedAlerts)
  const decidedIds = new Set(decided.map(({ id }) => id))
  const isDecided = ({ alert_id }: TargetFinding) => alert_id !== null && decidedIds.has(alert_id)
  const isSelected = target.type === 'alert' ? decidedIds : new Set(changed.map(({ target_id }) => target_id))
  const known = target.type === 'alert' ? subject.alerts.map(({ id }) => id) : findings.map((of) => of.target_id)
  const isKnown = new Set(known)
  const unknown = target.ids.filter((id) => !isKnown.has(id))
  return {
    findingIds: changed.filter((finding) => !isDecided(finding) || isHidden(subject, finding)).map(({ id }) => id),
    alerts: decided,
    unknown,
    refused: target.ids.filter((id) => isKnown.has(id) && !isSelected.has(id)),
    areVulnerabilities: findings.every(({ is_vulnerability }) => is_vulnerability),
  }
}

function isChanged({ action }: TriageSubject, { state, is_dismissed_here }: TargetFinding): boolean {
  return action === 'reopen' ? state === 'dismissed' : state !== 'fixed' && !is_dismissed_here
}

function selectAlerts(subject: TriageSubject, changed: readonly TargetFinding[], alerts: readonly DecidableAlert[]) {
  const ids = new Set(changed.map(({ alert_id }) => alert_id))
  return alerts.filter((alert) => ids.has(alert.id) && subject.isConnected(alert))
}

/** Whether an earlier triage of the finding would hide the new state of its alert. */
function isHidden({ action }: TriageSubject, { triaged_state: state }: TargetFinding): boolean {
  return state !== null && state !== (action === 'dismiss' ? 'dismissed' : 'open')
}
