import type { RunStatus } from '../../ci/runs/run-status.ts'
import type { HostDeploymentState } from '../../codehosts/host-deployment.ts'

export type HostStatus = {
  id: string
  state: HostDeploymentState
  environment_url: string | null
  log_url: string | null
  job_id: string | null
  creator: string | null
  created_at: Date
}

/** The protection rules of an environment, as they are stored. */
export type EnvironmentRules = {
  rule_types: string[]
  reviewers: string[]
  reviewer_teams: string[]
  custom_rules: { app_id: string; slug: string; is_own: boolean }[]
  /** False if the rules could not be read. */
  is_known: boolean
}

export type StoredReview = {
  /** 0 if the host did not name the attempt. */
  attempt: number
  state: 'requested' | 'approved' | 'rejected'
  reviewer: string
  avatar_url: string | null
  comment: string | null
  at: Date
  /** How often a list contained the review. */
  times: number
}

/** What a deployment shows of its run. */
export type RunFacts = {
  attempt: number
  status: RunStatus
  workflow_name: string | null
  workflow_path: string | null
  ref: string | null
  commit_message: string | null
  release_name: string | null
  author: string | null
  author_avatar_url: string | null
  html_url: string | null
  created_at: Date
}

/** The answer of the service's own protection rule. */
export type RuleDecision = 'approved' | 'rejected' | 'expired'

/** Columns of a deployment that hold facts. */
export type DeploymentFacts = {
  org_id: string
  id: string
  provider: string
  repository_id: string
  /** `host/owner/name` */
  repository_address: string
  environment: string
  commit_sha: string
  pipeline_run_id: string | null
  host_run_id: string | null
  host_attempt: number | null
  host_ref: string | null
  host_creator: string | null
  host_creator_avatar_url: string | null
  environment_rules: EnvironmentRules | null
  reviews_read: 'done' | 'failed' | null
  rule_decision: RuleDecision | null
  rule_answer_until: Date | null
  decision_undelivered: boolean
  /** Names of the policies that blocked when they were last evaluated. */
  blocking_policies: string[]
  /** Whether the deployment is stored as one that has bypassed our rule. It stays so. */
  has_bypassed_rule: boolean
  created_at: Date
}

/** The next successful deployment to the environment. */
export type NextSuccess = { id: string; succeeded_at: Date; is_rollback: boolean }

/** Everything that the state of a deployment is derived from. */
export type HostFacts = {
  deployment: DeploymentFacts
  /** Oldest first. */
  statuses: HostStatus[]
  /** Reviews of the run for the environment, oldest first. */
  reviews: StoredReview[]
  run: RunFacts | null
  /** Where our protection rule was asked; null if it was not. */
  callback_url: string | null
  /** Whether our rule has approved another deployment in answer to the same question. */
  is_approved_beside: boolean
  previous_attempt_id: string | null
  next_attempt_id: string | null
  next_success: NextSuccess | null
}

export type EnvironmentKey = { org_id: string; provider: string; repository_id: string; environment: string }

/** The environment of a deployment. */
export function getEnvironmentKey({ org_id, provider, repository_id, environment }: EnvironmentKey): EnvironmentKey {
  return { org_id, provider, repository_id, environment }
}
