import { lazy } from '../../platform/lazy.ts'
import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Evaluates the policies of a deployment that a code host asked us about. */
export const decideByPolicyJob = defineJob('deployments.decide-by-policy', {
  payload: definePayload({ org_id: text, id: text }),
  attemptsMax: 10,
  once: ({ org_id, id }) => `${org_id} ${id}`,
  run: lazy(async () => (await import('./decide-by-policy.ts')).decideByPolicy),
  updates: ({ id }) => [update('deployment', id)],
})
