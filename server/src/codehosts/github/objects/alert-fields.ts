import { type Static, Type } from 'typebox'
import type { HostAlert } from '../../host-alert.ts'
import { dateOrNull, Id, Maybe, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'

/** What code scanning and Dependabot alerts say alike about their life. */
export const AlertTimes = {
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  fixed_at: Maybe(Timestamp),
  dismissed_by: Maybe(Account),
  dismissed_reason: Maybe(Text),
  dismissed_comment: Maybe(Text),
  dismissed_at: Maybe(Timestamp),
}
const AlertLife = Type.Object(AlertTimes)
type AlertLife = Static<typeof AlertLife>

export function timesOf(alert: AlertLife): Pick<HostAlert, 'detected_at' | 'fixed_at' | 'updated_at'> {
  return {
    detected_at: new Date(alert.created_at),
    fixed_at: dateOrNull(alert.fixed_at),
    // An alert that never changed may have no time of its last change.
    updated_at: new Date(alert.updated_at ?? alert.dismissed_at ?? alert.fixed_at ?? alert.created_at),
  }
}

export function dismissalOf(alert: AlertLife): HostAlert['dismissal'] {
  return {
    by: accountOf(alert.dismissed_by),
    reason: textOrNull(alert.dismissed_reason),
    comment: textOrNull(alert.dismissed_comment),
    at: dateOrNull(alert.dismissed_at),
  }
}

const SEVERITIES: Readonly<Record<string, HostAlert['severity']>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  moderate: 'medium',
  low: 'low',
}

/** Null for a severity that we do not know. */
export function severityOf(severity: string | null | undefined): HostAlert['severity'] | null {
  return SEVERITIES[severity ?? ''] ?? null
}

export const SourceRange = Type.Object({
  path: Maybe(Text),
  start_line: Maybe(Id),
  end_line: Maybe(Id),
  start_column: Maybe(Id),
  end_column: Maybe(Id),
})

/** GitHub counts from 1; 0 stands for an unknown line or column. */
export function placeOf(range: Static<typeof SourceRange> | null | undefined): HostAlert['location'] {
  const path = textOrNull(range?.path)
  if (!range || path === null) return null
  return {
    path,
    start_line: range.start_line || null,
    end_line: range.end_line || null,
    start_column: range.start_column || null,
    end_column: range.end_column || null,
  }
}
