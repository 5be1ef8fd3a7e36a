import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, integer, OneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'
import { RUN_STATUSES } from './run-status.ts'

/**
 * Published when an attempt reaches a final status, by an update or because its deadline has
 * passed.
 */
export const runFinished = defineEvent('run.finished', {
  payload: definePayload({ org_id: text, run_id: text, attempt: integer, status: OneOf(...RUN_STATUSES) }),
  subject: ({ run_id }) => ({ type: 'run', id: run_id }),
  updates: ({ run_id }) => [update('run', run_id)],
})

export type RunFinished = PayloadOf<typeof runFinished.payload>
