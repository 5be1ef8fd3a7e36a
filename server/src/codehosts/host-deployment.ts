import { getCodeHost, type Provider } from './catalogue.ts'
import type { HostAccount, HostRepository } from './host-repository.ts'

export type HostRunAttempt = { id: string; attempt: number | null }

/** A deployment of a commit to an environment, as its code host describes it. */
export type HostDeployment = {
  repository: HostRepository
  id: string
  environment: string
  /** The branch, tag or commit that was asked for. */
  ref: string | null
  commit_sha: string
  /** The run that deploys; null if the deployment was created by other means. */
  run: HostRunAttempt | null
  creator: HostAccount | null
  description: string | null
  created_at: Date
  updated_at: Date
}

/**
 * The states of a deployment, in the same words for every code host, in the order in which they
 * follow each other. `inactive`: a newer deployment to the environment has replaced it.
 */
export const HOST_DEPLOYMENT_STATES = ['waiting', 'in_progress', 'success', 'failure', 'cancelled', 'inactive'] as const
export type HostDeploymentState = (typeof HOST_DEPLOYMENT_STATES)[number]

export type HostDeploymentStatus = {
  deployment: HostDeployment
  /** The host's id of the status; null if it has none. */
  id: string | null
  state: HostDeploymentState
  environment_url: string | null
  log_url: string | null
  /** The host's id of the job that deploys. */
  job_id: string | null
  creator: HostAccount | null
  created_at: Date
}

/** The host asks our protection rule whether a deployment may go on. */
export type HostGateRequest = {
  repository: HostRepository
  environment: string
  /** Null if the host does not say which deployment waits. */
  deployment: HostDeployment | null
  run: HostRunAttempt | null
  ref: string | null
  commit_sha: string | null
  /** Where the host expects the decision. */
  callback_url: string
  /** What the host gave us to answer with, sealed. Null if the connection can answer. */
  callback_secret: string | null
  /**
   * False: the deployment waits for a person to start it, as at hosts without rules of others. It
   * is a request only where a gate covers it.
   */
  is_rule: boolean
  requested_at: Date
}

/** Reviewers of the host were asked, or one of them answered. */
export type HostDeploymentReview = {
  repository: HostRepository
  run: HostRunAttempt
  environments: string[]
  state: 'requested' | 'approved' | 'rejected'
  reviewer: HostAccount | null
  comment: string | null
  at: Date
}

/** The protection rules of an environment. */
export type HostEnvironment = {
  name: string
  /** In the specification's words: required_reviewers, wait_timer, branch_policy, customRule. */
  rule_types: string[]
  reviewers: string[]
  reviewer_teams: string[]
  /** Protection rules of Apps. `is_own`: the rule is ours. */
  custom_rules: { app_id: string; slug: string; is_own: boolean }[]
}

/** The rules of an environment that has none, or at a host that has none. */
export const NO_RULES = {
  rule_types: [],
  reviewers: [],
  reviewer_teams: [],
  custom_rules: [],
} satisfies Partial<HostEnvironment>

/** An environment that a run waits for, and who can let it go on. */
export type HostPendingDeployment = { environment: string; reviewers: string[]; reviewer_teams: string[] }

/** Where a decision or a comment on a deployment is sent. */
export type DecisionTarget = {
  repository: { id: string; full_name: string }
  environment: string
  run_id: string
  callback_url: string | null
  callback_secret: string | null
}

/** The id under which we keep a deployment of a code host. */
export function formatHostDeploymentId(provider: Provider, deploymentId: string): string {
  return `${getCodeHost(provider).idPrefix}_deployment_${deploymentId}`
}
