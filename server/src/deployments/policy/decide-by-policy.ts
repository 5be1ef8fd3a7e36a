import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, decideDeployment } from '../decide-deployment.ts'
import {
  approveRequiredGates,
  findDeploymentState,
  listRequiredGates,
  lockDeployment,
} from '../deployment-state.store.ts'
import { type DeploymentKey, type DeploymentState, decided, isWaiting, type RequiredGate } from '../deployment-state.ts'
import { hasRunEndedBadly } from '../follow-run.ts'
import { evaluatePolicies } from './evaluate-policies.ts'
import { noteEvaluation, writeEvaluation } from './evaluation.store.ts'
import { acceptsPolicies, blockingReasons, isShown, toPolicyEvaluation } from './evaluation.ts'

const REASON_CHARS_MAX = 1000

/**
 * Evaluates the policies of a waiting deployment and approves it if they all pass. The evaluation
 * runs without a lock and the approval under it, so an answer that arrived in between is kept. Safe
 * to repeat.
 */
export async function decideByPolicy(services: Services, deployment: DeploymentKey): Promise<void> {
  const { sql, clock } = services
  const [state, required] = await Promise.all([
    findDeploymentState(sql, deployment, null),
    listRequiredGates(sql, deployment),
  ])
  if (!state || !isWaiting(state, clock.now())) return
  const evaluation = await evaluatePolicies(services, state, required)
  await sql.begin((tx) => decideLocked(tx, state, evaluation, clock.now()))
}

/** Independent statements are sent together: PostgreSQL runs them in order, in one round trip. */
async function decideLocked(tx: Tx, before: DeploymentState, evaluation: PolicyEvaluation, now: Date) {
  const [state, required, endedBadly] = await Promise.all([
    lockDeployment(tx, before),
    listRequiredGates(tx, before),
    hasRunEndedBadly(tx, before, now),
  ])
  if (!state || !isWaiting(state, now) || endedBadly) return
  const shown = isShown(evaluation) ? toPolicyEvaluation(evaluation) : null
  await Promise.all([
    noteEvaluation(tx, state, blockingReasons(evaluation), now),
    shown && writeEvaluation(tx, state, shown, now),
    evaluation.decision === 'approve' && approveGates(tx, { state, required }, evaluation, now),
  ])
}

type Gated = { state: DeploymentState; required: RequiredGate[] }

async function approveGates(tx: Tx, { state, required }: Gated, evaluation: PolicyEvaluation, now: Date) {
  const open = required.filter(({ approved_at }) => approved_at === null)
  const approved = open.filter(acceptsPolicies).map(({ id }) => id)
  const isLast = approved.length === open.length
  await Promise.all([
    approveRequiredGates(tx, state, approved, now),
    isLast && approveDeployment(tx, state, evaluation, now),
  ])
}

async function approveDeployment(tx: Tx, state: DeploymentState, evaluation: PolicyEvaluation, now: Date) {
  const name = evaluation.policies.map((policy) => policy.name).join(', ')
  const reason = `All policies pass: ${name}`.slice(0, REASON_CHARS_MAX)
  const principal = { type: 'policy', id: evaluation.evaluation_id, name } as const
  await Promise.all([
    decideDeployment(tx, state, decided('approved', 'policy', reason), now),
    auditOutcome(tx, state, { principal, outcome: 'approved', reason }, now),
  ])
}
