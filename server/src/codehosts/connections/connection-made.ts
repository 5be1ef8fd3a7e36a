import { Type } from 'typebox'
import type { Event } from '../../platform/queue/event.ts'

/**
 * Published when a connection was made, when its suspension has ended, and when repositories were
 * added to it. Subscribers apply the deliveries that waited for it and read what was missed.
 */
export const connectionMade: Event<{ org_id: string; connection_id: string }> = {
  name: 'codehosts.connection.made',
  payload: Type.Object({ org_id: Type.String(), connection_id: Type.String() }),
  once: ({ connection_id }) => connection_id,
}
