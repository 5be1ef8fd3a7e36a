import { MINUTE_MS } from '../platform/clock.ts'
import type { Awaited, DeploymentStatus } from './deployment.schema.ts'

/** How long a deployment waits for an answer (decisions §9). */
export const ANSWER_WITHIN_MS = 12 * 60 * MINUTE_MS

/** The name of the service's own protection rule on the wire. */
export const OWN_RULE = 'customRule'

export type DeploymentKey = { org_id: string; id: string }

const AWAITED_NAMES: Record<Awaited, string> = {
  customRule: "Shiplock's rule",
  required_reviewers: 'required reviewers',
  wait_timer: 'a wait timer',
  external_custom_rules: 'the rules of other Apps',
  protection_rules: 'protection rules that could not be read yet',
}

/** `required reviewers and a wait timer`: what holds a deployment, as people read it. */
export function describeAwaited(awaiting: readonly Awaited[]): string {
  return new Intl.ListFormat('en').format(awaiting.map((gate) => AWAITED_NAMES[gate]))
}

/**
 * The fields of a deployment that determine whether it can be approved or rejected, and by whom.
 */
export type DeploymentState = DeploymentKey & {
  status: DeploymentStatus
  gated: boolean
  provider: string | null
  /** State of the code host's required reviewers; null when the code host requires none. */
  reviewers_state: string | null
  /** State of the service's own protection rule; null when the deployment does not have it. */
  custom_rule_state: string | null
  answer_until: Date | null
  /** What a code host still holds the deployment for. Empty for deployments of opened gates. */
  awaiting: Awaited[]
  created_at: Date
  pipeline_run_id: string | null
  attempt: number
  environment: string
  /** The host of a code host's deployment; null for deployments of opened gates. */
  host: string | null
  repository_full_name: string
  branch: string | null
  commit_sha: string | null
  /** Both null while the run of a code host's deployment is unknown. */
  workflow_name: string | null
  workflow_path: string | null
  protection_rule_types: string[]
  required_reviewers: string[]
  required_reviewer_teams: string[]
  policies_asked_at: Date | null
  /** Whether the client that opened the gate has yet to read the approval. */
  unread: boolean
  /** How long its gate waits; null for the default. */
  timeout_minutes: number | null
}

/** How long the gate of a deployment waits for an answer. */
export function getAnswerWithinMs({ timeout_minutes }: Pick<DeploymentState, 'timeout_minutes'>): number {
  return timeout_minutes === null ? ANSWER_WITHIN_MS : timeout_minutes * MINUTE_MS
}

/** True if the service's own protection rule still waits for an answer at `now`. */
export function isWaiting({ status, custom_rule_state, answer_until }: DeploymentState, now: Date): boolean {
  const isOverdue = answer_until !== null && answer_until <= now
  return status === 'pending_approval' && custom_rule_state === 'pending' && !isOverdue
}

/** True if the deployment is approved, but nobody knows it yet: nothing can have been deployed. */
export function isApprovalUnused({ status, custom_rule_state, unread }: DeploymentState): boolean {
  return status === 'approved' && custom_rule_state === 'approved' && unread
}

/** `host/owner/name`, or only `owner/name` if the host is unknown. */
export function getRepositoryAddress({ host, repository_full_name }: DeploymentState): string {
  return host === null ? repository_full_name : `${host}/${repository_full_name}`
}

/** True if required reviewers on the code host have not answered yet. */
export function isAwaitingReviewers({ status, reviewers_state }: DeploymentState): boolean {
  return status === 'pending_approval' && reviewers_state === 'pending'
}

/**
 * A gate that must approve the deployment, as it was configured when the deployment was created, or
 * stricter if it was within a day before or has become so.
 */
export type RequiredGate = {
  id: string
  name: string
  required_approvals: number
  allow_api_keys: boolean
  allow_run_creator: boolean
  policies: string[]
  approve_by_policies: ApproveByPolicies
  require_linked_accounts: boolean
  approved_at: Date | null
  /** Null until it is approved. */
  approved_by: 'policies' | 'principals' | null
  /** Whether it was opened again after a rejection, so that policies alone do not approve it. */
  after_rejection: boolean
  /** Whether its policies are also asked under versions that were replaced. */
  asks_earlier: boolean
  /** When settings that still decide were changed or deleted; null if those of now decide. */
  replaced_at: Date | null
}

/**
 * Whether policies approve a gate (decisions §9): those that it names, together; none; or, for
 * gates stored before gates said so, all policies of the organization that cover the deployment.
 */
export type ApproveByPolicies = boolean | 'covering'

/** What a client that polls the opened gate of a deployment sees. */
export type GateState = {
  status: 'waiting' | 'decided' | 'expired' | 'cancelled'
  decision: 'pending' | 'approved' | 'rejected'
  decided_by: string | null
  note: string | null
}

/**
 * The final result of the service's own protection rule, for the deployment and for its opened
 * gate.
 */
export type Outcome = {
  status: DeploymentStatus
  custom_rule_state: 'approved' | 'rejected' | 'expired' | 'cancelled'
  gate: GateState
  /** The Markdown comment for the code host; by default the note of the gate. */
  comment?: string
}

/** The outcome of a gate that nobody has answered in its time; null for the default. */
export function createExpiredOutcome(timeoutMinutes: number | null) {
  const within = timeoutMinutes === null ? '12 hours' : `${timeoutMinutes} minutes`
  const note = `The deployment was not approved or rejected within ${within}.`
  const gate = { status: 'expired', decision: 'rejected', decided_by: 'expiry', note } as const
  return { status: 'expired', custom_rule_state: 'expired', gate } as const satisfies Outcome
}

export const SUPERSEDED = cancelled('A higher attempt of the run opened a gate for the same environment and job.')

/** The evidence of the run is that of another one since. */
export const TAKEN_OVER = cancelled('A CI job has taken over the run. Open the gate again.')

/** A run that ended without success cannot deploy. */
export function runEnded(runStatus: string): Outcome {
  return cancelled(`The run has finished with the status ${runStatus}.`)
}

/** Who opened the gate needs it no more. `by` becomes its `decided_by`. */
export function createWithdrawnOutcome(by: string): Outcome {
  return cancelled('Who opened the gate has cancelled the deployment.', by)
}

function cancelled(note: string, decided_by = 'run') {
  const gate = { status: 'cancelled', decision: 'rejected', decided_by, note } as const
  return { status: 'cancelled', custom_rule_state: 'cancelled', gate } as const satisfies Outcome
}

/** The outcome after the last required answer. `by` becomes the `decided_by` of the gate. */
export function createDecidedOutcome(decision: 'approved' | 'rejected', by: string, note: string | null): Outcome {
  const gate = { status: 'decided', decision, decided_by: by, note } as const
  return { status: decision, custom_rule_state: decision, gate }
}
