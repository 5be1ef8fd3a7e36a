import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, decideDeployment } from '../decide-deployment.ts'
import { findDeploymentState, lockDeployment } from '../deployment-state.store.ts'
import { type DeploymentState, isWaiting } from '../deployment-state.ts'
import { hasRunEndedBadly } from '../has-run-ended.ts'
import { decided } from '../outcome.ts'
import { approveRequiredGates, listRequiredGates, type RequiredGate } from '../required-gate.store.ts'
import { evaluatePolicies } from './evaluate-policies.ts'
import { notePolicies, writeEvaluation } from './evaluation.store.ts'
import { blockingReasons, saysSomething, takesPolicies, toPolicyEvaluation } from './policy-approval.ts'

const REASON_CHARS_MAX = 1000

/**
 * Asks the policies about a deployment that waits, and lets it out where they all pass. Evaluates without a lock and
 * decides under it, so whoever answered meanwhile is not overruled. May be repeated at any time.
 */
export async function decideByPolicy(services: Services, orgId: string, id: string): Promise<void> {
  const { sql, clock } = services
  const [state, required] = await Promise.all([
    findDeploymentState(sql, orgId, id, null),
    listRequiredGates(sql, orgId, id),
  ])
  if (!state || !isWaiting(state, clock.now())) return
  const evaluation = await evaluatePolicies(services, orgId, state, required)
  await sql.begin((tx) => decideLocked(tx, orgId, state, evaluation, clock.now()))
}

/** Statements that do not need each other's answer are sent together: they are done in order, and save the way. */
async function decideLocked(tx: Tx, orgId: string, before: DeploymentState, evaluation: PolicyEvaluation, now: Date) {
  const { id } = before
  const [state, required, endedBadly] = await Promise.all([
    lockDeployment(tx, orgId, id),
    listRequiredGates(tx, orgId, id),
    hasRunEndedBadly(tx, orgId, before, now),
  ])
  if (!state || !isWaiting(state, now) || endedBadly) return
  const shown = saysSomething(evaluation) ? toPolicyEvaluation(evaluation) : null
  await Promise.all([
    notePolicies(tx, orgId, id, blockingReasons(evaluation), now),
    shown && writeEvaluation(tx, orgId, id, shown, now),
    evaluation.decision === 'approve' && approve(tx, orgId, state, required, evaluation, now),
  ])
}

async function approve(
  tx: Tx,
  orgId: string,
  state: DeploymentState,
  required: RequiredGate[],
  evaluation: PolicyEvaluation,
  now: Date,
): Promise<void> {
  const open = required.filter(({ approved_at }) => approved_at === null)
  const willing = open.filter(takesPolicies).map(({ id }) => id)
  const isLast = willing.length === open.length
  await Promise.all([
    approveRequiredGates(tx, orgId, state.id, willing, now),
    isLast && letOut(tx, orgId, state, evaluation, now),
  ])
}

async function letOut(tx: Tx, orgId: string, state: DeploymentState, evaluation: PolicyEvaluation, now: Date) {
  const name = evaluation.policies.map((policy) => policy.name).join(', ')
  const reason = `All policies pass: ${name}`.slice(0, REASON_CHARS_MAX)
  const principal = { type: 'policy', id: evaluation.evaluation_id, name } as const
  await Promise.all([
    decideDeployment(tx, orgId, state, decided('approved', 'policy', reason), now),
    auditOutcome(tx, orgId, state.id, { principal, outcome: 'approved', reason }, now),
  ])
}
