import type { Actor } from '../../access/actor.ts'
import { requirePermission } from '../../access/gateway/authorize-people.ts'
import { type DryRun, evaluateDryRun } from '../../compliance/dry-run-policy.ts'
import { findRunsToTry, type TriedRun } from '../../compliance/find-runs-to-try.ts'
import type { PolicyMode } from '../../compliance/policies/policy.schema.ts'
import { DRY_RUNS_MAX, type PolicyTrial } from '../../compliance/policies/policy-request.schema.ts'
import { readPolicyText } from '../../compliance/policy-file/read-policy-text.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Services } from '../../services.ts'
import { findDeploymentsToTry, type TriedDeployment } from './find-deployments-to-try.ts'

type Tried = { run?: TriedRun; deployment?: TriedDeployment }
type Trial = DryRun<Tried> & { name: string; mode: PolicyMode } & ReturnType<typeof computeSummary>

/**
 * Evaluates a policy file on the last runs or deployments within the data retention. The person
 * must be permitted to view them. Throws 400 `invalid_policy`, 403 and 429.
 */
export async function runPolicyTrial(services: Services, actor: Actor, trial: PolicyTrial): Promise<Trial> {
  requirePermission(actor, 'view')
  const { file, subject = 'runs', last = DRY_RUNS_MAX, repository = null, environment = null } = trial
  const definition = readPolicyText(file)
  const since = new Date(services.clock.now().getTime() - actor.plan.retention_days * DAY_MS)
  const find = subject === 'runs' ? findRunsToTry : findDeploymentsToTry
  const filter = { since, last, repository, environment }
  const findSubjects = () => find(services, actor.org_id, definition, filter)
  const tried = await evaluateDryRun<Tried>(services, actor.org_id, definition, findSubjects)
  const { name, mode } = definition
  return { name, mode, ...tried, ...computeSummary(tried) }
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
