import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { expireUploads, settleUnreadUploads } from './expire-uploads.ts'

/**
 * Runs every minute and ends the uploads that nobody will touch again. Reads do not depend on it
 * for pending uploads: one past its time reads as failed.
 */
export const expireUploadsJob: ScheduledJob<Services> = {
  name: 'security.expire-uploads',
  schedule: '* * * * *',
  async run(services) {
    await expireUploads(services)
    await settleUnreadUploads(services)
  },
}
