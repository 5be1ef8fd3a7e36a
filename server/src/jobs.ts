import { settleOverdueRuns } from './ci/settle-overdue-runs.job.ts'
import { sweepObjects } from './platform/objects/sweep-objects.job.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { expireUploadsJob } from './security/expire-uploads.job.ts'
import { readUpload } from './security/read-upload.job.ts'
import type { Services } from './services.ts'

/** Every job that something enqueues. */
export const jobs: Job<Services, never>[] = [readUpload]

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [settleOverdueRuns, expireUploadsJob, sweepObjects]
