import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { expireUploads, settleUnreadUploads } from './expire-uploads.ts'

/**
 * Runs every minute and fails the uploads that no client or worker will finish. Reads of pending
 * uploads do not depend on it: an expired upload is read as failed.
 */
export const expireUploadsJob: ScheduledJob<Services> = {
  name: 'security.expire-uploads',
  schedule: '* * * * *',
  async run(services) {
    await expireUploads(services)
    await settleUnreadUploads(services)
  },
}
