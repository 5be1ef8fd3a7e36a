import { forgetUnfinishedArtifacts } from './ci/artifacts/forget-unfinished-artifacts.job.ts'
import { artifactCompleted, reportChanged } from './ci/reports/change-report.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { runFinished } from './ci/runs/update-run.ts'
import { callEnded } from './codehosts/calls/request-call.ts'
import { retryCalls, sendCallsJob } from './codehosts/calls/send-call.job.ts'
import { connectionMade } from './codehosts/connections/connection-made.ts'
import { applyRepositoryEvent } from './codehosts/connections/remember-repository.ts'
import { applyDeliveriesJob } from './codehosts/deliveries/apply-deliveries.job.ts'
import { releaseDeliveries } from './codehosts/deliveries/apply-delivery.ts'
import type { HostEventHandlers } from './codehosts/deliveries/host-event-handler.ts'
import { expireDeliveries, resumeDeliveries } from './codehosts/deliveries/settle-deliveries.job.ts'
import { policyApplied } from './compliance/policies/apply-policy.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  reconsiderAll,
  reconsiderOrganization,
  reconsiderRun,
  reconsiderUpload,
} from './compliance/results/reconsider-results.ts'
import { postComment, postDecision } from './deployments/approvals/post-answer.job.ts'
import { followRun } from './deployments/follow-run.ts'
import { settleDeployments } from './deployments/gates/settle-deployments.job.ts'
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
import { followRename } from './security/repositories/resolve-repository.ts'
import { expireUploadsJob } from './security/uploads/expire-uploads.job.ts'
import { readArtifact } from './security/uploads/read-artifact.ts'
import { failUnreadReport, readReportFile } from './security/uploads/read-report-file.ts'
import { readUploadJob, uploadFinished } from './security/uploads/upload-file.ts'
import type { Services } from './services.ts'

/** The handlers of each kind of event of code hosts, in the order in which they are called. */
const handlers: HostEventHandlers = {
  repository: [applyRepositoryEvent],
  run: [],
  job: [],
  check: [],
  deployment: [],
  deployment_status: [],
  gate_request: [],
  deployment_review: [],
  alert: [],
  alert_change: [],
  pull_request: [],
  review: [],
  push: [],
}

/** Every job that something enqueues, and what hears of every event. */
export const jobs: Job<Services, never>[] = [
  { ...readUploadJob, run: readReportFile, giveUp: failUnreadReport },
  postComment,
  postDecision,
  applyDeliveriesJob(handlers),
  sendCallsJob,
  subscribe(callEnded),
  subscribe(connectionMade, releaseDeliveries),
  subscribe(repositoryRenamed, followRename),
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
  resumeDeliveries,
  expireDeliveries,
  retryCalls,
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
