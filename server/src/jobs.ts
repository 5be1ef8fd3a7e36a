import { forgetUnfinishedArtifacts } from './ci/artifacts/forget-unfinished-artifacts.job.ts'
import { artifactCompleted, reportChanged } from './ci/reports/change-report.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { runFinished } from './ci/runs/update-run.ts'
import { callEnded } from './codehosts/calls/request-call.ts'
import { policyApplied } from './compliance/policies/apply-policy.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  reconsiderAlerts,
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
  reconsiderGatesOfAlerts,
  reconsiderGatesOfOrganization,
  reconsiderGatesOfUpload,
} from './deployments/policy/reconsider-gates.ts'
import { removeAbandoned, sweepObjects } from './platform/objects/remove-abandoned.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { repositoryRenamed } from './repositories/repository-renamed.ts'
import { renameAlertRepository } from './security/alerts/apply-alert.ts'
import { settleDismissal } from './security/alerts/dismiss-alert.ts'
import { readAlertJob } from './security/alerts/read-alert.job.ts'
import { alertsChanged, reconcileAlertsJob } from './security/alerts/reconcile-alerts.job.ts'
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
  postComment,
  postDecision,
  subscribe(artifactCompleted, readArtifact),
  subscribe(runFinished, followRun, reconsiderGates, reconsiderRun),
  subscribe(reportChanged, reconsiderGates, reconsiderRun),
  subscribe(uploadFinished, reconsiderGatesOfUpload, reconsiderUpload),
  readAlertJob,
  reconcileAlertsJob,
  subscribe(alertsChanged, reconsiderGatesOfAlerts, reconsiderAlerts),
  subscribe(callEnded, settleDismissal),
  subscribe(repositoryRenamed, renameAlertRepository),
  subscribe(policyApplied, reconsiderGatesOfOrganization, reconsiderOrganization),
  subscribe(intelImported, followIntel, backfillDetection, reconsiderAllGates, reconsiderAll),
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
