import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { expireUploads } from './expire-uploads.ts'

/** Runs every minute. Reads never wait for it: a pending upload past its time reads as failed. */
export const expireUploadsJob: ScheduledJob<Services> = {
  name: 'security.expire-uploads',
  schedule: '* * * * *',
  run: expireUploads,
}
