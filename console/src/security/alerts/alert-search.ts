import * as v from 'valibot'
import type { Schema } from '../../api/client.ts'
import { choice, day } from '../../list/search-params.ts'

export type Alert = Schema<'Alert'>

export const ALERT_STATUSES = ['open', 'fixed', 'dismissed'] as const
export const ALERT_SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const

/** What the address of the list of alerts can hold. */
export const AlertSearch = v.object({
  status: choice(ALERT_STATUSES),
  severity: choice(ALERT_SEVERITIES),
  since: day(),
  until: day(),
})
