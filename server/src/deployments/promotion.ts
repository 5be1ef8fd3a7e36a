import type { StatedSubject } from '../ci/evidence/commit-evidence.schema.ts'
import type { ArtifactLanes, CommitRuns, RunArtifacts } from '../ci/evidence/commit-evidence.store.ts'
import { isFinal, type RunStatus } from '../ci/runs/run-status.ts'
import type { TrustClass } from '../ci/runs/trust.ts'
import type { DeploymentStatus } from './deployment.schema.ts'
import { type DeploymentKey, OWN_RULE } from './deployment-state.ts'
import type { PromotionStep } from './promotion.schema.ts'

/** How a commit came to an environment. */
export type PromotionPath = {
  runs: CommitRuns
  artifacts: RunArtifacts
  earlier: { items: PromotionStep[]; omitted: number }
  deployment: PromotionStep
}

/** Which lanes stated what is deployed, and when the deployment was decided. */
export type PathLanes = {
  decided_at: string
  commit: TrustClass
  /** Of the artifacts of the path, in their order. */
  artifacts: ArtifactLanes
  /** Absent if there are none. */
  subjects?: StatedSubject[]
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
  /** Empty if it is not known. */
  commit_sha: string
  /** The status of the deployment's attempt of its run; null while it is unknown. */
  run_status: RunStatus | null
  custom_rule_state: string | null
  bypass: PromotionStep['bypass']
  override: { evaluation_id: string | null } | null
  policy_evaluation: { evaluation_id: string; decision: string } | null
  /** Whether a rule of a policy that was evaluated in `enforce` accepts evidence of every lane. */
  accepts_any_trust: boolean
  succeeded_at: Date | null
  created_at: Date
}

const FINAL: readonly DeploymentStatus[] = ['success', 'failure', 'cancelled', 'rejected', 'expired', 'rolled_back']

/** True if the deployment and the attempt that it belongs to will not go on. */
export function isOver({ status, run_status }: PromotedDeployment): boolean {
  return FINAL.includes(status) && (run_status === null || isFinal(run_status))
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
  /** A policy blocked and was not overridden, or the deployment went on without our approval. */
  failed: boolean
  /**
   * Policies in `enforce` were evaluated and passed, without an override and by verified evidence.
   */
  policies_passed: boolean
  /** Our own gate approved the deployment, and no protection rule was bypassed. */
  gated: boolean
}

/** What the gates and policies say about a successful deployment (provenance.md §3, row 3). */
export function getVerdict(deployment: PromotedDeployment): Verdict {
  const { bypass, override, policy_evaluation: evaluation, custom_rule_state, accepts_any_trust } = deployment
  const isOverridden = override !== null && override.evaluation_id === evaluation?.evaluation_id
  const isBlocked = evaluation?.decision === 'block' && !isOverridden
  const isBypassed = custom_rule_state !== null && custom_rule_state !== 'approved'
  return {
    failed: isBlocked || isBypassed || (bypass?.gates.includes(OWN_RULE) ?? false),
    policies_passed: evaluation?.decision === 'approve' && override === null && !accepts_any_trust,
    gated: custom_rule_state === 'approved' && bypass === null,
  }
}
