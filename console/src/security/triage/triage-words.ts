import type { paths } from '../../api/schema.ts'
import { formatCount } from '../../page/numbers.ts'
import { nameOfSource } from '../facts/names.ts'
import { nameOfReason } from './dismiss-reasons.ts'
import { countTargets } from './targets.ts'

type List = paths['/app/api/orgs/{org}/security/triage']['get']['responses']['200']['content']['application/json']
export type TriageRecord = List['data'][number]

const PAST: Record<TriageRecord['action'], string> = {
  dismiss: 'dismissed',
  reopen: 'reopened',
  split: 'split',
  merge: 'merged',
}

/** Who decided: a person, or a document that states it. */
export function deciderOf({ created_by_name, source }: TriageRecord): string {
  if (created_by_name !== null) return created_by_name
  return source === 'shiplock' ? 'Somebody' : `A document (${nameOfSource(source)})`
}

/** What was decided: "dismissed 3 issues with 5 findings as a false positive". */
export function wordsOf(triage: TriageRecord): string {
  const { action, target_type, target_ids, finding_count, reason } = triage
  const of = countTargets(target_type, target_ids.length)
  const findings = target_type === 'issue' && finding_count > 0 ? ` (${countTargets('finding', finding_count)})` : ''
  const because = action === 'dismiss' && reason !== null ? `: ${nameOfReason(reason)}` : ''
  return `${PAST[action]} ${of}${findings}${because}`
}

/** How a triage ended. Null while it counts. */
export function endingOf({ status, ended_by_name }: TriageRecord): string | null {
  if (status === 'active') return null
  if (status === 'expired') return 'Expired'
  const by = ended_by_name === null ? '' : ` by ${ended_by_name}`
  return status === 'undone' ? `Undone${by}` : `Replaced${by}`
}

/** Alerts that a triage changed at the code host, in words. */
export function alertsOf({ alert_count }: TriageRecord): string | null {
  if (alert_count === 0) return null
  return `${formatCount(alert_count)} ${alert_count === 1 ? 'alert' : 'alerts'} at the code host`
}
