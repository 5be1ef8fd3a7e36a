import type { Db } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { findBundle, listPolicies, type Policy } from '../policies/policy.store.ts'
import { isDeploymentCovered, type WorkflowName } from '../policies/policy-binding.ts'
import { createPlainEnvironment, type PolicyInput } from '../policies/policy-input.schema.ts'
import {
  createErrorVerdict,
  createUnreadableVerdict,
  decide,
  decideTogether,
  type PolicyEvaluation,
  type PolicyVerdict,
} from '../policies/policy-verdict.ts'
import { readPolicyInput } from '../policies/read-policy-input.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import { createAsker, type PolicyAsker, PolicyBudgetError } from './policy-queue.ts'

/** A deployment as policies see it. */
export type DeploymentSubject = {
  org_id: string
  deployment_id: string
  run_id: string | null
  attempt: number
  environment: string
  repository: string
  branch: string | null
  workflow?: WorkflowName
  /** The protection rules of the environment on its code host; absent if it has none. */
  protection?: Omit<NonNullable<PolicyInput['environment']>, 'name'>
  commit_sha: string | null
}

/**
 * A deployment to evaluate. `policies` are the names of the policies that its gates require, and
 * `waitMs` is how long each may wait for its turn, if that is less than a minute.
 */
export type DeploymentToEvaluate = DeploymentSubject & { policies: string[]; waitMs?: number }

/**
 * Evaluates the policies whose bindings cover a deployment or that its gates require. Stores
 * nothing. A required policy that does not exist blocks, and so does one that cannot be read.
 */
export async function evaluateDeployment(
  services: Services,
  deployment: DeploymentToEvaluate,
): Promise<PolicyEvaluation> {
  const { sql } = services
  const at = services.clock.now()
  const readInput = () => readDeploymentInput(sql, deployment, at)
  // Policies that gates name need the input for sure, so that it is read at the same time.
  const [stored, inputSoon] = await Promise.all([
    listPolicies(sql, deployment.org_id, { repository: deployment.repository }),
    deployment.policies.length > 0 ? readInput() : null,
  ])
  const required = new Set(deployment.policies)
  const policies = stored.filter(
    ({ name, path, definition }) =>
      (path === null && required.has(name)) || isDeploymentCovered(definition, deployment),
  )
  const missing = deployment.policies.filter(
    (name) => !stored.some((policy) => policy.path === null && policy.name === name),
  )
  const verdicts = missing.map(missingPolicy)
  let isOverBudget = false
  if (policies.length > 0) {
    const input = inputSoon ?? (await readInput())
    const { org_id, waitMs } = deployment
    const asker = createAsker(org_id, { isGate: true, ...(waitMs !== undefined && { waitMs }) })
    const evaluated = await evaluateAll(services, policies, { asker, input })
    verdicts.push(...evaluated.verdicts)
    isOverBudget = evaluated.isOverBudget
  }
  const decision = decideTogether(verdicts)
  return { evaluation_id: createUuid(at), at, decision, policies: verdicts, ...(isOverBudget && { isOverBudget }) }
}

function missingPolicy(name: string): PolicyVerdict {
  const rules = createErrorVerdict(`Policy ${name} does not exist, but a gate requires it`)
  return { id: name, name, version: 0, mode: 'enforce', path: null, decision: 'block', rules }
}

/** Reads the policy input of a deployment. */
export function readDeploymentInput(db: Db, deployment: DeploymentSubject, at: Date): Promise<PolicyInput> {
  const { org_id, deployment_id: id, run_id, attempt, repository, branch, commit_sha } = deployment
  const subject = {
    org_id,
    repository,
    branch,
    run: run_id === null ? null : { id: run_id, attempt },
    deployment: { id, branch, commit_sha, attempt },
    environment: { ...createPlainEnvironment(deployment.environment), ...deployment.protection },
  }
  return readPolicyInput(db, subject, at)
}

async function evaluateAll(
  services: Services,
  policies: Policy[],
  { asker, input }: { asker: PolicyAsker; input: PolicyInput },
): Promise<{ verdicts: PolicyVerdict[]; isOverBudget: boolean }> {
  const findIn = (sha256: string) => findBundle(services.sql, asker.org_id as string, sha256)
  let isOverBudget = false
  const verdicts = await Promise.all(
    policies.map(async ({ definition, ...policy }) => {
      const asking = { findBundle: findIn, asker, isRepository: policy.path !== null }
      const rules =
        definition === null
          ? createUnreadableVerdict()
          : await evaluatePolicy(services, definition.engine, input, asking).catch((error) => {
              if (!(error instanceof PolicyBudgetError)) throw error
              isOverBudget = true
              return createErrorVerdict(error.message)
            })
      return { ...policy, rules, decision: decide(policy.mode, rules) }
    }),
  )
  return { verdicts, isOverBudget }
}
