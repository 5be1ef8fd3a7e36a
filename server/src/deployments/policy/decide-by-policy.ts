import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, decideDeployment } from '../decisions/decide-deployment.ts'
import { hasRunEndedBadly } from '../decisions/follow-run.ts'
import { formatPolicyApproval, formatWaiting } from '../decisions/host-comment.ts'
import { sendComment } from '../decisions/send-to-host.ts'
import {
  findDeploymentState,
  listRequiredGates,
  lockDeployment,
  updateGatesApproved,
} from '../deployment-state.store.ts'
import { type DeploymentKey, type DeploymentState, isWaiting, type RequiredGate } from '../deployment-state.ts'
import { settleHostDeployment } from '../host/settle-host-deployment.ts'
import { evaluatePolicies, isStillEvaluated } from './evaluate-policies.ts'
import { deleteEvaluation, updateEvaluation, updatePoliciesEvaluated } from './evaluation.store.ts'
import { canPoliciesApprove, createPolicyApproval, explainBlocking, isShown, toStoredEvaluation } from './evaluation.ts'

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
  if (!state || !mustEvaluate(state, clock.now())) return
  const evaluation = await evaluatePolicies(services, state, required)
  await sql.begin((tx) => decideLocked(services, tx, { state, required }, evaluation))
}

/** A deployment that has gone on without our answer is evaluated once, for its `bypass`. */
function mustEvaluate(state: DeploymentState, now: Date): boolean {
  const hasBypassed = state.custom_rule_state === 'pending' && state.policies_asked_at === null
  return isWaiting(state, now) || (state.status !== 'pending_approval' && hasBypassed)
}

type Gated = { state: DeploymentState; required: RequiredGate[] }

/** Independent statements are sent together: PostgreSQL runs them in order, in one round trip. */
async function decideLocked(services: Services, tx: Tx, before: Gated, evaluation: PolicyEvaluation) {
  const now = services.clock.now()
  const [state, required, endedBadly] = await Promise.all([
    lockDeployment(tx, before.state),
    listRequiredGates(tx, before.state),
    hasRunEndedBadly(tx, before.state, now),
  ])
  if (!state || !mustEvaluate(state, now) || (state.host === null && endedBadly)) return
  // The change has queued another evaluation.
  if (!isStillEvaluated(before, { state, required })) return
  await Promise.all([
    updatePoliciesEvaluated(tx, state, explainBlocking(evaluation), now),
    isShown(evaluation)
      ? updateEvaluation(tx, state, toStoredEvaluation(evaluation, null), now)
      : deleteEvaluation(tx, state, now),
  ])
  const deployment = { state, required }
  if (!isWaiting(state, now)) await settleHostDeployment(tx, state, now)
  else if (evaluation.decision === 'approve') await approveGates(services, tx, deployment, evaluation)
  else if (state.host !== null) await explainWaiting(services, tx, deployment, evaluation)
}

/** Without a gate nothing but a person may decide, even if all policies pass. */
async function approveGates(services: Services, tx: Tx, deployment: Gated, evaluation: PolicyEvaluation) {
  const { state, required } = deployment
  const open = required.filter(({ approved_at }) => approved_at === null)
  const approved = open.filter(canPoliciesApprove).map(({ id }) => id)
  const isLast = approved.length === open.length && required.length > 0
  await Promise.all([
    updateGatesApproved(tx, state, approved, { at: services.clock.now(), by: 'policies' }),
    isLast && approveDeployment(services, tx, state, evaluation),
    !isLast && state.host !== null && explainWaiting(services, tx, deployment, evaluation),
  ])
}

/** Posts one comment on the code host that says what the deployment waits for. */
async function explainWaiting(services: Services, tx: Tx, { state }: Gated, evaluation: PolicyEvaluation) {
  const required = await listRequiredGates(tx, state)
  const text = formatWaiting({ environment: state.environment, required, evaluation })
  await sendComment(services, tx, state, { about: 'waiting', text })
}

async function approveDeployment(services: Services, tx: Tx, state: DeploymentState, evaluation: PolicyEvaluation) {
  const { outcome, audited } = createPolicyApproval(evaluation)
  await Promise.all([
    decideDeployment(services, tx, state, { ...outcome, comment: formatPolicyApproval(evaluation) }),
    auditOutcome(tx, state, audited, services.clock.now()),
  ])
}
