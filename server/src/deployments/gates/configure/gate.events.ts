import { event } from '../../../platform/queue/event.ts'
import { object, text } from '../../../platform/queue/payload.ts'
import { update } from '../../../platform/updates/update.ts'

/** Published when a gate was created or changed. */
export const gateConfigured = event('deployments.gate.configured', {
  payload: object({ org_id: text }),
  subject: () => ({ type: 'gate', id: null }),
  updates: () => [update('gate'), update('deployment')],
})
