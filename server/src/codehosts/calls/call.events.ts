import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, OneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'

/** Published when a call has ended: accepted, refused by the host, or given up after 24 hours. */
export const callEnded = defineEvent('codehosts.call.ended', {
  payload: definePayload({
    org_id: text,
    call_id: text,
    subject_type: text,
    subject_id: text,
    outcome: OneOf('done', 'refused', 'failed'),
  }),
  subject: ({ subject_type, subject_id }) => ({ type: subject_type, id: subject_id }),
  updates: () => [],
})

export type CallEnded = PayloadOf<typeof callEnded.payload>
