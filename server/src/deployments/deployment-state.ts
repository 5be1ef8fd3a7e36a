import type { DeploymentStatus } from './deployment.schema.ts'

/** What decides whether, and how, a deployment can be answered. */
export type DeploymentState = {
  id: string
  status: DeploymentStatus
  gated: boolean
  provider: string | null
  /** How far people are who review on the code host; null where nobody has to. */
  reviewers_state: string | null
  /** How the service's own rule stands; null where there is none. */
  custom_rule_state: string | null
  answer_until: Date | null
  pipeline_run_id: string | null
  attempt: number
  environment: string
  repository_full_name: string
  branch: string | null
  commit_sha: string
}

/** Does the service's own rule still wait for an answer at `now`? */
export function isWaiting({ status, custom_rule_state, answer_until }: DeploymentState, now: Date): boolean {
  const isOverdue = answer_until !== null && answer_until <= now
  return status === 'pending_approval' && custom_rule_state === 'pending' && !isOverdue
}

/** Do people on the code host have to review, and have not? */
export function awaitsReviewers({ status, reviewers_state }: DeploymentState): boolean {
  return status === 'pending_approval' && reviewers_state === 'pending'
}
