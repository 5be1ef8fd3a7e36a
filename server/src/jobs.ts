import { forgetRequestCounts } from './access/gateway/forget-request-counts.job.ts'
import { forgetSignIns } from './access/sign-in/forget-sign-ins.job.ts'
import { forgetUnfinishedArtifacts } from './ci/artifacts/forget-unfinished-artifacts.job.ts'
import { renameVerifiedRuns } from './ci/provider-runs/apply-host-run.ts'
import { readRunDetails } from './ci/provider-runs/details/read-run-details.job.ts'
import { readRunFailures } from './ci/provider-runs/failure/read-run-failures.job.ts'
import { completeRuns } from './ci/provider-runs/history/complete-runs.job.ts'
import { artifactCompleted, ownershipCompleted, reportChanged } from './ci/reports/change-report.ts'
import { readOwnership } from './ci/reports/ownership/read-ownership.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { runFinished } from './ci/runs/update-run.ts'
import { callEnded } from './codehosts/calls/request-call.ts'
import { retryCalls, sendCallsJob } from './codehosts/calls/send-call.job.ts'
import { connectionMade } from './codehosts/connections/connection-made.ts'
import { removeWebhooksJob } from './codehosts/connections/remove-webhooks.job.ts'
import { applyDeliveriesJob } from './codehosts/deliveries/apply-deliveries.job.ts'
import { releaseDeliveries } from './codehosts/deliveries/apply-delivery.ts'
import { readObjectJob } from './codehosts/deliveries/read-object.job.ts'
import { resumeDeliveries } from './codehosts/deliveries/settle-deliveries.job.ts'
import { readRunJob } from './codehosts/sync/read-run.job.ts'
import { redeliverFailedJob } from './codehosts/sync/redeliver-failed.ts'
import { startDueSyncs, syncNewConnection } from './codehosts/sync/request-sync.ts'
import { syncConnectionJob } from './codehosts/sync/synchronize-connection.ts'
import { policyApplied } from './compliance/policies/apply-policy.ts'
import { readRepositoryPoliciesJob } from './compliance/repository-policies/read-repository-policies.job.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  reconsiderAll,
  reconsiderNamed,
  reconsiderOrganization,
  reconsiderRepository,
  reconsiderRun,
  reconsiderUpload,
} from './compliance/results/reconsider-results.ts'
import { withChanges } from './console-server/job-changes.ts'
import { followRun } from './deployments/decisions/follow-run.ts'
import { renameDeployments } from './deployments/events/apply-deployment.ts'
import { readAttemptJob, readEnvironmentJob, readReviewsJob } from './deployments/events/follow-deployment.ts'
import { readAttempt } from './deployments/events/read-attempt.ts'
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
  reconsiderGatesOfRepository,
  reconsiderGatesOfUpload,
} from './deployments/policy/reconsider-gates.ts'
import { hostEventHandlers, runParts, syncParts } from './host-event-handlers.ts'
import { removeAbandoned, sweepObjects } from './platform/objects/remove-abandoned.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { verifyChainsDaily } from './provenance/chain/verify-chains.job.ts'
import { followFact } from './provenance/changes/follow-fact.job.ts'
import { recordChanges, recordDueChanges } from './provenance/changes/record-changes.job.ts'
import { verifyLogDaily } from './provenance/log/verify-log.ts'
import { repositoryRenamed } from './repositories/repository-renamed.ts'
import { removeExpiredDaily, removeExpiredJob } from './retention/remove-expired.job.ts'
import { renameAlertRepository } from './security/alerts/apply-alert.ts'
import { settleDismissal } from './security/alerts/decide-alerts.ts'
import { readAlertJob } from './security/alerts/read-alert.job.ts'
import { alertsChanged, reconcileAlertsJob } from './security/alerts/reconcile-alerts.job.ts'
import { fetchIntelDaily } from './security/intel/fetch-intel.job.ts'
import { intelImported } from './security/intel/import-source.ts'
import { updateIntelAtDetection } from './security/intel/intel-at-detection.store.ts'
import { followIntel } from './security/issues/regroup/follow-intel.ts'
import { followRules } from './security/issues/regroup/follow-rules.job.ts'
import { renameReportedRepository } from './security/repositories/resolve-repository.ts'
import { expireTriagesJob } from './security/triage/expire-triages.job.ts'
import { findingsTriaged } from './security/triage/writing/refresh-triaged.ts'
import { expireUploadsJob } from './security/uploads/expire-uploads.job.ts'
import { readArtifact } from './security/uploads/read-artifact.ts'
import { failUnreadReport, readReportFile } from './security/uploads/read-report-file.ts'
import { readUploadJob, uploadFinished } from './security/uploads/upload-file.ts'
import { followAliases } from './security/vex/follow-aliases.ts'
import type { Services } from './services.ts'
import { refreshAllDays, refreshNewestDays, refreshRecentDays } from './trends/refresh-days.job.ts'
import { recountIssues, refreshIssueDay, refreshIssueDays } from './trends/refresh-issue-days.job.ts'

/** Every job that something enqueues, and what hears of every event. */
const queued: Job<Services, never>[] = [
  applyDeliveriesJob(hostEventHandlers),
  syncConnectionJob(syncParts),
  readRunJob(runParts),
  redeliverFailedJob,
  sendCallsJob,
  removeWebhooksJob,
  readObjectJob(hostEventHandlers),
  subscribe(connectionMade, releaseDeliveries, syncNewConnection),
  subscribe(callEnded, settleDismissal, followCall),
  subscribe(repositoryRenamed, renameVerifiedRuns, renameReportedRepository, renameAlertRepository, renameDeployments),
  completeRuns,
  readRunDetails,
  readRunFailures,
  subscribe(runFinished, followRun, reconsiderGates, reconsiderRun),
  subscribe(reportChanged, reconsiderGates, reconsiderRun),
  subscribe(artifactCompleted, readArtifact),
  subscribe(ownershipCompleted, readOwnership),
  { ...readUploadJob, run: readReportFile, giveUp: failUnreadReport },
  subscribe(uploadFinished, reconsiderGatesOfUpload, reconsiderUpload, recountIssues),
  readAlertJob,
  reconcileAlertsJob,
  subscribe(alertsChanged, reconsiderGatesOfRepository, reconsiderNamed, recountIssues),
  subscribe(findingsTriaged, reconsiderGatesOfRepository, reconsiderNamed, recountIssues),
  subscribe(intelImported, followIntel, followAliases, updateIntelAtDetection, reconsiderAllGates, reconsiderAll),
  readRepositoryPoliciesJob,
  subscribe(policyApplied, reconsiderGatesOfOrganization, reconsiderOrganization),
  evaluateRepositoryJob,
  decideByPolicyJob,
  { ...readAttemptJob, run: readAttempt },
  { ...readEnvironmentJob, run: readEnvironment, giveUp: giveUpEnvironment },
  { ...readReviewsJob, run: readReviews, giveUp: giveUpReviews },
  subscribe(gateConfigured, coverWaiting),
  subscribe(deploymentBypassed, reconsiderRepository),
  recordChanges,
  followFact,
  refreshIssueDay,
  removeExpiredJob,
]

/** The same jobs. Those that change something that people see also send live updates. */
export const jobs = queued.map(withChanges)

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<Services>[] = [
  forgetSignIns,
  forgetRequestCounts,
  resumeDeliveries,
  retryCalls,
  startDueSyncs,
  settleOverdueRuns,
  forgetUnfinishedArtifacts,
  expireUploadsJob,
  expireTriagesJob,
  followRules,
  settleDeployments,
  fetchIntelDaily,
  evaluateDaily,
  recordDueChanges,
  verifyChainsDaily,
  verifyLogDaily,
  refreshNewestDays,
  refreshRecentDays,
  refreshAllDays,
  refreshIssueDays,
  removeExpiredDaily,
  removeAbandoned,
  sweepObjects,
]
