import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published when a policy is created, gets a new version or is removed. */
export const policyChanged = defineEvent('policy.changed', {
  payload: definePayload({ org_id: text, policy_id: text }),
  subject: ({ policy_id }) => ({ type: 'policy', id: policy_id }),
  updates: ({ policy_id }) => [update('policy', policy_id)],
})
