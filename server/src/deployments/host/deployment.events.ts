import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published when a deployment went on against its protection rules. */
export const deploymentBypassed = defineEvent('deployment.bypassed', {
  payload: definePayload({ org_id: text, deployment_id: text, repository: text }),
  subject: ({ deployment_id, repository }) => ({ type: 'deployment', id: deployment_id, repository }),
  updates: ({ deployment_id }) => [update('deployment', deployment_id)],
})
