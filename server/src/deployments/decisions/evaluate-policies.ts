import { isDeepStrictEqual } from 'node:util'
import { findRun } from '../../ci/runs/run.store.ts'
import {
  type DeploymentSubject,
  type DeploymentToEvaluate,
  evaluateDeployment,
} from '../../compliance/engines/evaluate-deployment.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { type DeploymentState, getRepositoryAddress, type RequiredGate } from '../deployment-state.ts'

/**
 * Evaluates the policies of a deployment. Never throws: policies that cannot be read block
 * (specification, "Approve and reject rules" 4). Takes no lock and keeps no connection, because a
 * policy engine can be a remote server.
 */
export async function evaluatePolicies(
  services: Services,
  state: DeploymentState,
  required: RequiredGate[],
): Promise<PolicyEvaluation> {
  const now = services.clock.now()
  return evaluate(services, state.id, required, () => findSubject(services.sql, state, now))
}

/** How long a gate that is not stored yet waits for policies, which are asked again when it is. */
const AHEAD_MS = 1000

/** The same for a deployment that is not stored yet. */
export async function evaluateSubject(
  services: Services,
  subject: DeploymentSubject,
  required: EvaluatedGate[],
): Promise<PolicyEvaluation> {
  return evaluate(services, subject.deployment_id, required, async () => ({ ...subject, waitMs: AHEAD_MS }))
}

type EvaluatedGate = Pick<RequiredGate, 'policies'>

async function evaluate(
  services: Services,
  deploymentId: string,
  required: EvaluatedGate[],
  readSubject: () => Promise<Omit<DeploymentToEvaluate, 'policies'>>,
): Promise<PolicyEvaluation> {
  const policies = [...new Set(required.flatMap(({ policies }) => policies))]
  try {
    return await evaluateDeployment(services, { ...(await readSubject()), policies })
  } catch (err) {
    const now = services.clock.now()
    services.log.error({ err, deployment_id: deploymentId }, 'The evaluation of the policies failed')
    return { evaluation_id: createUuid(now), at: now, decision: 'block', policies: [] }
  }
}

/** A deployment as its policies see it. */
export async function findSubject(db: Db, state: DeploymentState, now: Date): Promise<DeploymentSubject> {
  const { org_id, pipeline_run_id: run_id, attempt, id, environment, branch, commit_sha } = state
  const run = run_id === null ? null : await findRun(db, { org_id, run_id, attempt }, now)
  return {
    org_id,
    deployment_id: id,
    run_id: run?.id ?? null,
    attempt,
    environment,
    repository: run?.repository ?? getRepositoryAddress(state),
    branch,
    ...hostFacts(state),
    commit_sha,
  }
}

/** What policies see of the workflow, and of the environment on its code host. */
function hostFacts(state: DeploymentState) {
  const { workflow_name: name, workflow_path: path, required_reviewers, required_reviewer_teams } = state
  const protection = { protection_rules: state.protection_rule_types, required_reviewers, required_reviewer_teams }
  return {
    ...((name ?? path) !== null && { workflow: { name, path } }),
    ...(state.host !== null && { protection }),
  }
}

type Evaluated = { state: DeploymentState; required: RequiredGate[] }

/**
 * True if an evaluation of `before` still holds for `now`. The branch, the gates and the host's
 * facts of a code host's deployment can change until it is answered.
 */
export function isStillEvaluated(before: Evaluated, now: Evaluated): boolean {
  const seenBy = ({ state, required }: Evaluated) => [state.branch, hostFacts(state), required.map(({ id }) => id)]
  return isDeepStrictEqual(seenBy(before), seenBy(now))
}
