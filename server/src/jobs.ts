import { settleOverdueRuns } from './ci/settle-overdue-runs.job.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import type { Services } from './services.ts'

/** Every job that something enqueues. */
export const jobs: Job<Services, never>[] = []

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [settleOverdueRuns]
