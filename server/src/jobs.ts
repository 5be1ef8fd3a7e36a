import { forgetRequestCounts } from './access/gateway/forget-request-counts.job.ts'
import { forgetSignIns } from './access/sign-in/forget-sign-ins.job.ts'
import { forgetUnfinishedArtifacts } from './ci/artifacts/forget-unfinished-artifacts.job.ts'
import { renameVerifiedRuns } from './ci/provider-runs/apply-host-run.ts'
import { completeRunsJob, readRunDetailsJob, readRunFailuresJob } from './ci/provider-runs/provider-runs.job.ts'
import { readOwnership } from './ci/reports/ownership/read-ownership.ts'
import { artifactCompleted, ownershipCompleted, reportChanged } from './ci/reports/report.events.ts'
import { runFinished } from './ci/runs/run.events.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { callEnded } from './codehosts/calls/call.events.ts'
import { retryCalls, sendCalls } from './codehosts/calls/send-call.job.ts'
import { connectionMade } from './codehosts/connections/connection.events.ts'
import { removeWebhooks } from './codehosts/connections/remove-webhooks.job.ts'
import { applyShard } from './codehosts/deliveries/apply-deliveries.job.ts'
import { releaseDeliveries } from './codehosts/deliveries/apply-delivery.ts'
import { readObject } from './codehosts/deliveries/read-object.job.ts'
import { resumeDeliveries } from './codehosts/deliveries/settle-deliveries.job.ts'
import type { HostServices } from './codehosts/sync/host-parts.ts'
import { readRunJob } from './codehosts/sync/read-run.job.ts'
import { redeliverFailedJob } from './codehosts/sync/redeliver-failed.job.ts'
import { followConnectionMade, startDueSyncs } from './codehosts/sync/request-sync.ts'
import { syncJob } from './codehosts/sync/sync-connection.job.ts'
import { policyChanged } from './compliance/policies/policy.events.ts'
import { readRepositoryPoliciesJob } from './compliance/repository-policies/read-repository-policies.job.ts'
import { evaluateRepositoryJob } from './compliance/results/evaluate-repository.job.ts'
import {
  evaluateDaily,
  refreshAllResults,
  refreshNamedResults,
  refreshOrganizationResults,
  refreshRepositoryResults,
  refreshRunResults,
  refreshUploadResults,
} from './compliance/results/reconsider-results.ts'
import { followRun } from './deployments/decisions/follow-run.ts'
import { renameDeployments } from './deployments/events/apply-deployment.ts'
import { readAttemptJob, readEnvironmentJob, readReviewsJob } from './deployments/events/host-reads.job.ts'
import { followCall } from './deployments/events/read-reviews.ts'
import { gateConfigured } from './deployments/gates/configure/gate.events.ts'
import { assignGates } from './deployments/gates/cover-deployment.ts'
import { settleDeployments } from './deployments/gates/settle-deployments.job.ts'
import { deploymentBypassed } from './deployments/host/deployment.events.ts'
import { decideByPolicyJob } from './deployments/policy/decide-by-policy.job.ts'
import {
  refreshAllGates,
  refreshOrganizationGates,
  refreshRepositoryGates,
  refreshRunGates,
  refreshUploadGates,
} from './deployments/policy/reconsider-gates.ts'
import { removeAbandoned, sweepObjects } from './platform/objects/remove-abandoned.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { verifyChainsDaily } from './provenance/chain/verify-chains.job.ts'
import { followFactJob, recordChangesJob, recordDueChanges } from './provenance/landings/landings.job.ts'
import { verifyLogDaily } from './provenance/log/verify-log.ts'
import { repositoryRenamed } from './repositories/repository.events.ts'
import { removeExpiredDaily, removeExpiredJob } from './retention/remove-expired.job.ts'
import { alertsChanged } from './security/alerts/alert.events.ts'
import { renameAlertRepository } from './security/alerts/apply-alert.ts'
import { settleDismissal } from './security/alerts/decide-alerts.ts'
import { readAlertJob } from './security/alerts/read-alert.job.ts'
import { reconcileAlertsJob } from './security/alerts/reconcile-alerts.job.ts'
import { fetchIntelDaily } from './security/intel/fetch-intel.job.ts'
import { intelImported } from './security/intel/intel.events.ts'
import { updateIntelAtDetection } from './security/intel/intel-at-detection.store.ts'
import { followIntel } from './security/issues/regroup/follow-intel.ts'
import { followRules } from './security/issues/regroup/follow-rules.job.ts'
import { renameReportedRepository } from './security/repositories/resolve-repository.ts'
import { expireTriagesJob } from './security/triage/expire-triages.job.ts'
import { findingsTriaged } from './security/triage/writing/triage.events.ts'
import { expireUploadsJob } from './security/uploads/expire-uploads.job.ts'
import { readArtifact } from './security/uploads/read-artifact.ts'
import { readUploadJob } from './security/uploads/read-upload.job.ts'
import { uploadFinished } from './security/uploads/upload.events.ts'
import { followAliases } from './security/vex/follow-aliases.ts'
import { refreshAllDays, refreshNewestDays, refreshRecentDays } from './trends/refresh-days.job.ts'
import { recountIssues, refreshIssueDay, refreshIssueDays } from './trends/refresh-issue-days.job.ts'

/** Every job that something enqueues, and what hears of every event. */
export const jobs: Job<HostServices, never>[] = [
  applyShard,
  syncJob,
  readRunJob,
  redeliverFailedJob,
  sendCalls,
  removeWebhooks,
  readObject,
  subscribe(connectionMade, releaseDeliveries, followConnectionMade),
  subscribe(callEnded, settleDismissal, followCall),
  subscribe(repositoryRenamed, renameVerifiedRuns, renameReportedRepository, renameAlertRepository, renameDeployments),
  completeRunsJob,
  readRunDetailsJob,
  readRunFailuresJob,
  subscribe(runFinished, followRun, refreshRunGates, refreshRunResults),
  subscribe(reportChanged, refreshRunGates, refreshRunResults),
  subscribe(artifactCompleted, readArtifact),
  subscribe(ownershipCompleted, readOwnership),
  readUploadJob,
  subscribe(uploadFinished, refreshUploadGates, refreshUploadResults, recountIssues),
  readAlertJob,
  reconcileAlertsJob,
  subscribe(alertsChanged, refreshRepositoryGates, refreshNamedResults, recountIssues),
  subscribe(findingsTriaged, refreshRepositoryGates, refreshNamedResults, recountIssues),
  subscribe(intelImported, followIntel, followAliases, updateIntelAtDetection, refreshAllGates, refreshAllResults),
  readRepositoryPoliciesJob,
  subscribe(policyChanged, refreshOrganizationGates, refreshOrganizationResults),
  evaluateRepositoryJob,
  decideByPolicyJob,
  readAttemptJob,
  readEnvironmentJob,
  readReviewsJob,
  subscribe(gateConfigured, assignGates),
  subscribe(deploymentBypassed, refreshRepositoryResults),
  recordChangesJob,
  followFactJob,
  refreshIssueDay,
  removeExpiredJob,
]

/** Every job that the clock starts. */
export const scheduledJobs: ScheduledJob<HostServices>[] = [
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
