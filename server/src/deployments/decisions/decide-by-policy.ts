import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { listRunCommits } from '../../ci/evidence/newest-runs.store.ts'
import { POLICIES } from '../../compliance/engines/evaluate-policy.ts'
import { listOrganizationsWithPolicies } from '../../compliance/policies/policy.store.ts'
import { getBlockingRules, type PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { defineJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { truncate } from '../../platform/text.ts'
import { findUploadSubject } from '../../security/issues/policy-facts.store.ts'
import type { Services } from '../../services.ts'
import { listStoredGates } from '../asked-gate.store.ts'
import {
  deleteEvaluation,
  findDeploymentState,
  isRunTakenOver,
  listOverriddenRules,
  lockDeployment,
  updateEvaluation,
  updateGatesApproved,
  updateGatesOpen,
  updatePoliciesEvaluated,
  updateWaitingAgain,
} from '../deployment-state.store.ts'
import {
  type DeploymentKey,
  type DeploymentState,
  getAnswerWithinMs,
  isApprovalUnused,
  isWaiting,
  type RequiredGate,
  TAKEN_OVER,
} from '../deployment-state.ts'
import { settleHostDeployment } from '../host/settle-host-deployment.ts'
import {
  createPolicyApproval,
  explainLoss,
  isApprovedByPolicies,
  isShown,
  selectLost,
  toNoted,
  toStoredEvaluation,
} from '../policy-evaluation.ts'
import { listUnused, listWaiting, type WaitingFilter } from '../waiting-deployment.store.ts'
import { auditOutcome, decideDeployment, hasRunEndedBadly, settleWaiting } from './decide-deployment.ts'
import { evaluatePolicies, isStillEvaluated, mergeGates } from './evaluate-policies.ts'
import { formatPolicyApproval, formatWaiting, sendComment } from './send-to-host.ts'

/** When policies are asked again that waited too long for their turn. */
const OVER_BUDGET_MS = 10_000

/**
 * Evaluates the policies of a waiting deployment and approves the gates that they approve. The
 * evaluation runs without a lock and the approval under it, so an answer that arrived in between is
 * kept. With `waitMs`, it is left to a job if the policies have not answered by then, because
 * somebody waits for the answer. Safe to repeat.
 */
export async function decideByPolicy(services: Services, deployment: DeploymentKey, waitMs?: number): Promise<void> {
  const { sql, clock } = services
  const now = clock.now()
  const [state, stored] = await Promise.all([
    findDeploymentState(sql, deployment, null),
    listStoredGates(sql, deployment),
  ])
  if (!state || !mustEvaluate(state, now)) return
  const required = await mergeGates(sql, state, stored, now)
  const evaluation = await evaluatePolicies(services, { state, required, ...(waitMs !== undefined && { waitMs }) })
  if (evaluation.isOverBudget && waitMs !== undefined) await enqueue(sql, decideByPolicyJob, deployment)
  else await sql.begin((tx) => decideLocked(services, tx, { state, required }, evaluation))
}

/** A deployment that has gone on without our answer is evaluated once, for its `bypass`. */
function mustEvaluate(state: DeploymentState, now: Date): boolean {
  const hasBypassed = state.custom_rule_state === 'pending' && state.policies_asked_at === null
  return isWaiting(state, now) || isApprovalUnused(state) || (state.status !== 'pending_approval' && hasBypassed)
}

export type Gated = { state: DeploymentState; required: RequiredGate[] }

/**
 * Decides by an evaluation of `before`, under the lock of the deployment. Independent statements
 * are sent together: PostgreSQL runs them in order, in one round trip.
 */
export async function decideLocked(services: Services, tx: Tx, before: Gated, evaluation: PolicyEvaluation) {
  const now = services.clock.now()
  const [state, stored, endedBadly, isTakenOver] = await Promise.all([
    lockDeployment(tx, before.state),
    listStoredGates(tx, before.state),
    hasRunEndedBadly(tx, before.state, now),
    isRunTakenOver(tx, before.state),
  ])
  if (!state || !mustEvaluate(state, now) || (state.host === null && endedBadly)) return
  if (isTakenOver) return settleWaiting(services, tx, state, TAKEN_OVER)
  const required = await mergeGates(tx, state, stored, now)
  const { org_id, id } = state
  if (!isStillEvaluated(before, { state, required })) return enqueue(tx, decideByPolicyJob, { org_id, id })
  const deployment = { state, required }
  if (evaluation.isOverBudget) await enqueue(tx, decideByPolicyJob, { org_id, id }, OVER_BUDGET_MS)
  // That policies had no turn says nothing about an approval.
  if (isApprovalUnused(state) && (evaluation.isOverBudget || !(await takeBack(tx, deployment, evaluation, now)))) return
  await Promise.all([
    updatePoliciesEvaluated(tx, state, toNoted(evaluation, required), now),
    isShown(evaluation)
      ? updateEvaluation(tx, state, toStoredEvaluation(evaluation, null), now)
      : deleteEvaluation(tx, state, now),
  ])
  if (isApprovalUnused(state)) return
  if (!isWaiting(state, now)) await settleHostDeployment(tx, state, now)
  else await approveGates(services, tx, deployment, evaluation)
}

/**
 * The gates of an approved deployment that policies would not approve now, and why; null if they
 * approve what they did, and block nothing but the rules that were overridden (ci-evidence §3).
 */
export async function findLoss(
  db: Db,
  { state, required }: Gated,
  evaluation: PolicyEvaluation,
): Promise<{ lost: RequiredGate[]; reason: string } | null> {
  const overridden = await listOverriddenRules(db, state)
  const blocking = evaluation.policies.flatMap((policy) =>
    getBlockingRules(policy).map(({ rule }) => [policy.id, rule]),
  )
  const isOverridden = ([id, rule]: (string | undefined)[]) =>
    overridden.some((known) => known.id === id && known.rule === rule)
  const isBlocked = evaluation.decision === 'block' && (blocking.length === 0 || !blocking.every(isOverridden))
  const lost = overridden.length > 0 && !isBlocked ? [] : selectLost(required, evaluation)
  return lost.length === 0 && !isBlocked ? null : { lost, reason: explainLoss(lost, evaluation) }
}

/**
 * An approval that nobody has read waits again if it does not hold any more, and the history says
 * why. Returns whether it does.
 */
async function takeBack(tx: Tx, deployment: Gated, evaluation: PolicyEvaluation, now: Date): Promise<boolean> {
  const { state } = deployment
  const loss = await findLoss(tx, deployment, evaluation)
  if (loss === null) return false
  const until = new Date(now.getTime() + getAnswerWithinMs(state))
  if (!(await updateWaitingAgain(tx, state, { gateIds: loss.lost.map(({ id }) => id), until }, now))) return false
  const object = { type: 'deployment', id: state.id }
  const reason = truncate(`The approval had not been used when the policies were asked again. ${loss.reason}`, 1000)
  await insertAuditEntry(tx, state.org_id, { principal: SYSTEM, action: 'deployment.ask_again', object, reason }, now)
  return true
}

/** Gate by gate. Without a gate nothing but a person may decide. */
async function approveGates(services: Services, tx: Tx, deployment: Gated, evaluation: PolicyEvaluation) {
  const { state, required } = deployment
  const lost = selectLost(required, evaluation)
  const open = required.filter((gate) => gate.approved_at === null || lost.includes(gate))
  const now = services.clock.now()
  const approved = open.filter((gate) => isApprovedByPolicies(gate, evaluation))
  const answered = required.map((gate) => (approved.includes(gate) ? { ...gate, approved_at: now } : gate))
  const isLast = approved.length === open.length && required.length > 0 && evaluation.decision !== 'block'
  await Promise.all([
    lost.length > 0 &&
      updateGatesOpen(
        tx,
        state,
        lost.map(({ id }) => id),
      ),
    updateGatesApproved(tx, state, approved, { at: now, by: 'policies' }),
    isLast && approveDeployment(services, tx, deployment, evaluation),
    !isLast && state.host !== null && explainWaiting(services, tx, { state, required: answered }, evaluation),
  ])
}

/** Posts one comment on the code host that says what the deployment waits for. */
async function explainWaiting(services: Services, tx: Tx, { state, required }: Gated, evaluation: PolicyEvaluation) {
  const text = formatWaiting({ environment: state.environment, required, evaluation })
  await sendComment(services, tx, state, { about: 'waiting', text })
}

async function approveDeployment(services: Services, tx: Tx, { state, required }: Gated, evaluation: PolicyEvaluation) {
  const gates = required.filter((gate) => isApprovedByPolicies(gate, evaluation))
  const { outcome, audited } = createPolicyApproval(evaluation, gates)
  await Promise.all([
    decideDeployment(services, tx, state, { ...outcome, comment: formatPolicyApproval(evaluation) }),
    auditOutcome(tx, state, audited, services.clock.now()),
  ])
}

/**
 * Evaluates the policies of a deployment that a code host asked us about, or whose evidence has
 * changed.
 */
export const decideByPolicyJob = defineJob('deployments.decide-by-policy', {
  waitsFor: () => POLICIES,
  payload: definePayload({ org_id: text, id: text }),
  attemptsMax: 10,
  once: ({ org_id, id }) => `${org_id} ${id}`,
  run: (services: Services, deployment) => decideByPolicy(services, deployment),
  updates: ({ id }) => [update('deployment', id)],
})

/**
 * Evaluates the waiting deployments of a run and of its commits again, after one of its jobs
 * reported or the run ended: policies look at all runs of a commit (ci-evidence §3). Safe to
 * repeat.
 */
export async function refreshRunGates(services: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  const commits = await listRunCommits(services.sql, org_id, run_id)
  await reconsider(services, org_id, { run: { id: run_id, commits } })
}

/** Evaluates the waiting deployments of a repository again, after a security report was read. */
export async function refreshUploadGates(services: Services, upload: { org_id: string; upload_id: string }) {
  const subject = await findUploadSubject(services.sql, upload.org_id, upload.upload_id)
  if (subject) await reconsider(services, upload.org_id, { repository: subject.name })
}

/**
 * Evaluates the waiting deployments of a repository again, after its alerts changed or findings
 * were triaged.
 */
export async function refreshRepositoryGates(services: Services, changed: { org_id: string; repository: string }) {
  await reconsider(services, changed.org_id, { repository: changed.repository })
}

/** Evaluates all waiting deployments of an organization again, after a policy changed. */
export async function refreshOrganizationGates(services: Services, { org_id }: { org_id: string }) {
  await reconsider(services, org_id, {})
}

/**
 * Evaluates the waiting deployments of all organizations with policies again, after vulnerability
 * data changed.
 */
export async function refreshAllGates(services: Services): Promise<void> {
  for (const org_id of await listOrganizationsWithPolicies(services.sql)) await reconsider(services, org_id, {})
}

/**
 * Also approved ones that nobody has used. Each in a job of its own, because the policies of an
 * organization may keep others waiting.
 */
async function reconsider({ sql, clock }: Services, orgId: string, filter: WaitingFilter): Promise<void> {
  const unused = await listUnused(sql, orgId, { filter, now: clock.now() })
  for (const { org_id, id } of [...unused, ...(await listWaiting(sql, orgId, filter))])
    await enqueue(sql, decideByPolicyJob, { org_id, id })
}
