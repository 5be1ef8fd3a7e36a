import { type Static, Type } from 'typebox'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { placeOf, SourceRange } from './alert-fields.ts'
import { Account, accountOf } from './repository.parser.ts'

const Place = Type.Object({ ...SourceRange.properties, commit_sha: Maybe(Text) })

const Alert = Type.Object({
  number: Id,
  html_url: Maybe(Text),
  state: Maybe(Text),
  resolution: Maybe(Text),
  resolution_comment: Maybe(Text),
  resolved_at: Maybe(Timestamp),
  resolved_by: Maybe(Account),
  secret_type: Text,
  secret_type_display_name: Maybe(Text),
  secret: Maybe(Text),
  validity: Maybe(Text),
  first_location_detected: Maybe(Place),
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
})

type AlertObject = Static<typeof Alert>

/** `locations` are those of the alert, for servers that do not add the first one to the alert. */
export function parseSecretAlert(value: unknown, repository: HostRepository, locations: unknown[] | null): HostAlert {
  const alert = readAs(Alert, value)
  const place = alert.first_location_detected ?? firstPlace(locations ?? [])
  const displayName = textOrNull(alert.secret_type_display_name)
  return {
    ...NO_DETAILS,
    repository,
    type: 'secret_scanning',
    number: alert.number,
    ...statusOf(alert),
    severity: alert.validity === 'inactive' ? 'low' : 'critical',
    title: displayName ?? alert.secret_type,
    url: textOrNull(alert.html_url),
    rule_id: alert.secret_type,
    tool_name: 'GitHub secret scanning',
    location: placeOf(place),
    commit_sha: textOrNull(place?.commit_sha),
    secret: {
      type: alert.secret_type,
      display_name: displayName,
      value: alert.secret || null,
      validity: textOrNull(alert.validity),
    },
    detected_at: new Date(alert.created_at),
    updated_at: new Date(alert.updated_at ?? alert.resolved_at ?? alert.created_at),
  }
}

/** A revoked secret does no more harm, so its alert is fixed. Any other resolution dismisses it. */
function statusOf(alert: AlertObject): Pick<HostAlert, 'status' | 'fixed_at' | 'dismissal'> {
  if (alert.state !== 'resolved') return { status: 'open', fixed_at: null, dismissal: null }
  const at = dateOrNull(alert.resolved_at)
  if (alert.resolution === 'revoked') return { status: 'fixed', fixed_at: at, dismissal: null }
  const dismissal = {
    by: accountOf(alert.resolved_by),
    reason: textOrNull(alert.resolution),
    comment: textOrNull(alert.resolution_comment),
    at,
  }
  return { status: 'dismissed', fixed_at: null, dismissal }
}

const Location = Type.Object({ type: Maybe(Text), details: Maybe(Place) })

/** Only locations of the type `commit` are places in files. Others are issues or comments. */
function firstPlace(locations: unknown[]): Static<typeof Place> | null {
  const read = locations.map((location) => readAs(Location, location))
  return read.find(({ type }) => type === 'commit')?.details ?? null
}

/** True if the server adds the place to the alert, even where there is none. */
export function saysItsPlace(alert: unknown): boolean {
  return typeof alert === 'object' && alert !== null && 'first_location_detected' in alert
}
