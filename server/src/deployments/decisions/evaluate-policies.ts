import { isDeepStrictEqual } from 'node:util'
import { findRun } from '../../ci/runs/run.store.ts'
import {
  type DeploymentSubject,
  type DeploymentToEvaluate,
  evaluateDeployment,
} from '../../compliance/engines/evaluate-deployment.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { listAskedGates, type StoredGate } from '../asked-gate.store.ts'
import { mergeRequired } from '../asked-gate.ts'
import { type DeploymentState, getRepositoryAddress, isWaiting, type RequiredGate } from '../deployment-state.ts'

/**
 * Evaluates the policies of a deployment. Never throws: policies that cannot be read block
 * (specification, "Approve and reject rules" 4). Takes no lock and keeps no connection, because a
 * policy engine can be a remote server.
 */
export async function evaluatePolicies(
  services: Services,
  { state, required, ...waiting }: { state: DeploymentState; required: RequiredGate[]; waitMs?: number },
): Promise<PolicyEvaluation> {
  const now = services.clock.now()
  const asked = { deployment_id: state.id, required, opened: state.created_at }
  return evaluate(services, asked, async () => ({ ...(await findSubject(services.sql, state, now)), ...waiting }))
}

/** How long a gate that is not stored yet waits for policies, which are asked again when it is. */
const AHEAD_MS = 1000

/** The same for a deployment that is not stored yet. */
export async function evaluateSubject(
  services: Services,
  subject: DeploymentSubject,
  required: EvaluatedGate[],
): Promise<PolicyEvaluation> {
  const { deployment_id } = subject
  const asked = { deployment_id, required, opened: services.clock.now() }
  return evaluate(services, asked, async () => ({ ...subject, waitMs: AHEAD_MS }))
}

type EvaluatedGate = Pick<RequiredGate, 'policies' | 'asks_earlier'>
type Asked = { deployment_id: string; required: EvaluatedGate[]; opened: Date }

async function evaluate(
  services: Services,
  { deployment_id, required, opened }: Asked,
  readSubject: () => Promise<Omit<DeploymentToEvaluate, 'policies'>>,
): Promise<PolicyEvaluation> {
  const policies = [...new Set(required.flatMap(({ policies }) => policies))]
  const asksEarlier = required.length === 0 || required.some(({ asks_earlier }) => asks_earlier)
  try {
    return await evaluateDeployment(services, { ...(await readSubject()), policies, ...(asksEarlier && { opened }) })
  } catch (err) {
    const now = services.clock.now()
    services.log.error({ err, deployment_id }, 'The evaluation of the policies failed')
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
    repository: run?.own_repository ?? getRepositoryAddress(state),
    provider: (state.host === null ? run?.linked_repository?.provider : state.provider) ?? null,
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

/**
 * The gates that a stored deployment requires; while it waits, under their versions of now too.
 * Reads nothing unless one of them has changed since the opening or within a day.
 */
export async function mergeGates(
  db: Db,
  state: DeploymentState,
  stored: StoredGate[],
  now: Date,
): Promise<RequiredGate[]> {
  const since = Math.min(state.created_at.getTime(), now.getTime() - DAY_MS)
  const hasChanged = stored.some(({ changed_at }) => changed_at !== null && changed_at.getTime() > since)
  if (!hasChanged || !isWaiting(state, now)) return stored.map(({ changed_at: _, ...gate }) => gate)
  const [versions, target] = await Promise.all([
    listAskedGates(db, state.org_id, { opened: state.created_at, now }),
    findSubject(db, state, now),
  ])
  const byGate = Map.groupBy(versions, ({ id }) => id)
  return stored.map(({ changed_at: _, ...gate }) => mergeRequired(gate, byGate.get(gate.id) ?? [], { target, now }))
}

type Evaluated = { state: DeploymentState; required: RequiredGate[] }

/**
 * True if an evaluation of `before` still holds for `now`. The branch, the gates and the host's
 * facts of a code host's deployment can change until it is answered.
 */
export function isStillEvaluated(before: Evaluated, now: Evaluated): boolean {
  const seenBy = ({ state, required }: Evaluated) => {
    const gates = required.map(({ id, policies, asks_earlier }) => ({ id, policies, asks_earlier }))
    return [state.branch, hostFacts(state), gates]
  }
  return isDeepStrictEqual(seenBy(before), seenBy(now))
}
