import { lazy } from '../../platform/lazy.ts'
import { defineEvent } from '../../platform/queue/event.ts'
import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'

/** Reads a completed upload into findings. The API queues it, and does not load the parsers. */
export const readUploadJob = defineJob('security.read-upload', {
  class: 'bulk',
  payload: definePayload({ org_id: text, upload_id: text }),
  attemptsMax: 5,
  run: lazy(async () => (await import('./read-report-file.ts')).readReportFile),
  giveUp: lazy(async () => (await import('./read-report-file.ts')).abandonUnreadReport),
  updates: ({ upload_id }) => [update('security_upload', upload_id)],
})

/** Published when the findings of a report are stored, or were seen again in another commit. */
export const uploadFinished = defineEvent('upload.finished', {
  payload: definePayload({ org_id: text, upload_id: text }),
  subject: ({ upload_id }) => ({ type: 'security_upload', id: upload_id }),
  updates: ({ upload_id }) => [update('security_upload', upload_id), update('finding'), update('issue')],
})
