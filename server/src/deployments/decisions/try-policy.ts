import type { Actor } from '../../access/actor.ts'
import { requirePermission } from '../../access/gateway/authorize-people.ts'
import {
  type DryRun,
  type DryRunSubject,
  EXAMINED_MAX,
  evaluateDryRun,
  findRunsToTry,
  type TrialFilter,
  type TriedRun,
} from '../../compliance/engines/dry-run-policy.ts'
import { readDeploymentInputs } from '../../compliance/engines/evaluate-deployment.ts'
import { applyDefaultTrust } from '../../compliance/policies/evidence-view.ts'
import type { PolicyDefinition, PolicyMode } from '../../compliance/policies/policy.schema.ts'
import { findCurrentPolicy } from '../../compliance/policies/policy.store.ts'
import { isDeploymentCovered } from '../../compliance/policies/policy-binding.ts'
import { DRY_RUNS_MAX, type PolicyTrial } from '../../compliance/policies/policy-request.schema.ts'
import type { PolicyDecision } from '../../compliance/policies/policy-verdict.ts'
import { findVersion } from '../../compliance/policies/policy-version.store.ts'
import { readPolicyText } from '../../compliance/policy-file/policy.parser.ts'
import { findDefaultTrust } from '../../organizations/organization.store.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Services } from '../../services.ts'
import { listRecentDeployments, type RecentDeployment } from '../deployment-state.store.ts'
import { getRepositoryAddress } from '../deployment-state.ts'
import { findSubject } from './evaluate-policies.ts'

type Tried = { run?: TriedRun; deployment?: TriedDeployment }
type Trial = DryRun<Tried> & { name: string; mode: PolicyMode } & ReturnType<typeof computeSummary>

/**
 * Evaluates a policy file on the last runs or deployments within the data retention. The person
 * must be permitted to view them. Throws 400 `invalid_policy`, 403 and 429.
 */
export async function runPolicyTrial(services: Services, actor: Actor, trial: PolicyTrial): Promise<Trial> {
  requirePermission(actor, 'view')
  const { file, subject = 'runs', last = DRY_RUNS_MAX, repository = null, environment = null } = trial
  const trust = await findDefaultTrust(services.sql, actor.org_id)
  const definition = applyDefaultTrust(readPolicyText(file), trust ?? 'uploaded')
  const since = new Date(services.clock.now().getTime() - actor.plan.retention_days * DAY_MS)
  const find = subject === 'runs' ? findRunsToTry : findDeploymentsToTry
  const filter = { since, last, repository, environment }
  const findSubjects = () => find(services, actor.org_id, definition, filter)
  const tried = await evaluateDryRun<Tried>(services, actor.org_id, definition, findSubjects)
  const { name, mode } = definition
  return { name, mode, ...tried, ...computeSummary(tried) }
}

/** A deployment, and what a policy decides about it now and in its next version. */
type ComparedDeployment = TriedDeployment & { now: PolicyDecision; next: PolicyDecision }

/**
 * Compares a policy of the organization with the version that its stored file would become, over
 * the last deployments that it covers. Null if there is no such policy, or its file is not stored.
 * Throws 400 `invalid_policy` and 429.
 */
export async function compareNextVersion(
  services: Services,
  orgId: string,
  name: string,
): Promise<{ deployments: ComparedDeployment[]; is_complete: boolean } | null> {
  const { sql } = services
  const current = await findCurrentPolicy(sql, orgId, name)
  const stored = current && (await findVersion(sql, orgId, current.id, current.version))
  if (!stored?.definition || stored.file === null) return null
  const trust = (await findDefaultTrust(sql, orgId)) ?? 'uploaded'
  const filter = { since: new Date(0), last: DRY_RUNS_MAX, repository: null, environment: null }
  const evaluate = (definition: PolicyDefinition) => {
    const settled = applyDefaultTrust(definition, trust)
    const findSubjects = () => findDeploymentsToTry(services, orgId, settled, filter)
    return evaluateDryRun<{ deployment: TriedDeployment }>(services, orgId, settled, findSubjects)
  }
  const [now, next] = [await evaluate(stored.definition), await evaluate(readPolicyText(stored.file))]
  const decisions = new Map(next.results.map(({ deployment, decision }) => [deployment.id, decision]))
  const deployments = now.results.flatMap(({ deployment, decision }) => {
    const later = decisions.get(deployment.id)
    return later === undefined ? [] : [{ ...deployment, now: decision, next: later }]
  })
  return { deployments, is_complete: now.is_complete && next.is_complete }
}

function computeSummary({ results }: DryRun<Tried>) {
  const decisions = { approve: 0, block: 0, warn: 0 }
  const rules = new Map<string, { rule: string; pass: number; fail: number; warn: number; error: number }>()
  for (const result of results) {
    decisions[result.decision] += 1
    for (const { rule, status } of result.rules) {
      const counts = rules.get(rule) ?? { rule, pass: 0, fail: 0, warn: 0, error: 0 }
      counts[status] += 1
      rules.set(rule, counts)
    }
  }
  return { decisions, rules: [...rules.values()] }
}

/** A deployment as a dry run shows it. */
export type TriedDeployment = Pick<
  RecentDeployment,
  'id' | 'environment' | 'branch' | 'commit_sha' | 'status' | 'created_at'
> & { repository: string }

/**
 * The last deployments that a policy covers. A policy without bindings is tried on every
 * deployment, because any gate can name it.
 */
async function findDeploymentsToTry(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  definition: PolicyDefinition,
  { last, ...filter }: TrialFilter,
): Promise<DryRunSubject<{ deployment: TriedDeployment }>[]> {
  const found: DryRunSubject<{ deployment: TriedDeployment }>[] = []
  for (const state of await listRecentDeployments(sql, orgId, { ...filter, limit: EXAMINED_MAX })) {
    if (found.length === last) break
    const subject = await findSubject(sql, state, clock.now())
    if (definition.bindings !== null && !isDeploymentCovered(definition, subject)) continue
    const readInputs = () => readDeploymentInputs(sql, subject, clock.now())
    const { id, environment, branch, commit_sha, status, created_at } = state
    const repository = getRepositoryAddress(state)
    const deployment = { id, environment, repository, branch, commit_sha, status, created_at }
    found.push({ shown: { deployment }, readInputs })
  }
  return found
}
