import type { Scope } from '../../ci/evidence/evidence-scope.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { lazy } from '../../platform/lazy.ts'
import type { Services } from '../../services.ts'
import type { AskedEvidence } from '../policies/asked-evidence.schema.ts'
import { getScope, type PolicyDefinition } from '../policies/policy.schema.ts'
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
import { type PolicyInputs, readPolicyInputs, type ScopedInput } from '../policies/read-policy-input.ts'
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
  const inputs = lazy(() => readDeploymentInputs(sql, deployment, at))
  const asked = deployment.opened && { opened: deployment.opened, now: at }
  // Policies that gates name need the input for sure, so that it is read at the same time.
  if (deployment.policies.length > 0) inputs()
  const stored = await listPolicies(sql, deployment.org_id, { repository: deployment.repository, asked })
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
    const evaluated = await evaluateAll(services, policies, { ...deployment, inputs: inputs(), asked })
    verdicts.push(...[...Map.groupBy(evaluated.verdicts, ({ id }) => id).values()].flatMap(selectCounting))
    isOverBudget = evaluated.isOverBudget
  }
  const decision = decideTogether(verdicts)
  const scopes = new Set(policies.flatMap(({ definition }) => (definition === null ? [] : [getScope(definition)])))
  const evidence = await Promise.all(
    [...scopes].sort().map(async (scope) => toAskedEvidence(scope, await inputs()(scope))),
  )
  const evaluation = { evaluation_id: createUuid(at), at, decision, policies: verdicts, evidence }
  return { ...evaluation, ...(isOverBudget && { isOverBudget }) }
}

const PIECES_MAX = 100

/** The last input has everything that the others have. */
function toAskedEvidence(scope: Scope, { inputs, notes }: ScopedInput): AskedEvidence {
  const attestations = inputs.at(-1)?.attestations ?? []
  const pieces = attestations.slice(0, PIECES_MAX).map((piece) => {
    const { run_id = '', attempt = 0, pipeline = '', job, report_id, kind, name, status, trust } = piece
    return { run_id, attempt, pipeline, job, report_id, kind, name, status, trust }
  })
  return { scope, pieces, omitted: attestations.length - pieces.length, notes }
}

function missingPolicy(name: string): PolicyVerdict {
  const rules = createErrorVerdict(`Policy ${name} does not exist, but a gate requires it`)
  return { id: name, name, version: 0, mode: 'enforce', path: null, decision: 'block', rules }
}

/** Reads the policy inputs of a deployment. */
export function readDeploymentInputs(db: Db, deployment: DeploymentSubject, at: Date): PolicyInputs {
  const { org_id, deployment_id: id, run_id, attempt, repository, branch, commit_sha } = deployment
  const subject = {
    org_id,
    repository,
    branch,
    run: run_id === null ? null : { id: run_id, attempt },
    deployment: { id, branch, commit_sha, attempt },
    environment: { ...createPlainEnvironment(deployment.environment), ...deployment.protection },
  }
  return readPolicyInputs(db, subject, at)
}

type Evaluated = { org_id: string; waitMs?: number; inputs: PolicyInputs; asked: AskedTimes | undefined }

async function evaluateAll(
  services: Services,
  policies: Policy[],
  { org_id, waitMs, inputs, asked }: Evaluated,
): Promise<{ verdicts: PolicyVerdict[]; isOverBudget: boolean }> {
  const counts = Map.groupBy(policies, ({ id }) => id)
  const findIn = (sha256: string) => findBundle(services.sql, org_id, sha256)
  const options = { isGate: true, ...(waitMs !== undefined && { waitMs }) }
  const asker = new PolicyAsker(org_id, options)
  // What repositories have in their files uses up none of the time of the organization's policies.
  const repositoryAsker = new PolicyAsker(org_id, { ...options, isRepository: true })
  let hasWaited = false
  const ask = async (definition: PolicyDefinition, isRepository: boolean) => {
    const asking = { findBundle: findIn, asker: isRepository ? repositoryAsker : asker }
    const { inputs: asked } = await inputs(getScope(definition))
    return evaluatePolicy(services, definition.engine, asked, asking).catch((error) => {
      if (!(error instanceof PolicyBudgetError)) throw error
      hasWaited = true
      return createErrorVerdict(error.message)
    })
  }
  const verdicts = await Promise.all(
    policies.map(async ({ definition, created_at, replaced_at, ...policy }) => {
      const isTooMany = replaced_at !== null && (counts.get(policy.id)?.length ?? 0) > VERSIONS_MAX
      const rules = isTooMany
        ? createErrorVerdict(`The policy was changed more often than ${VERSIONS_MAX} times within a day`)
        : definition === null
          ? createUnreadableVerdict()
          : await ask(definition, policy.path !== null)
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
