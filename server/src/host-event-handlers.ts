import { applyCheck, applyPullRequest, applyPush, applyReview } from './ci/changes/apply-change.ts'
import { findRunRepository } from './ci/evidence/newest-runs.store.ts'
import { applyHostJob, applyHostRun, applyPullRequestToRuns } from './ci/provider-runs/apply-host-run.ts'
import { listOpenProviderRuns } from './ci/provider-runs/provider-run.store.ts'
import { hasAttempt } from './ci/runs/run-attempt.store.ts'
import type { Provider } from './codehosts/catalogue.ts'
import { applyRepositoryEvent } from './codehosts/connections/save-repository.ts'
import type { HostEventHandlers, HostParts } from './codehosts/deliveries/host-event-handler.ts'
import { formatHostRunId } from './codehosts/host-run.ts'
import { followPush, followRepository } from './compliance/policy-file/read-repository-policies.job.ts'
import {
  applyDeployment,
  applyDeploymentReview,
  applyDeploymentStatus,
  applyGateRequest,
  applyRunToDeployments,
} from './deployments/events/apply-deployment.ts'
import { listOpenHostDeployments } from './deployments/events/read-reviews.ts'
import {
  followCheck,
  followLandedRun,
  followPullRequest,
  followReview,
  followTrackedPush,
} from './provenance/changes/landings.job.ts'
import { listOpenHostAlerts } from './security/alerts/host-alert.store.ts'
import { applyAlert, applyAlertChange } from './security/alerts/read-alert.job.ts'

/** The handlers of each kind of event of code hosts, in the order in which they are called. */
export const hostEventHandlers: HostEventHandlers = {
  repository: [applyRepositoryEvent, followRepository],
  run: [applyHostRun, applyRunToDeployments, followLandedRun],
  job: [applyHostJob],
  check: [applyCheck, followCheck],
  deployment: [applyDeployment],
  deployment_status: [applyDeploymentStatus],
  gate_request: [applyGateRequest],
  deployment_review: [applyDeploymentReview],
  alert: [applyAlert],
  alert_change: [applyAlertChange],
  pull_request: [applyPullRequest, applyPullRequestToRuns, followPullRequest],
  review: [applyReview, followReview],
  push: [applyPush, followPush, followTrackedPush],
}

/** What the jobs of code hosts need of the slices above them. */
export const hostParts: HostParts = {
  handlers: hostEventHandlers,
  listOpenRuns: listOpenProviderRuns,
  listOpenAlerts: listOpenHostAlerts,
  listOpenDeployments: listOpenHostDeployments,
  async isRunKnown(db, { org_id, provider, run_id: hostId, attempt }) {
    const run_id = formatHostRunId(provider as Provider, hostId)
    if (attempt !== undefined) return hasAttempt(db, { org_id, run_id, attempt })
    return (await findRunRepository(db, org_id, run_id)) !== null
  },
}
