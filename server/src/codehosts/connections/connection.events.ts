import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/**
 * Published when a connection was made, when its suspension has ended, and when repositories were
 * added to it. Subscribers apply the deliveries that waited for it and read what was missed.
 */
export const connectionMade = defineEvent('codehosts.connection.made', {
  payload: definePayload({ org_id: text, connection_id: text }),
  subject: ({ connection_id }) => ({ type: 'connection', id: connection_id }),
  updates: () => [update('code_host'), update('repository')],
  once: ({ connection_id }) => connection_id,
})
