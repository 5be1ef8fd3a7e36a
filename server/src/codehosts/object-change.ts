import type { HostAlertName } from './host-alert.ts'
import type { ToldPush } from './host-change.ts'
import type { HostGateRequest } from './host-deployment.ts'

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
