import { insertAuditEntry, type Principal, SYSTEM } from '../../audit/audit.store.ts'
import type { RunFinished } from '../../ci/runs/run.events.ts'
import { findAttempt } from '../../ci/runs/run-attempt.store.ts'
import { hasEndedBadly, isStatedToEnd, type RunStatus } from '../../ci/runs/run-status.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { defineHistogram, LONG_SECONDS } from '../../platform/metrics.ts'
import type { Services } from '../../services.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import {
  lockDeployment,
  updateDeploymentResult,
  updateDeploymentStatus,
  updateGateState,
} from '../deployment-state.store.ts'
import {
  type DeploymentKey,
  type DeploymentState,
  isAwaitingReviewers,
  type Outcome,
  runEnded,
} from '../deployment-state.ts'
import { updateRuleDecision } from '../host/host-deployment.store.ts'
import { lockAskedTogether } from '../host/host-facts.store.ts'
import type { RuleDecision } from '../host/host-facts.ts'
import { type Settled, settleHostDeployment } from '../host/settle-host-deployment.ts'
import { refreshLive } from '../refresh-live.ts'
import { hasSeveralDeployments, listUnmarked } from '../waiting-deployment.store.ts'
import { formatDecision, formatNote, sendDecision } from './send-to-host.ts'

const waited = defineHistogram(
  'shiplock_gate_wait_seconds',
  'Time from a deployment to the decision of its gates, by outcome.',
  ['outcome'],
  LONG_SECONDS,
)

/**
 * Stores the outcome of the service's own protection rule; the deployment is locked and waiting.
 * While required reviewers on the code host have not answered, the deployment keeps its status
 * (specification, "Approve and reject rules" 3), and pollers of its gate are informed of a
 * rejection only. Returns the deployment's status.
 */
export async function decideDeployment(
  services: Services,
  tx: Tx,
  state: DeploymentState,
  outcome: Outcome,
): Promise<DeploymentStatus> {
  const { custom_rule_state, gate } = outcome
  observeDecision(state, custom_rule_state, services.clock.now())
  if (state.host !== null) return decideOnHost(services, tx, state, outcome)
  const staysPending = isAwaitingReviewers(state) && gate.status === 'decided'
  const status = staysPending ? state.status : outcome.status
  await Promise.all([
    updateDeploymentResult(tx, state, { status, custom_rule_state }, services.clock.now()),
    (!staysPending || gate.decision === 'rejected') && updateGateState(tx, state, gate),
  ])
  return status
}

/** Measures how long a deployment has waited for its decision. */
export function observeDecision(
  { created_at }: Pick<DeploymentState, 'created_at'>,
  outcome: Outcome['custom_rule_state'],
  now: Date,
): void {
  waited.observe({ outcome }, (now.getTime() - created_at.getTime()) / 1000)
}

/** The status of a code host's deployment follows from the decision and from what the host says. */
async function decideOnHost(services: Services, tx: Tx, state: DeploymentState, outcome: Outcome) {
  const { custom_rule_state, gate, comment } = outcome
  // A cancellation follows from the facts.
  if (custom_rule_state === 'cancelled') return state.status
  await updateRuleDecision(tx, state, custom_rule_state)
  const settled = await settleHostDeployment(tx, state, services.clock.now())
  const decision = gate.decision === 'approved' ? 'approved' : 'rejected'
  const text = comment ?? formatNote(decision, gate.note)
  await sendDecision(services, tx, state, {
    decision,
    text: formatDecision(decision, text, settled?.derived.awaiting ?? []),
  })
  if (settled !== null) await decideTogether(services, tx, settled, custom_rule_state)
  return settled?.derived.status ?? state.status
}

/**
 * The answer to a host is for a run's attempt and its environment: it also settles the deployments
 * that wait for the same answer now (ci-evidence §4). One that begins later is asked about anew.
 */
async function decideTogether(
  services: Services,
  tx: Tx,
  { facts: { deployment, callback_url } }: Settled,
  decision: RuleDecision,
): Promise<void> {
  if (callback_url === null) return
  const now = services.clock.now()
  const reason = `The code host takes one answer for the run and the environment, which the deployment ${deployment.id} got.`
  for (const other of await lockAskedTogether(tx, deployment, callback_url)) {
    await updateRuleDecision(tx, other, decision)
    await settleHostDeployment(tx, other, now)
    await auditOutcome(tx, other, { principal: SYSTEM, outcome: decision, reason }, now)
  }
}

const VERBS = { approved: 'approve', rejected: 'reject', expired: 'expire', cancelled: 'cancel' }

type AuditedOutcome = {
  principal: Principal
  outcome: Outcome['custom_rule_state']
  reason: string | null
}

/** Records in the audit log who approved, rejected, expired or cancelled a deployment, and why. */
export async function auditOutcome(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { principal, outcome, reason }: AuditedOutcome,
  now: Date,
): Promise<void> {
  const object = { type: 'deployment', id }
  await insertAuditEntry(tx, org_id, { principal, action: `deployment.${VERBS[outcome]}`, object, reason }, now)
}

/**
 * Expires or cancels a deployment, which Shiplock does unless somebody else is named. Does nothing
 * when it no longer waits for an answer.
 */
export async function settleWaiting(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { principal = SYSTEM, ...outcome }: Outcome & { principal?: Principal },
): Promise<void> {
  const state = await lockDeployment(tx, deployment)
  if (state?.status !== 'pending_approval' || state.custom_rule_state !== 'pending') return
  await decideDeployment(services, tx, state, outcome)
  const { custom_rule_state, gate } = outcome
  const entry = { principal, outcome: custom_rule_state, reason: gate.note }
  await auditOutcome(tx, deployment, entry, services.clock.now())
}

/** The final status of an approved deployment, by the final status of its run. */
const FINAL_STATUS: Partial<Record<RunStatus, DeploymentStatus>> = {
  success: 'success',
  failure: 'failure',
  timed_out: 'failure',
  cancelled: 'cancelled',
  skipped: 'cancelled',
}

/**
 * Updates the deployments of opened gates when somebody has stated that their attempt finished. A
 * waiting deployment is cancelled if it ended without success. An approved one that nobody has
 * marked takes the status of the attempt; but where an attempt that deploys more than once ends
 * without success, nobody knows which of them failed. A deadline says nothing (ci-evidence §4).
 * Safe to repeat.
 */
export async function followRun(services: Services, event: RunFinished): Promise<void> {
  const { sql } = services
  for (const deployment of await listUnmarked(sql, event.org_id, event.run_id, event.attempt))
    await sql.begin((tx) => followOne(services, tx, event, deployment))
}

/** A token can have taken the run over since, and then it has not ended. */
async function followOne(services: Services, tx: Tx, { run_id, attempt }: RunFinished, deployment: DeploymentKey) {
  const now = services.clock.now()
  const key = { org_id: deployment.org_id, run_id, attempt }
  const ended = await findAttempt(tx, key, now)
  if (ended === null || !isStatedToEnd(ended)) return
  const isBad = hasEndedBadly(ended.status)
  if (isBad) await settleWaiting(services, tx, deployment, runEnded(ended.status))
  const state = await lockDeployment(tx, deployment)
  const finalStatus = FINAL_STATUS[ended.status]
  if (!finalStatus || state?.status !== 'approved' || (isBad && (await hasSeveralDeployments(tx, key)))) return
  const deployedAt = finalStatus === 'success' ? ended.completed_at : null
  await updateDeploymentStatus(tx, deployment, { status: finalStatus, deployedAt }, now)
  if (finalStatus === 'success') await refreshLive(tx, deployment)
}

/**
 * True if somebody has stated that the deployment's attempt ended without success. The deployment
 * can still be waiting, because `followRun` runs after the attempt has ended.
 */
export async function hasRunEndedBadly(tx: Tx, state: DeploymentState, now: Date): Promise<boolean> {
  const { org_id, pipeline_run_id: run_id, attempt } = state
  if (run_id === null) return false
  const found = await findAttempt(tx, { org_id, run_id, attempt }, now)
  return found !== null && hasEndedBadly(found.status) && isStatedToEnd(found)
}
