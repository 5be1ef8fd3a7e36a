import { forgetUnfinishedArtifacts } from './ci/artifacts/forget-unfinished-artifacts.job.ts'
import { artifactCompleted, reportChanged } from './ci/reports/change-report.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { runFinished } from './ci/runs/update-run.ts'
import { callEnded } from './codehosts/calls/request-call.ts'
import { policyApplied } from './compliance/policies/apply-policy.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  reconsiderAll,
  reconsiderOrganization,
  reconsiderRepository,
  reconsiderRun,
  reconsiderUpload,
} from './compliance/results/reconsider-results.ts'
import { followRun } from './deployments/decisions/follow-run.ts'
import { renameDeployments } from './deployments/events/apply-deployment.ts'
import { readEnvironmentJob, readReviewsJob } from './deployments/events/follow-deployment.ts'
import { giveUpEnvironment, readEnvironment } from './deployments/events/read-environment.ts'
import { followCall, giveUpReviews, readReviews } from './deployments/events/read-reviews.ts'
import { gateConfigured } from './deployments/gates/configure/configure-gate.ts'
import { coverWaiting } from './deployments/gates/cover-deployment.ts'
import { settleDeployments } from './deployments/gates/settle-deployments.job.ts'
import { deploymentBypassed } from './deployments/host/settle-host-deployment.ts'
import { decideByPolicyJob } from './deployments/policy/decide-by-policy.ts'
import {
  reconsiderAllGates,
  reconsiderGates,
  reconsiderGatesOfOrganization,
  reconsiderGatesOfUpload,
} from './deployments/policy/reconsider-gates.ts'
import { removeAbandoned, sweepObjects } from './platform/objects/remove-abandoned.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { repositoryRenamed } from './repositories/repository-renamed.ts'
import { backfillDetection } from './security/intel/lookup/intel-at-detection.store.ts'
import { fetchIntelDaily } from './security/intel/sources/fetch-intel.job.ts'
import { intelImported } from './security/intel/sources/import-source.ts'
import { followIntel } from './security/issues/regroup/follow-intel.ts'
import { followRules } from './security/issues/regroup/follow-rules.job.ts'
import { expireUploadsJob } from './security/uploads/expire-uploads.job.ts'
import { readArtifact } from './security/uploads/read-artifact.ts'
import { failUnreadReport, readReportFile } from './security/uploads/read-report-file.ts'
import { readUploadJob, uploadFinished } from './security/uploads/upload-file.ts'
import type { Services } from './services.ts'

/** Every job that something enqueues, and what hears of every event. */
export const jobs: Job<Services, never>[] = [
  { ...readUploadJob, run: readReportFile, giveUp: failUnreadReport },
  decideByPolicyJob,
  { ...readEnvironmentJob, run: readEnvironment, giveUp: giveUpEnvironment },
  { ...readReviewsJob, run: readReviews, giveUp: giveUpReviews },
  subscribe(artifactCompleted, readArtifact),
  subscribe(runFinished, followRun, reconsiderGates, reconsiderRun),
  subscribe(reportChanged, reconsiderGates, reconsiderRun),
  subscribe(uploadFinished, reconsiderGatesOfUpload, reconsiderUpload),
  subscribe(policyApplied, reconsiderGatesOfOrganization, reconsiderOrganization),
  subscribe(intelImported, followIntel, backfillDetection, reconsiderAllGates, reconsiderAll),
  subscribe(gateConfigured, coverWaiting),
  subscribe(callEnded, followCall),
  subscribe(deploymentBypassed, reconsiderRepository),
  subscribe(repositoryRenamed, renameDeployments),
  evaluateRepositoryJob,
]

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [
  settleOverdueRuns,
  forgetUnfinishedArtifacts,
  expireUploadsJob,
  followRules,
  settleDeployments,
  fetchIntelDaily,
  evaluateDaily,
  removeAbandoned,
  sweepObjects,
]
