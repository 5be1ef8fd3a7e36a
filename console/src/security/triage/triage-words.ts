import type { paths } from '../../api/schema.ts'
import { formatCount } from '../../page/numbers.ts'
import { countTargets } from './targets.ts'

const PAST: Record<TriageRecord['action'], string> = {
  dismiss: 'dismissed',
  reopen: 'reopened',
  split: 'split',
  merge: 'merged',
}

/** Why something is dismissed, with what each reason says. In the order of the keys 1 to 5. */
export const DISMISS_REASONS = [
  { value: 'false_positive', label: 'False positive', says: 'The scanner is wrong: there is no such problem here.' },
  { value: 'wont_fix', label: 'Won’t fix', says: 'The problem is real, and nobody will work on it.' },
  { value: 'used_in_tests', label: 'Used in tests', says: 'The code or secret is only in tests, and never ships.' },
  { value: 'risk_accepted', label: 'Risk accepted', says: 'The problem is real, and its owner accepts the risk.' },
  { value: 'mitigated', label: 'Mitigated', says: 'Something else, such as a firewall rule, makes it harmless.' },
] as const

type List = paths['/app/api/orgs/{org}/security/triage']['get']['responses']['200']['content']['application/json']

export type TriageRecord = List['data'][number]

/** Who decided: a person, or whoever sent and confirmed a document that states it. */
export function deciderOf({ created_by_name }: TriageRecord): string {
  return created_by_name ?? 'Somebody'
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

export type DismissReason = (typeof DISMISS_REASONS)[number]['value']

/** A reason in words. Code hosts and VEX documents have others, which show as they are. */
export function nameOfReason(reason: string): string {
  return DISMISS_REASONS.find(({ value }) => value === reason)?.label ?? reason.replaceAll('_', ' ')
}
