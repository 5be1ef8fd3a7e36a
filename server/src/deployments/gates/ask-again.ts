import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { hasAttestationsSince } from '../../ci/reports/attestation.store.ts'
import type { StoredRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { truncate } from '../../platform/text.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import { hasReportsSince } from '../../security/issues/policy-facts.store.ts'
import type { Services } from '../../services.ts'
import { listStoredGates } from '../asked-gate.store.ts'
import type { Rejecter } from '../asked-gate.ts'
import { decideLocked, findLoss, type Gated } from '../decisions/decide-by-policy.ts'
import { hasRunEndedBadly, settleWaiting } from '../decisions/decide-deployment.ts'
import { evaluatePolicies, mergeGates } from '../decisions/evaluate-policies.ts'
import { findDeploymentState, findRejection, lockDeployment } from '../deployment-state.store.ts'
import { createExpiredOutcome, isApprovalUnused } from '../deployment-state.ts'
import { findGateById, type OpenedGateIds, type StoredGate } from './opened-gate.store.ts'
import { getGateStateAt } from './opened-gate.ts'

/** What policies say of the approval of a gate that is opened again. */
export type AskedAgain = Gated & { gate_id: string; evaluation: PolicyEvaluation }

const TURN_RETRY_SECONDS = 10

/**
 * Asks the policies of an approved gate again, without a lock: a policy engine can be a remote
 * server. Null if the gate is not approved. Throws 503 `unavailable` if they have no turn in time:
 * an approval is not given out again unasked.
 */
export async function evaluateApproved(
  services: Services,
  org_id: string,
  { id: gate_id, deployment_id }: OpenedGateIds,
  waitMs: number,
): Promise<AskedAgain | null> {
  const { sql, clock } = services
  const deployment = { org_id, id: deployment_id }
  const [gate, state, stored] = await Promise.all([
    findGateById(sql, gate_id),
    findDeploymentState(sql, deployment, null),
    listStoredGates(sql, deployment),
  ])
  if (gate?.decision !== 'approved' || state === null) return null
  const required = await mergeGates(sql, state, stored, clock.now())
  const evaluation = await evaluatePolicies(services, { state, required, waitMs })
  if (!evaluation.isOverBudget) return { gate_id, state, required, evaluation }
  const message = 'The policies have no turn at the moment, so that they cannot be asked about the approval again.'
  throw serviceUnavailable(message).retryAfter(TURN_RETRY_SECONDS)
}

/** A gate that another one takes the place of. */
export type Superseded = OpenedGateIds & {
  /** Who rejected it, or one before it that nobody has approved since; null if nobody did. */
  rejected_by: Rejecter | null
  /** Why it does not stay, as the history says it. */
  reason: string
}

type Asking = { org_id: string; run: StoredRun; hasNext: boolean; again: AskedAgain | null; now: Date }

/**
 * Decides what becomes of a gate that is opened again (ci-evidence §3); the run is locked. Null if
 * it stays: it waits; its approval holds, or waits again because nobody had used it; nothing new
 * came since somebody rejected it; or the run could not deploy with another one either.
 */
export async function selectSuperseded(
  services: Services,
  tx: Tx,
  opened: OpenedGateIds,
  asking: Asking,
): Promise<Superseded | null> {
  const { org_id, run, hasNext, now } = asking
  const deployment = { org_id, id: opened.deployment_id }
  const state = await lockDeployment(tx, deployment)
  const gate = await findGateById(tx, opened.id)
  if (state === null || gate === null) return null
  if (gate.decision === 'approved') return selectLost(services, tx, { gate, state }, asking)
  const { status } = getGateStateAt(gate, now)
  if (status === 'waiting' || hasNext || isFinal(run.status)) return null
  const before = await listStoredGates(tx, deployment)
  const wasRejected = before.find(({ after_rejection }) => after_rejection)
  if (status !== 'decided') {
    await settleWaiting(services, tx, deployment, createExpiredOutcome(state.timeout_minutes))
    const rejected_by = wasRejected ? (wasRejected.allow_api_keys ? 'key' : 'person') : null
    return { ...opened, rejected_by, reason: `The gate was opened again after it was ${status}.` }
  }
  const rejection = await findRejection(tx, deployment)
  if (rejection === null || !(await hasEvidenceSince(tx, org_id, run, rejection.at))) return null
  const rejected_by = rejection.principal === 'user' ? 'person' : 'key'
  return { ...opened, rejected_by, reason: 'The gate was opened again with evidence that came after its rejection.' }
}

/** The approval was used, and does not hold any more. One that was not used waits again instead. */
async function selectLost(
  services: Services,
  tx: Tx,
  { gate, state }: Pick<Gated, 'state'> & { gate: StoredGate },
  { again, now }: Asking,
): Promise<Superseded | null> {
  // What was approved in this moment was asked in this moment.
  if (again?.gate_id !== gate.id) return null
  const loss = await findLoss(tx, again, again.evaluation)
  if (loss === null) return null
  if (isApprovalUnused(state) && !(await hasRunEndedBadly(tx, state, now))) {
    await decideLocked(services, tx, again, again.evaluation)
    // A poll can have read it meanwhile.
    const current = await findGateById(tx, gate.id)
    if (current?.decision !== 'approved') return null
  }
  const { id, deployment_id } = gate
  const reason = `The gate was opened again after its approval was used. ${loss.reason}`
  return { id, deployment_id, rejected_by: null, reason: truncate(reason, 1000) }
}

/**
 * Whether evidence for the deployment of a run has come: in a lane that is not weaker than that of
 * the run, so that nobody weaker than it opens what was rejected.
 */
async function hasEvidenceSince(tx: Tx, org_id: string, run: StoredRun, since: Date): Promise<boolean> {
  const { id: run_id, trust, own_repository: repository, own_commit_sha: commit_sha, ref } = run
  const sent = { lane: trust, since }
  if (await hasAttestationsSince(tx, { org_id, run_id, repository, commit_sha }, sent)) return true
  return hasReportsSince(tx, { org_id, repository, branch: parseBranchName(ref) }, sent)
}

/** The history of the deployment that is superseded says why. */
export async function auditSuperseded(
  tx: Tx,
  { deployment_id, reason }: Superseded,
  orgId: string,
  now: Date,
): Promise<void> {
  const object = { type: 'deployment', id: deployment_id }
  await insertAuditEntry(tx, orgId, { principal: SYSTEM, action: 'deployment.supersede', object, reason }, now)
}
