import { artifactCompleted } from './ci/artifact-completed.event.ts'
import { forgetUnfinishedArtifacts } from './ci/forget-unfinished-artifacts.job.ts'
import { settleOverdueRuns } from './ci/settle-overdue-runs.job.ts'
import { removeAbandoned } from './platform/objects/remove-abandoned.job.ts'
import { sweepObjects } from './platform/objects/sweep-objects.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { expireUploadsJob } from './security/expire-uploads.job.ts'
import { readArtifact } from './security/read-artifact.ts'
import { readUpload } from './security/read-upload.job.ts'
import type { Services } from './services.ts'

/** Every job that something enqueues, and what hears of every event. */
export const jobs: Job<Services, never>[] = [readUpload, subscribe(artifactCompleted, readArtifact)]

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [
  settleOverdueRuns,
  forgetUnfinishedArtifacts,
  expireUploadsJob,
  removeAbandoned,
  sweepObjects,
]
