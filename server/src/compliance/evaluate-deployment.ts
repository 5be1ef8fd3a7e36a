import type { Tx } from '../platform/db/sql.ts'
import { newUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { policyError } from './engines/read-verdicts.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import { listPolicies, type Policy } from './policy.store.ts'
import { coversDeployment } from './policy-binding.ts'
import { findBundle } from './policy-bundle.store.ts'
import { decide, decideTogether } from './policy-decision.ts'
import type { PolicyEvaluation, PolicyVerdict } from './policy-evaluation.ts'
import { readPolicyInput } from './read-policy-input.ts'

/** What is about to be let out, and which policies its gates ask by name beside those that bind by themselves. */
export type DeploymentToEvaluate = {
  org_id: string
  deployment_id: string
  run_id: string | null
  attempt: number
  environment: string
  repository: string
  branch: string | null
  commit_sha: string
  policies: string[]
}

/**
 * Asks every policy that covers a deployment. Reads only; what comes of the answer is the gate's to decide and to store.
 * A policy that a gate asks and nobody has, or that cannot be read, blocks.
 */
export async function evaluateDeployment(
  services: Services,
  tx: Tx,
  deployment: DeploymentToEvaluate,
): Promise<PolicyEvaluation> {
  const at = services.clock.now()
  const stored = await listPolicies(tx, deployment.org_id)
  const asked = new Set(deployment.policies)
  const policies = stored.filter((policy) => asked.has(policy.name) || covers(policy, deployment))
  const unknown = deployment.policies.filter((name) => !stored.some((policy) => policy.name === name))
  const verdicts = unknown.map(unknownPolicy)
  if (policies.length > 0) verdicts.push(...(await evaluateAll(services, tx, policies, deployment, at)))
  return { evaluation_id: newUuid(at), at, decision: decideTogether(verdicts), policies: verdicts }
}

/** Of one that cannot be read nobody knows what it covers. */
function covers({ definition }: Policy, deployment: DeploymentToEvaluate): boolean {
  return definition === null || coversDeployment(definition.bindings, deployment)
}

function unknownPolicy(name: string): PolicyVerdict {
  const rules = policyError(`A gate asks for the policy ${name}, which there is not`)
  return { id: name, name, version: 0, mode: 'enforce', decision: 'block', rules }
}

async function evaluateAll(
  services: Services,
  tx: Tx,
  policies: Policy[],
  deployment: DeploymentToEvaluate,
  at: Date,
): Promise<PolicyVerdict[]> {
  const { org_id, deployment_id: id, run_id, attempt, environment, repository, branch, commit_sha } = deployment
  const subject = {
    ...{ org_id, repository, branch },
    run: run_id === null ? null : { id: run_id, attempt },
    deployment: { id, branch, commit_sha, attempt },
    environment: { name: environment },
  }
  const input = await readPolicyInput(tx, subject, at)
  return Promise.all(
    policies.map(async ({ definition, ...policy }) => {
      const rules =
        definition === null
          ? policyError('The stored policy cannot be read; apply its file again')
          : await evaluatePolicy(services, definition.engine, input, (sha256) => findBundle(tx, org_id, sha256))
      return { ...policy, rules, decision: decide(policy.mode, rules) }
    }),
  )
}
