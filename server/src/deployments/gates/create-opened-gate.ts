import type { StoredRun } from '../../ci/runs/run.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { notifyUpdates } from '../../platform/updates/update.store.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { auditOutcome, observeDecision, settleWaiting } from '../decisions/decide-deployment.ts'
import { type DeploymentKey, SUPERSEDED } from '../deployment-state.ts'
import { createPolicyApproval } from '../policy/evaluation.ts'
import type { EarlyApproval } from './approve-ahead.ts'
import type { ConfiguredGate } from './configure/configured-gate.schema.ts'
import { insertRequiredGates } from './configure/required-gate.store.ts'
import { createDeployment } from './create-deployment.ts'
import type { NearestAttempts } from './new-deployment.store.ts'
import { createApprovedStanding, createWaitingStanding } from './new-standing.ts'
import { findGateById, insertOpenedGate, type OpenedGateKey, type StoredGate } from './opened-gate.store.ts'
import { computePollToken, hashPollToken } from './poll-token.ts'

/** A gate to open, and the deployment that it is opened for. */
type GateRequest = {
  key: OpenedGateKey
  deployment_id: string
  /** The API key or the trust that opens the gate. */
  credential_id: string
  run: StoredRun
  attempts: NearestAttempts
  required: ConfiguredGate[]
  approval: EarlyApproval | null
}

/**
 * Stores a deployment with its opened gate and the gates that it requires; the run is locked.
 * Without an early approval it waits, and its policies are to be evaluated.
 */
export async function createOpenedGate(
  services: Services,
  tx: Tx,
  request: GateRequest,
  now: Date,
): Promise<StoredGate> {
  const { key, deployment_id, credential_id, run, attempts, required, approval } = request
  const id = createUuid(now)
  const deployment = { org_id: key.org_id, id: deployment_id }
  const { environment, job } = key
  const standing = approval ? createApprovedStanding(now, approval.evaluation) : createWaitingStanding(now)
  const poll_token_sha256 = hashPollToken(computePollToken(services.pollTokenKey, id, now))
  const gate = { ...key, id, deployment_id, credential_id, poll_token_sha256, created_at: now, state: standing.gate }
  const created = { ...deployment, environment, job: job || null, run, attempts, standing: standing.deployment }
  // Sent together, and run in this order: the gates refer to the deployment.
  const writes = [
    createDeployment(services, tx, created, now),
    insertOpenedGate(tx, gate),
    insertRequiredGates(tx, deployment, required, approval && now),
    approval && announceApproval(services, tx, deployment, { approval, created_at: now }),
  ]
  const [stored] = await Promise.all([findGateById(tx, id), ...writes])
  if (attempts.next !== null) await settleWaiting(services, tx, deployment, SUPERSEDED)
  return stored as StoredGate
}

async function announceApproval(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { approval, created_at }: { approval: EarlyApproval; created_at: Date },
): Promise<void> {
  const now = services.clock.now()
  observeDecision({ created_at }, 'approved', now)
  await Promise.all([
    auditOutcome(tx, deployment, createPolicyApproval(approval.evaluation).audited, now),
    notifyUpdates(tx, deployment.org_id, [update('deployment', deployment.id)]),
  ])
}
