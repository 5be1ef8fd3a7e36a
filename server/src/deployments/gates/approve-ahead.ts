import { isDeepStrictEqual } from 'node:util'
import { findRun, type StoredRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import type { DeploymentSubject } from '../../compliance/engines/evaluate-deployment.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listAskedGates } from '../asked-gate.store.ts'
import { type AskedVersion, type GateToRequire, selectRequired } from '../asked-gate.ts'
import { evaluateSubject } from '../decisions/evaluate-policies.ts'
import { canApproveByPolicies, isApprovedByPolicies } from '../policy-evaluation.ts'
import { findOpenedGate, type OpenedGateIds, type OpenedGateKey } from './opened-gate.store.ts'

/** The deployment that a gate is about to be opened for, and all gates that cover it. */
type Opening = { subject: DeploymentSubject; required: GateToRequire[] }

/** Policies that approve a deployment which is not stored yet. */
export type EarlyApproval = Opening & { evaluation: PolicyEvaluation }

type EarlyAnswer = {
  approval: EarlyApproval | null
  /** The policies have not answered in time. */
  isLate: boolean
  /** The gate that was opened before. */
  opened: OpenedGateIds | null
}

/**
 * Evaluates the policies of a deployment before its gate is opened, so that the deployment is
 * stored together with its approval. Null if the policies do not approve it: news of evidence is
 * evaluated only for stored deployments, so that any other verdict has to be found once the
 * deployment is stored. Takes no lock, because a policy engine can be a remote server.
 */
export async function approveAhead(services: Services, key: OpenedGateKey, deploymentId: string): Promise<EarlyAnswer> {
  const { sql, clock } = services
  const now = clock.now()
  const [opened, run, gates] = await Promise.all([
    findOpenedGate(sql, key),
    findRun(sql, key, now),
    listAskedGates(sql, key.org_id, { opened: now, now }),
  ])
  const unasked = { approval: null, isLate: false, opened }
  if (opened !== null || run === null || isFinal(run.status)) return unasked
  const opening = toOpening({ key, run, gates, now }, deploymentId)
  if (opening.required.length === 0 || !opening.required.every(canApproveByPolicies)) return unasked
  const evaluation = await evaluateSubject(services, opening.subject, opening.required)
  const approves = opening.required.every((gate) => isApprovedByPolicies(gate, evaluation))
  return { approval: approves ? { ...opening, evaluation } : null, isLate: evaluation.isOverBudget ?? false, opened }
}

/**
 * Whether the approval is of the deployment that is now stored: until the run was locked, it and
 * the configured gates could change.
 */
export function isApprovalFor({ subject, required }: EarlyApproval, asked: Asked): boolean {
  return isDeepStrictEqual({ subject, required }, toOpening(asked, subject.deployment_id))
}

type Asked = { key: OpenedGateKey; run: StoredRun; gates: AskedVersion[]; now: Date }

/** The subject is the same as `findSubject` returns when the deployment is stored. */
function toOpening({ key, run, gates, now }: Asked, deploymentId: string): Opening {
  const { org_id, attempt, environment } = key
  const subject = {
    org_id,
    deployment_id: deploymentId,
    run_id: run.id,
    attempt,
    environment,
    repository: run.own_repository,
    provider: run.linked_repository?.provider ?? null,
    branch: parseBranchName(run.ref),
    workflow: { name: run.pipeline_name, path: null },
    commit_sha: run.own_commit_sha,
  }
  return { subject, required: selectRequired(gates, subject, now) }
}
