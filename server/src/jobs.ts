import { artifactCompleted } from './ci/artifact-completed.event.ts'
import { forgetUnfinishedArtifacts } from './ci/forget-unfinished-artifacts.job.ts'
import { reportChanged } from './ci/report-changed.event.ts'
import { runFinished } from './ci/run-finished.event.ts'
import { settleOverdueRuns } from './ci/settle-overdue-runs.job.ts'
import { policyApplied } from './compliance/policies/apply-policy.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  reconsiderAll,
  reconsiderOrganization,
  reconsiderRun,
  reconsiderUpload,
} from './compliance/results/reconsider-results.ts'
import { followRun } from './deployments/follow-run.ts'
import { postComment, postDecision } from './deployments/post-answer.job.ts'
import {
  reconsiderAllGates,
  reconsiderGates,
  reconsiderGatesOfOrganization,
  reconsiderGatesOfUpload,
} from './deployments/reconsider-gates.ts'
import { settleDeployments } from './deployments/settle-deployments.job.ts'
import { removeAbandoned } from './platform/objects/remove-abandoned.job.ts'
import { sweepObjects } from './platform/objects/sweep-objects.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { expireUploadsJob } from './security/expire-uploads.job.ts'
import { followIntel } from './security/follow-intel.ts'
import { readArtifact } from './security/read-artifact.ts'
import { readUpload } from './security/read-upload.job.ts'
import { backfillDetection } from './security/intel/backfill-detection.ts'
import { fetchIntelDaily } from './security/intel/fetch-intel.job.ts'
import { intelImported } from './security/intel/intel-imported.event.ts'
import { uploadFinished } from './security/upload-finished.event.ts'
import type { Services } from './services.ts'

/** Every job that something enqueues, and what hears of every event. */
export const jobs: Job<Services, never>[] = [
  readUpload,
  postComment,
  postDecision,
  subscribe(artifactCompleted, readArtifact),
  subscribe(runFinished, followRun, reconsiderGates, reconsiderRun),
  subscribe(reportChanged, reconsiderGates, reconsiderRun),
  subscribe(uploadFinished, reconsiderGatesOfUpload, reconsiderUpload),
  subscribe(policyApplied, reconsiderGatesOfOrganization, reconsiderOrganization),
  subscribe(intelImported, followIntel, backfillDetection, reconsiderAllGates, reconsiderAll),
  evaluateRepositoryJob,
]

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [
  settleOverdueRuns,
  forgetUnfinishedArtifacts,
  expireUploadsJob,
  settleDeployments,
  fetchIntelDaily,
  evaluateDaily,
  removeAbandoned,
  sweepObjects,
]
