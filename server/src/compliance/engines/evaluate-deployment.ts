import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import type { PolicyEngine } from '../policies/policy.schema.ts'
import { type AskedTimes, findBundle, listPolicies, type Policy } from '../policies/policy.store.ts'
import { isDeploymentCovered, type WorkflowName } from '../policies/policy-binding.ts'
import { createPlainEnvironment, type PolicyInput } from '../policies/policy-input.schema.ts'
import {
  createErrorVerdict,
  createUnreadableVerdict,
  decide,
  decideTogether,
  type EarlierVersion,
  type PolicyEvaluation,
  type PolicyVerdict,
  selectCounting,
} from '../policies/policy-verdict.ts'
import { readPolicyInput } from '../policies/read-policy-input.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import { PolicyAsker, PolicyBudgetError } from './policy-queue.ts'

/** A deployment as policies see it. */
export type DeploymentSubject = {
  org_id: string
  deployment_id: string
  run_id: string | null
  attempt: number
  environment: string
  repository: string
  /** The code host of the repository, where it is known. */
  provider?: string | null
  branch: string | null
  workflow?: WorkflowName
  /** The protection rules of the environment on its code host; absent if it has none. */
  protection?: Omit<NonNullable<PolicyInput['environment']>, 'name'>
  commit_sha: string | null
}

/**
 * A deployment to evaluate. `policies` are the names of the policies that its gates require, and
 * `waitMs` is how long each may wait for its turn, if that is less than a minute. With `opened`,
 * when that was, it is also asked under earlier versions of its policies.
 */
export type DeploymentToEvaluate = DeploymentSubject & { policies: string[]; opened?: Date; waitMs?: number }

/**
 * Evaluates the policies whose bindings cover a deployment or that its gates require, also under
 * earlier versions that are still asked; what these say counts where it is worse. Stores nothing. A
 * required policy that does not exist blocks, and so does one that cannot be read.
 */
export async function evaluateDeployment(
  services: Services,
  deployment: DeploymentToEvaluate,
): Promise<PolicyEvaluation> {
  const { sql } = services
  const at = services.clock.now()
  const readInput = () => readDeploymentInput(sql, deployment, at)
  const asked = deployment.opened && { opened: deployment.opened, now: at }
  // Policies that gates name need the input for sure, so that it is read at the same time.
  const [stored, inputSoon] = await Promise.all([
    listPolicies(sql, deployment.org_id, { repository: deployment.repository, asked }),
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
    const evaluated = await evaluateAll(services, policies, { ...deployment, input, asked })
    verdicts.push(...[...Map.groupBy(evaluated.verdicts, ({ id }) => id).values()].flatMap(selectCounting))
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

type Evaluated = { org_id: string; waitMs?: number; input: PolicyInput; asked: AskedTimes | undefined }

async function evaluateAll(
  services: Services,
  policies: Policy[],
  { org_id, waitMs, input, asked }: Evaluated,
): Promise<{ verdicts: PolicyVerdict[]; isOverBudget: boolean }> {
  const counts = Map.groupBy(policies, ({ id }) => id)
  const findIn = (sha256: string) => findBundle(services.sql, org_id, sha256)
  const options = { isGate: true, ...(waitMs !== undefined && { waitMs }) }
  const asker = new PolicyAsker(org_id, options)
  // What repositories have in their files uses up none of the time of the organization's policies.
  const repositoryAsker = new PolicyAsker(org_id, { ...options, isRepository: true })
  let hasWaited = false
  const ask = (engine: PolicyEngine, isRepository: boolean) =>
    evaluatePolicy(services, engine, input, {
      findBundle: findIn,
      asker: isRepository ? repositoryAsker : asker,
    }).catch((error) => {
      if (!(error instanceof PolicyBudgetError)) throw error
      hasWaited = true
      return createErrorVerdict(error.message)
    })
  const verdicts = await Promise.all(
    policies.map(async ({ definition, created_at, replaced_at, ...policy }) => {
      const isTooMany = replaced_at !== null && (counts.get(policy.id)?.length ?? 0) > VERSIONS_MAX
      const rules = isTooMany
        ? createErrorVerdict(`The policy was changed more often than ${VERSIONS_MAX} times within a day`)
        : definition === null
          ? createUnreadableVerdict()
          : await ask(definition.engine, policy.path !== null)
      const earlier = replaced_at && asked && { earlier: toEarlier({ created_at, replaced_at }, asked) }
      return { ...policy, ...earlier, rules, decision: decide(policy.mode, rules) }
    }),
  )
  return { verdicts, isOverBudget: hasWaited || asker.leftMs <= 0 || repositoryAsker.leftMs <= 0 }
}

/** Versions of one policy that are evaluated for a deployment. */
const VERSIONS_MAX = 20

/** What was in force at the opening is asked as long as the deployment waits. */
function toEarlier(
  { created_at, replaced_at }: Pick<Policy, 'created_at'> & { replaced_at: Date },
  { opened }: AskedTimes,
): EarlierVersion {
  const isOfOpening = created_at !== null && created_at <= opened && replaced_at > opened
  return { replaced_at, asked_until: isOfOpening ? null : new Date(replaced_at.getTime() + DAY_MS) }
}
