import { lazy } from '../../platform/lazy.ts'
import { job } from '../../platform/queue/job.ts'
import { object, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'

/** Reads a completed upload into findings. The API queues it, and does not load the parsers. */
export const readUploadJob = job('security.read-upload', {
  class: 'bulk',
  payload: object({ org_id: text, upload_id: text }),
  attemptsMax: 5,
  run: lazy(async () => (await import('./read-report-file.ts')).readReportFile),
  giveUp: lazy(async () => (await import('./read-report-file.ts')).failUnreadReport),
  updates: ({ upload_id }) => [update('security_upload', upload_id)],
})
