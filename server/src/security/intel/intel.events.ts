import { event } from '../../platform/queue/event.ts'
import { object, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published by every import of vulnerability intelligence. It concerns all organizations. */
export const intelImported = event('security.intel.imported', {
  class: 'bulk',
  payload: object({ source: text }),
  subject: ({ source }) => ({ type: 'intel_source', id: source }),
  updates: () => [update('finding'), update('issue')],
  once: () => 'any',
})
