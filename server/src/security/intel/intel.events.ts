import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published by every import of vulnerability intelligence. It concerns all organizations. */
export const intelImported = defineEvent('security.intel.imported', {
  class: 'bulk',
  payload: definePayload({ source: text }),
  subject: ({ source }) => ({ type: 'intel_source', id: source }),
  updates: () => [update('finding'), update('issue')],
  once: () => 'any',
})
