import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Published when the findings of a report are stored, or were seen again in another commit. */
export const uploadFinished = defineEvent('upload.finished', {
  payload: definePayload({ org_id: text, upload_id: text }),
  subject: ({ upload_id }) => ({ type: 'security_upload', id: upload_id }),
  updates: ({ upload_id }) => [update('security_upload', upload_id), update('finding'), update('issue')],
})
