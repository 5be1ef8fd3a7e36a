import type { Actor } from '../../access/actor.ts'
import { findRun, lockRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import { requireOwnRepository } from '../../ci/runs/token-repository.ts'
import { runAlreadyFinished } from '../../errors/ci.ts'
import { gateNotConfigured } from '../../errors/deployments.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createDeploymentId } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listAskedGates } from '../asked-gate.store.ts'
import { type GateToRequire, selectRequired } from '../asked-gate.ts'
import { decideByPolicy, decideByPolicyJob } from '../decisions/decide-by-policy.ts'
import { approveAhead, type EarlyApproval, isApprovalFor } from './approve-ahead.ts'
import { createOpenedGate } from './create-opened-gate.ts'
import type { NewGate } from './gate.schema.ts'
import {
  findGateById,
  findNearestAttempts,
  findOpenedGate,
  type OpenedGateKey,
  type StoredGate,
  updatePollToken,
} from './opened-gate.store.ts'
import { computePollToken, hashPollToken, POLL_TOKEN_LIFETIME_MS, verifyPollToken } from './opened-gate.ts'

type AskedGate = {
  key: OpenedGateKey
  actor: Actor
  credential_id: string
  /** The id of a configured gate; undefined for any that covers the deployment. */
  gate_id: string | undefined
  /** The id of the deployment if it is created. */
  deployment_id: string
  approval: EarlyApproval | null
}

type Opened = { gate: StoredGate; created: boolean }

/**
 * How long a request waits for the turn of its policies. Clients give up later, and then ask again.
 */
const POLICIES_WAIT_MS = 3000

/**
 * Opens a gate: creates a deployment that requires all configured gates which cover it, and
 * evaluates its policies. Where their turn does not come within seconds, the gate is pending, and a
 * job evaluates them. Safe to repeat and to call concurrently: run, attempt, environment and
 * job have one gate. A repeated call evaluates the policies if the first one did not come to it,
 * because it lost the database. Throws 403 `forbidden` for a run that the token may not speak
 * about, 404 for an unknown run or attempt, 409 `run_finished` and 409 `gate_not_configured`.
 */
export async function openGate(services: Services, actor: Actor, input: NewGate) {
  const { run_id, attempt, environment, job = '' } = input
  const key = { org_id: actor.org_id, run_id, attempt, environment, job }
  const now = services.clock.now()
  const deployment_id = createDeploymentId(now)
  const { approval, isLate } = await approveAhead(services, key, deployment_id)
  const asked = { key, actor, credential_id: actor.credential.id, gate_id: input.gate_id, deployment_id, approval }
  const { gate: opened, created } = await services.sql.begin(async (tx) => {
    const found = await findOrCreate(services, tx, asked, now)
    if (isLate && !found.gate.is_evaluated)
      await enqueue(tx, decideByPolicyJob, { org_id: actor.org_id, id: found.gate.deployment_id })
    return found
  })
  if (opened.is_evaluated || isLate) return { gate: opened, created, token: getPollToken(services, opened) }
  await decideByPolicy(services, { org_id: opened.org_id, id: opened.deployment_id }, POLICIES_WAIT_MS)
  const gate = (await findGateById(services.sql, opened.id)) as StoredGate
  return { gate, created, token: getPollToken(services, gate) }
}

/**
 * The lock on the run makes concurrent calls wait for each other, and keeps the run from ending in
 * between.
 */
async function findOrCreate(services: Services, tx: Tx, asked: AskedGate, now: Date): Promise<Opened> {
  const { key, actor, gate_id, approval } = asked
  // Sent together to save round trips. PostgreSQL runs them in order, so all but the first run
  // under the lock.
  const [locked, opened, run, gates, attempts] = await Promise.all([
    lockRun(tx, key.org_id, key.run_id),
    findOpenedGate(tx, key),
    findRun(tx, key, services.clock.now()),
    listAskedGates(tx, key.org_id, { opened: now, now }),
    findNearestAttempts(tx, key),
  ])
  if (locked === null) throw createNotFoundError('run')
  await requireOwnRepository(tx, actor, locked)
  if (opened !== null) return { gate: await reopen(services, tx, opened), created: false }
  if (run === null) throw createNotFoundError(`attempt with the number ${key.attempt}`)
  if (isFinal(run.status)) {
    const message = `The attempt has finished with the status ${run.status} and cannot deploy. Create a new attempt.`
    throw runAlreadyFinished(message, { status: run.status })
  }
  const { environment } = key
  const target = { environment, repository: run.repository, branch: parseBranchName(run.ref) }
  const required = requireCovering(selectRequired(gates, target, now), environment, gate_id)
  const holds = attempts.next === null && approval !== null && isApprovalFor(approval, { key, run, gates, now })
  const request = { ...asked, run, attempts, required, approval: holds ? approval : null }
  return { gate: await createOpenedGate(services, tx, request, now), created: true }
}

/** Replaces a poll token that has expired or was derived from another secret key. */
async function reopen(services: Services, tx: Tx, id: string): Promise<StoredGate> {
  const gate = (await findGateById(tx, id)) as StoredGate
  const { text, expiresAt } = getPollToken(services, gate)
  const now = services.clock.now()
  if (expiresAt > now && verifyPollToken(text, gate.poll_token_sha256)) return gate
  const renewed = {
    poll_token_sha256: hashPollToken(computePollToken(services.pollTokenKey, id, now)),
    poll_token_issued_at: now,
  }
  await updatePollToken(tx, gate, renewed.poll_token_sha256, now)
  return { ...gate, ...renewed }
}

function getPollToken({ pollTokenKey }: Services, { id, poll_token_issued_at: issuedAt }: StoredGate) {
  const expiresAt = new Date(issuedAt.getTime() + POLL_TOKEN_LIFETIME_MS)
  return { text: computePollToken(pollTokenKey, id, issuedAt), expiresAt }
}

/**
 * All gates that cover the target, the one of `gateId` first: every one of them must approve
 * (decisions §9).
 */
function requireCovering(covering: GateToRequire[], environment: string, gateId: string | undefined) {
  const isNamed = ({ id }: GateToRequire) => id === gateId
  if (covering.length > 0 && (gateId === undefined || covering.some(isNamed)))
    return [...covering.filter(isNamed), ...covering.filter((gate) => !isNamed(gate))]
  const subject = gateId === undefined ? 'No configured gate' : `No configured gate with the id ${gateId}`
  const message = `${subject} covers ${environment} for this repository and branch.`
  throw gateNotConfigured(message)
}
