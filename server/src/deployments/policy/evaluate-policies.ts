import { findRun } from '../../ci/runs/run.store.ts'
import { evaluateDeployment } from '../../compliance/evaluate-deployment.ts'
import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import type { DeploymentState } from '../deployment-state.ts'
import type { RequiredGate } from '../required-gate.store.ts'

/**
 * What the policies say of a deployment now. Never fails: policies that cannot be read block (specification, "Approve
 * and reject rules" 4). Holds no lock, for a policy engine may be another machine.
 */
export async function evaluatePolicies(
  services: Services,
  orgId: string,
  state: DeploymentState,
  required: RequiredGate[],
): Promise<PolicyEvaluation> {
  const now = services.clock.now()
  try {
    return await services.sql.begin(async (tx) => {
      const { pipeline_run_id: run_id, attempt } = state
      const run = run_id === null ? null : await findRun(tx, { org_id: orgId, run_id, attempt }, now)
      return evaluateDeployment(services, tx, {
        org_id: orgId,
        deployment_id: state.id,
        run_id: run?.id ?? null,
        attempt,
        environment: state.environment,
        repository: run?.repository ?? state.repository_full_name,
        branch: state.branch,
        commit_sha: state.commit_sha,
        policies: [...new Set(required.flatMap(({ policies }) => policies))],
      })
    })
  } catch (err) {
    services.log.error({ err, deployment_id: state.id }, 'policies could not be evaluated')
    return { evaluation_id: newUuid(now), at: now, decision: 'block', policies: [] }
  }
}
