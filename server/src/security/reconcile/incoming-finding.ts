import type { ParsedFinding } from '../formats/report/parsed-report.ts'
import type { FindingState } from '../vocabulary/finding.ts'

/**
 * What an alert of a code host states itself, and a report does not: a stream tells it for all
 * findings of a report. Times are RFC 3339.
 */
export type AlertFacts = {
  alert_id: string
  revision: number
  /** The finding of the alert; null for a new one. */
  finding_id: string | null
  first_seen_at: string
  seen_at: string
  commit_sha: string | null
  dismissed_by_name: string | null
  dismissed_at: string | null
  dismissal_source: string | null
}

/** A finding to store: of a report, or an alert in whatever state the host states. */
export type IncomingFinding = Omit<ParsedFinding, 'state'> & { state: FindingState; alert?: AlertFacts }

/** The columns that a later version of an alert can change, and those that name the alert. */
export const ALERT_CONTENT = [
  'first_seen_at',
  'seen_at',
  'commit_sha',
  'dismissed_by_name',
  'dismissed_at',
  'dismissal_source',
] as const satisfies (keyof AlertFacts)[]
export const ALERT_NAMES = ['alert_id', 'revision', 'finding_id'] as const satisfies (keyof AlertFacts)[]

/** The columns of the temporary table `incoming` that only alerts have. */
export const ALERT_COLUMNS = [...ALERT_CONTENT, ...ALERT_NAMES]
