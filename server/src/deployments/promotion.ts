import type { CommitRuns, RunArtifacts } from '../ci/evidence/commit-evidence.store.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import { type DeploymentKey, OWN_RULE } from './deployment-state.ts'

/** A rule of a policy as it was evaluated for a deployment. */
export type PromotionRule = {
  rule: string
  name: string
  status: 'pass' | 'fail' | 'warn' | 'error'
  blocking: boolean
  reason: string | null
}

export type PromotionPolicy = {
  id: string
  name: string
  version: number
  /** SHA-256 of the version's definition; null for a policy that does not exist. */
  sha256: string | null
  mode: 'monitor' | 'enforce'
  decision: 'approve' | 'block' | 'warn'
  /** Null if the deployment is older than the storage of rule results. */
  rules: PromotionRule[] | null
}

/** A deployment as one step of a promotion path. Times are formatted as in the API. */
export type PromotionStep = {
  id: string
  trust: 'self_reported' | 'verified'
  environment: string
  status: DeploymentStatus
  run: { id: string; attempt: number } | null
  workflow: string | null
  branch: string | null
  author: string | null
  protection_rules: string[]
  required_reviewers: string[]
  required_reviewer_teams: string[]
  gates: {
    id: string
    name: string
    required_approvals: number
    /** The policies that the gate names. */
    policies: string[]
    approved_at: string | null
    approved_by: 'policies' | 'principals' | null
  }[]
  approvals: {
    decision: 'approved' | 'rejected'
    principal: { type: 'api_key' | 'user'; id: string; name: string }
    reason: string
    comment: string | null
    at: string
  }[]
  reviews: { reviewer: string; state: string; comment: string | null; at: string | null }[]
  policies: {
    evaluation_id: string
    at: string
    decision: 'approve' | 'block' | 'none'
    answered: string | null
    policies: PromotionPolicy[]
  } | null
  override: {
    by: string | null
    reason: string
    self_override: boolean
    evaluation_id: string | null
    at: string
    policies: {
      id: string
      name: string
      version: number
      decision: string
      rules: { rule: string; name: string | null; status: string; reason: string | null }[]
    }[]
  } | null
  bypass: {
    at: string
    from: string
    to: string
    actor: string | null
    gates: string[]
    policies: string[]
  } | null
  created_at: string
  deployed_at: string | null
  rolled_back_at: string | null
}

/** How a commit came to an environment. */
export type PromotionPath = {
  runs: CommitRuns
  artifacts: RunArtifacts
  earlier: { items: PromotionStep[]; omitted: number }
  deployment: PromotionStep
}

/** What decides whether statements about a deployment can be issued. */
export type PromotedDeployment = DeploymentKey & {
  status: DeploymentStatus
  provider: string | null
  /** Null for a self-reported deployment. */
  repository_id: string | null
  /** `host/owner/name` */
  address: string
  environment: string
  branch: string | null
  commit_sha: string
  /** The status of the deployment's attempt of its run; null while it is unknown. */
  run_status: string | null
  custom_rule_state: string | null
  bypass: PromotionStep['bypass']
  override: { evaluation_id: string | null } | null
  policy_evaluation: { evaluation_id: string; decision: string } | null
  succeeded_at: Date | null
  created_at: Date
}

const FINAL: readonly DeploymentStatus[] = ['success', 'failure', 'cancelled', 'rejected', 'expired', 'rolled_back']

/** True if the deployment and the attempt that it belongs to will not go on. */
export function isOver({ status, run_status }: PromotedDeployment): boolean {
  return FINAL.includes(status) && run_status !== 'queued' && run_status !== 'in_progress'
}

/**
 * True if the deployment succeeded, whatever happened to it later. One that was rejected or expired
 * can have succeeded on its code host.
 */
export function hasSucceeded({ status, succeeded_at }: PromotedDeployment): boolean {
  if (status === 'success' || status === 'rolled_back') return true
  return (status === 'rejected' || status === 'expired') && succeeded_at !== null
}

export type Verdict = {
  /** A policy blocked and nobody overrode it, or the deployment went on without our approval. */
  failed: boolean
  /** Policies in `enforce` were evaluated and passed, without an override. */
  policies_passed: boolean
  /** Our own gate approved the deployment, and no protection rule was bypassed. */
  gated: boolean
}

/** What the gates and policies say about a successful deployment (provenance.md §3, row 3). */
export function verdictOf(deployment: PromotedDeployment): Verdict {
  const { bypass, override, policy_evaluation: evaluation, custom_rule_state } = deployment
  const isOverridden = override !== null && override.evaluation_id === evaluation?.evaluation_id
  const isBlocked = evaluation?.decision === 'block' && !isOverridden
  const isBypassed = custom_rule_state !== null && custom_rule_state !== 'approved'
  return {
    failed: isBlocked || isBypassed || (bypass?.gates.includes(OWN_RULE) ?? false),
    policies_passed: evaluation?.decision === 'approve' && override === null,
    gated: custom_rule_state === 'approved' && bypass === null,
  }
}
