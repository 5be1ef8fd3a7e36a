import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { expireUploads } from './expire-uploads.ts'

/** Runs every minute. Until it has run, an expired upload is already shown as failed. */
export const expireUploadsJob: ScheduledJob<Services> = {
  name: 'security.expire-uploads',
  schedule: '* * * * *',
  run: expireUploads,
}
