import { defineEvent } from '../../../platform/queue/event.ts'
import { definePayload, text } from '../../../platform/queue/payload.ts'
import { update } from '../../../platform/updates/update.ts'

/** Published when a gate was created or changed. */
export const gateConfigured = defineEvent('deployments.gate.configured', {
  payload: definePayload({ org_id: text }),
  subject: () => ({ type: 'gate', id: null }),
  updates: () => [update('gate'), update('deployment')],
})
