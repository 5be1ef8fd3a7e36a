import { lazy } from '../../platform/lazy.ts'
import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Works on the synchronization of a connection. */
export const syncJob = defineJob('codehosts.synchronize', {
  class: 'bulk',
  payload: definePayload({ org_id: text, connection_id: text }),
  attemptsMax: 5,
  once: ({ connection_id }) => connection_id,
  run: lazy(async () => (await import('./synchronize-connection.ts')).synchronizeConnection),
  updates: () => [update('code_host'), update('repository')],
})
