import { event } from '../../platform/queue/event.ts'
import { object, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published when a policy is created, gets a new version or is removed. */
export const policyChanged = event('policy.changed', {
  payload: object({ org_id: text, policy_id: text }),
  subject: ({ policy_id }) => ({ type: 'policy', id: policy_id }),
  updates: ({ policy_id }) => [update('policy', policy_id)],
})
