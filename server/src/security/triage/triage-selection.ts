import type { DecidableAlert } from '../alerts/alert-decision.store.ts'
import type { TargetFinding } from './target.store.ts'
import type { TriageTarget } from './writing/triage.store.ts'

type TriageSubject = {
  action: 'dismiss' | 'reopen'
  target: TriageTarget
  findings: readonly TargetFinding[]
  /** The alerts of the findings, or those that the request names. */
  alerts: readonly DecidableAlert[]
  isConnected(alert: DecidableAlert): boolean
}

/** What a triage changes, and the targets for which it is impossible. */
export type TriageSelection = {
  findingIds: string[]
  alerts: DecidableAlert[]
  /** Do not exist. */
  unknown: string[]
  /** Are not open, or not dismissed. */
  refused: string[]
}

/**
 * Selects what a triage changes. A dismissal changes what is not fixed and was not dismissed by a
 * person; a reopening what is dismissed. Of an issue, at least one finding must change. The finding
 * of an alert follows its alert, which the code host is told about; if that is impossible, the
 * finding is triaged itself.
 */
export function selectTriaged(subject: TriageSubject): TriageSelection {
  const { target, findings } = subject
  const changed = findings.filter((finding) => isChanged(subject, finding))
  const changedAlerts = subject.alerts.filter((alert) => isChangedAlert(subject, alert))
  const decided = target.type === 'alert' ? changedAlerts : selectAlerts(subject, changed, changedAlerts)
  const decidedIds = new Set(decided.map(({ id }) => id))
  const isDecided = ({ alert_id }: TargetFinding) => alert_id !== null && decidedIds.has(alert_id)
  const isSelected = target.type === 'alert' ? decidedIds : new Set(changed.map(({ target_id }) => target_id))
  const isKnown = new Set(target.type === 'alert' ? subject.alerts.map(({ id }) => id) : findings.map(getTarget))
  const unknown = target.ids.filter((id) => !isKnown.has(id))
  return {
    findingIds: changed.filter((finding) => !isDecided(finding) || isHidden(subject, finding)).map(({ id }) => id),
    alerts: decided,
    unknown,
    refused: target.ids.filter((id) => isKnown.has(id) && !isSelected.has(id)),
  }
}

function getTarget({ target_id }: TargetFinding): string {
  return target_id
}

function isChanged({ action }: TriageSubject, { state, is_dismissed_here }: TargetFinding): boolean {
  return action === 'reopen' ? state === 'dismissed' : state !== 'fixed' && !is_dismissed_here
}

function isChangedAlert({ action }: TriageSubject, { status }: DecidableAlert): boolean {
  return status === (action === 'dismiss' ? 'open' : 'dismissed')
}

function selectAlerts(subject: TriageSubject, changed: readonly TargetFinding[], alerts: readonly DecidableAlert[]) {
  const ids = new Set(changed.map(({ alert_id }) => alert_id))
  return alerts.filter((alert) => ids.has(alert.id) && subject.isConnected(alert))
}

/** Whether an earlier triage of the finding would hide the new state of its alert. */
function isHidden({ action }: TriageSubject, { triaged_state: state }: TargetFinding): boolean {
  return state !== null && state !== (action === 'dismiss' ? 'dismissed' : 'open')
}
