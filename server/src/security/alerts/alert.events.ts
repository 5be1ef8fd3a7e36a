import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/**
 * Published when findings of alerts changed. `repository` is the name of the repository as
 * `owner/name`.
 */
export const alertsChanged = defineEvent('security.alerts.changed', {
  payload: definePayload({ org_id: text, repository: text }),
  subject: ({ repository }) => ({ type: 'alert', id: null, repository }),
  updates: () => [update('alert'), update('finding'), update('issue')],
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
})
