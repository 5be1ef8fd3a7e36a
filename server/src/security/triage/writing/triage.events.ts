import { defineEvent } from '../../../platform/queue/event.ts'
import { definePayload, text } from '../../../platform/queue/payload.ts'
import { update } from '../../../platform/updates/update.ts'

/**
 * Published when findings of a repository were triaged. `repository` is the name of the repository
 * as `owner/name`.
 */
export const findingsTriaged = defineEvent('security.findings.triaged', {
  payload: definePayload({ org_id: text, repository: text }),
  subject: ({ repository }) => ({ type: 'finding', id: null, repository }),
  updates: () => [update('finding'), update('issue'), update('triage')],
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
})
