import * as v from 'valibot'
import { choice, day } from '../../list/search-params.ts'

export const TRIAGE_ACTIONS = ['dismiss', 'reopen', 'split', 'merge'] as const
export const TRIAGE_SOURCES = ['shiplock', 'openvex', 'csaf'] as const
export const TRIAGE_STATUSES = ['active', 'undone', 'expired', 'replaced'] as const

/** What the address of the triage history can hold. */
export const TriageSearch = v.object({
  action: choice(TRIAGE_ACTIONS),
  source: choice(TRIAGE_SOURCES),
  status: choice(TRIAGE_STATUSES),
  since: day(),
  until: day(),
})
