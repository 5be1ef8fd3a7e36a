import { forgetRequestCounts, forgetSignIns } from './access/gateway/forget-leftovers.job.ts'
import { renameVerifiedRuns } from './ci/provider-runs/apply-host-run.ts'
import {
  completeRunsJob,
  normalizeAddresses,
  readRunDetailsJob,
  readRunFailuresJob,
} from './ci/provider-runs/provider-runs.job.ts'
import { forgetUnfinishedArtifacts } from './ci/reports/remove-artifacts.job.ts'
import { readOwnership } from './ci/reports/save-attestations.ts'
import {
  addressChanged,
  artifactCompleted,
  evidenceReplaced,
  ownershipCompleted,
  reportChanged,
  runFinished,
} from './ci/runs/run.events.ts'
import { settleOverdueRuns } from './ci/runs/settle-overdue-runs.job.ts'
import { connectionMade } from './codehosts/connections/apply-installation-event.ts'
import { removeWebhooks } from './codehosts/connections/remove-connection.job.ts'
import { callEnded, retryCalls, sendCalls } from './codehosts/connections/send-call.job.ts'
import { releaseDeliveries } from './codehosts/deliveries/apply-delivery.ts'
import { applyShard, readObject, resumeDeliveries } from './codehosts/deliveries/deliveries.job.ts'
import type { HostServices } from './codehosts/deliveries/host-event-handler.ts'
import { readRunJob } from './codehosts/sync/read-run.job.ts'
import { redeliverFailedJob } from './codehosts/sync/redeliver-failed.job.ts'
import { followConnectionMade, startDueSyncs, syncJob } from './codehosts/sync/sync-connection.job.ts'
import { policyChanged } from './compliance/policies/apply-policy.ts'
import { defaultTrustChanged } from './compliance/policies/default-trust.ts'
import { readRepositoryPoliciesJob } from './compliance/policy-file/read-repository-policies.job.ts'
import {
  evaluateDaily,
  evaluateRepositoryJob,
  refreshAllResults,
  refreshNamedResults,
  refreshOrganizationResults,
  refreshRenamedResults,
  refreshRepositoryResults,
  refreshRunResults,
  refreshUploadResults,
} from './compliance/results/evaluate-repository.job.ts'
import {
  decideByPolicyJob,
  refreshAllGates,
  refreshOrganizationGates,
  refreshRepositoryGates,
  refreshRunGates,
  refreshUploadGates,
} from './deployments/decisions/decide-by-policy.ts'
import { followRun } from './deployments/decisions/decide-deployment.ts'
import { followEvidence } from './deployments/decisions/follow-evidence.ts'
import { renameDeployments, renameOpenedDeployments } from './deployments/events/apply-deployment.ts'
import {
  readAttemptJob,
  readEnvironmentJob,
  readRequestsJob,
  readReviewsJob,
} from './deployments/events/host-reads.job.ts'
import { followCall } from './deployments/events/read-reviews.ts'
import { gateConfigured } from './deployments/gates/configure-gate.ts'
import { assignGates } from './deployments/gates/cover-deployment.ts'
import { settleDeployments } from './deployments/gates/settle-deployments.job.ts'
import { deploymentBypassed } from './deployments/host/settle-host-deployment.ts'
import { removeAbandoned, sweepObjects } from './platform/objects/remove-abandoned.job.ts'
import { subscribe } from './platform/queue/event.ts'
import type { Job, ScheduledJob } from './platform/queue/job.ts'
import { verifyChainsDaily } from './provenance/chain/verify-chains.job.ts'
import { followFactJob, recordChangesJob, recordDueChanges } from './provenance/changes/landings.job.ts'
import { verifyLogDaily } from './provenance/log/verify-log.ts'
import { verifyRowsDaily } from './provenance/statements/verify-rows.job.ts'
import { repositoryRenamed } from './repositories/repository.events.ts'
import { removeExpiredDaily, removeExpiredJob } from './retention/remove-expired.job.ts'
import { settleDismissal } from './security/alerts/decide-alerts.ts'
import { readAlertJob, renameAlertRepository } from './security/alerts/read-alert.job.ts'
import { alertsChanged, reconcileAlertsJob } from './security/alerts/reconcile-alerts.job.ts'
import { fetchIntelDaily } from './security/intel/fetch-intel.job.ts'
import { advisoriesChanged } from './security/intel/import-osv.ts'
import { intelImported } from './security/intel/import-source.ts'
import { updateIntelAtDetection } from './security/intel/intel-at-detection.store.ts'
import { followIntel, followRules, rulesFollowed } from './security/issues/follow-changes.job.ts'
import {
  enqueueMatching,
  enqueueMatchingRegularly,
  matchComponentsJob,
  matchesChanged,
  matchingFollowed,
} from './security/matches/match-components.job.ts'
import { renameReportedRepository } from './security/repositories/select-repository.ts'
import { expireTriagesJob } from './security/triage/expire-triages.job.ts'
import { expireUploadsJob } from './security/uploads/expire-uploads.job.ts'
import { readArtifact } from './security/uploads/read-artifact.ts'
import { readUploadJob, uploadFinished } from './security/uploads/read-upload.job.ts'
import { enqueueStoredDocuments } from './security/uploads/stored-documents.ts'
import { followAliases } from './security/vex/apply-statements.ts'
import { findingsTriaged } from './security/writing/write-triage.ts'
import {
  refreshAllDays,
  refreshIssueDay,
  refreshIssueDays,
  refreshIssues,
  refreshNewestDays,
  refreshRecentDays,
} from './trends/refresh-days.job.ts'

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
  subscribe(addressChanged, renameOpenedDeployments, refreshRenamedResults),
  completeRunsJob,
  readRunDetailsJob,
  readRunFailuresJob,
  subscribe(runFinished, followRun, refreshRunGates, refreshRunResults),
  subscribe(reportChanged, refreshRunGates, refreshRunResults),
  subscribe(evidenceReplaced, followEvidence),
  subscribe(artifactCompleted, readArtifact),
  subscribe(ownershipCompleted, readOwnership),
  readUploadJob,
  subscribe(uploadFinished, refreshUploadGates, refreshUploadResults, refreshIssues),
  readAlertJob,
  reconcileAlertsJob,
  subscribe(alertsChanged, refreshRepositoryGates, refreshNamedResults, refreshIssues),
  subscribe(findingsTriaged, refreshRepositoryGates, refreshNamedResults, refreshIssues),
  subscribe(intelImported, followIntel, followAliases, updateIntelAtDetection, refreshAllGates, refreshAllResults),
  subscribe(advisoriesChanged, enqueueMatching),
  matchComponentsJob,
  subscribe(matchesChanged, refreshRepositoryGates, refreshNamedResults, refreshIssues),
  subscribe(matchingFollowed, refreshOrganizationGates, refreshOrganizationResults, refreshIssues),
  subscribe(rulesFollowed, enqueueStoredDocuments),
  readRepositoryPoliciesJob,
  subscribe(policyChanged, refreshOrganizationGates, refreshOrganizationResults),
  subscribe(defaultTrustChanged, refreshOrganizationGates, refreshOrganizationResults),
  evaluateRepositoryJob,
  decideByPolicyJob,
  readAttemptJob,
  readRequestsJob,
  readEnvironmentJob,
  readReviewsJob,
  subscribe(gateConfigured, assignGates, refreshOrganizationGates),
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
  normalizeAddresses,
  forgetUnfinishedArtifacts,
  expireUploadsJob,
  expireTriagesJob,
  followRules,
  enqueueMatchingRegularly,
  settleDeployments,
  fetchIntelDaily,
  evaluateDaily,
  recordDueChanges,
  verifyChainsDaily,
  verifyLogDaily,
  verifyRowsDaily,
  refreshNewestDays,
  refreshRecentDays,
  refreshAllDays,
  refreshIssueDays,
  removeExpiredDaily,
  removeAbandoned,
  sweepObjects,
]
