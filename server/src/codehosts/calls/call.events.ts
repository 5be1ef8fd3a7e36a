import { event } from '../../platform/queue/event.ts'
import { object, oneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'

/** Published when a call has ended: accepted, refused by the host, or given up after 24 hours. */
export const callEnded = event('codehosts.call.ended', {
  payload: object({
    org_id: text,
    call_id: text,
    subject_type: text,
    subject_id: text,
    outcome: oneOf('done', 'refused', 'failed'),
  }),
  subject: ({ subject_type, subject_id }) => ({ type: subject_type, id: subject_id }),
  updates: () => [],
})

export type CallEnded = PayloadOf<typeof callEnded.payload>
