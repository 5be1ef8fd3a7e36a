import type { Provider } from './catalogue.ts'
import type { HostAlert, HostAlertName } from './host-alert.ts'
import type { HostPullRequest, HostPush, HostReview, ToldPush } from './host-change.ts'
import type { HostDeployment, HostDeploymentReview, HostDeploymentStatus, HostGateRequest } from './host-deployment.ts'
import type { HostRepository } from './host-repository.ts'
import type { HostCheck, HostJob, HostRun } from './host-run.ts'

/** The connection that an event or a list belongs to. */
export type HostSource = {
  org_id: string
  connection_id: string
  provider: Provider
  host: string
  /**
   * Whether the host told it by a webhook, and when that arrived, or was asked, and when the
   * request was sent. What is read wins over what was learned before. Absent: told, at an unknown
   * time.
   */
  learned?: { by: 'told' | 'read'; at: Date }
}

/**
 * What a code host tells: by a webhook, or in a list that was read by the synchronization. Each
 * object is complete, so that the newest one alone decides.
 */
export type HostEvents = {
  repository: { repository: HostRepository; change: 'changed' | 'deleted' | 'removed' }
  run: HostRun
  job: HostJob
  check: HostCheck
  deployment: HostDeployment
  deployment_status: HostDeploymentStatus
  gate_request: HostGateRequest
  deployment_review: HostDeploymentReview
  alert: HostAlert
  /** An alert changed. The event does not contain all its fields, so it is read from the host. */
  alert_change: HostAlertName & { repository: HostRepository }
  pull_request: HostPullRequest
  review: HostReview
  push: HostPush
}

export type HostEventKind = keyof HostEvents

export type HostEvent = { [Kind in HostEventKind]: { kind: Kind; data: HostEvents[Kind] } }[HostEventKind]

/**
 * What a webhook says has changed, at hosts whose payloads are not complete. The object is read
 * from the host, whose answer alone decides: the order of webhooks does not matter, and one that
 * arrives twice has no effect.
 */
export type ObjectChange = { repository_id: string } & (
  | { type: 'repository'; change: 'changed' | 'deleted' }
  | { type: 'run'; id: string }
  | { type: 'deployment'; id: string }
  /** The deployments of a run, at hosts that report no deployments. */
  | { type: 'run_deployments'; run_id: string }
  | { type: 'pull_request'; number: number }
  /** The checks of a commit. */
  | { type: 'checks'; commit_sha: string }
  | { type: 'alert'; alert: HostAlertName }
  /** Some alerts of the repository, at hosts that report none. */
  | { type: 'alerts' }
  /** Hosts do not list single pushes, so it contains what the webhook says of it. */
  | { type: 'push'; push: Omit<ToldPush, 'repository' | 'commits'> }
  /** The host asks our rule. Hosts do not list such requests. */
  | { type: 'gate_request'; request: Omit<HostGateRequest, 'repository' | 'deployment'> }
)
