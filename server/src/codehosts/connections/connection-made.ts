import type { Event } from '../../platform/queue/event.ts'
import { payloadOf } from '../../platform/queue/payload.ts'

/**
 * Published when a connection was made, when its suspension has ended, and when repositories were
 * added to it. Subscribers apply the deliveries that waited for it and read what was missed.
 */
export const connectionMade: Event<{ org_id: string; connection_id: string }> = {
  name: 'codehosts.connection.made',
  payload: payloadOf('org_id', 'connection_id'),
  once: ({ connection_id }) => connection_id,
}
