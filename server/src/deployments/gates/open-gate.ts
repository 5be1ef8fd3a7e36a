import type { Actor } from '../../access/actor.ts'
import { findRun, lockRunById, type StoredRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { newDeploymentId, newUuid } from '../../platform/ids.ts'
import { branchName } from '../../repositories/branch-name.ts'
import type { Services } from '../../services.ts'
import { endWaiting } from '../decisions/decide-deployment.ts'
import { type DeploymentKey, SUPERSEDED } from '../deployment-state.ts'
import { decideByPolicy } from '../policy/decide-by-policy.ts'
import type { ConfiguredGate } from './configure/configured-gate.schema.ts'
import { listGates } from './configure/configured-gate.store.ts'
import { coversTarget } from './configure/configured-gate.ts'
import { insertRequiredGates } from './configure/required-gate.store.ts'
import { createDeployment } from './create-deployment.ts'
import type { NewGate } from './gate.schema.ts'
import type { NearestAttempts } from './new-deployment.store.ts'
import {
  findGateById,
  findNearestAttempts,
  findOpenedGate,
  insertOpenedGate,
  type OpenedGateKey,
  renewPollToken,
  type StoredGate,
} from './opened-gate.store.ts'
import { hashPollToken, isTokenOf, POLL_TOKEN_LIFETIME_MS, pollToken } from './poll-token.ts'

/** The requested gate. Without a `gate_id`, any configured gate that covers the deployment. */
type AskedGate = { key: OpenedGateKey; credential_id: string; gate_id: string | undefined }

/** `unevaluated` is the deployment if its policies were never evaluated. */
type Opened = { id: string; created: boolean; unevaluated: DeploymentKey | null }

/**
 * Opens a gate: creates a deployment that requires all configured gates which cover it, and
 * evaluates its policies. Safe to repeat and to call concurrently: run, attempt, environment and
 * job have one gate. A repeated call evaluates the policies if the first one did not come to it,
 * because it lost the database. Throws 404 for an unknown run or attempt, 409 `run_finished` and
 * 409 `gate_not_configured`.
 */
export async function openGate(services: Services, actor: Actor, input: NewGate) {
  const { run_id, attempt, environment, job = '' } = input
  const key = { org_id: actor.org_id, run_id, attempt, environment, job }
  const asked = { key, credential_id: actor.credential.id, gate_id: input.gate_id }
  const { id, created, unevaluated } = await services.sql.begin((tx) => findOrCreate(services, tx, asked))
  if (unevaluated) await decideByPolicy(services, unevaluated)
  const gate = (await findGateById(services.sql, id)) as StoredGate
  return { gate, created, token: tokenOf(services, gate) }
}

/**
 * The lock on the run makes concurrent calls wait for each other, and keeps the run from ending in
 * between.
 */
async function findOrCreate(services: Services, tx: Tx, asked: AskedGate): Promise<Opened> {
  const { key, credential_id, gate_id } = asked
  const { org_id, run_id, attempt } = key
  const now = services.clock.now()
  // Sent together to save round trips. PostgreSQL runs them in order, so all but the first run
  // under the lock.
  const [newest, opened, run, gates, attempts] = await Promise.all([
    lockRunById(tx, org_id, run_id),
    findOpenedGate(tx, key),
    findRun(tx, { org_id, run_id, attempt }, now),
    listGates(tx, org_id),
    findNearestAttempts(tx, key),
  ])
  if (newest === null) throw notFound('run')
  if (opened !== null) return reopen(services, tx, opened)
  if (run === null) throw notFound(`attempt with the number ${attempt}`)
  if (isFinal(run.status)) throw runFinished(run)
  const required = requireCovering(gates, key.environment, run, gate_id)
  return create(services, tx, { key, credential_id, run, attempts, required }, now)
}

type Opening = Omit<AskedGate, 'gate_id'> & { run: StoredRun; attempts: NearestAttempts; required: ConfiguredGate[] }

async function create(services: Services, tx: Tx, opening: Opening, now: Date): Promise<Opened> {
  const { key, credential_id, run, attempts, required } = opening
  const { org_id, environment } = key
  const id = newUuid(now)
  const deployment = { org_id, id: newDeploymentId(now) }
  const poll_token_sha256 = hashPollToken(pollToken(services.pollTokenKey, id, now))
  const gate = { ...key, id, deployment_id: deployment.id, credential_id, poll_token_sha256, created_at: now }
  await Promise.all([
    createDeployment(services, tx, { ...deployment, environment, job: key.job || null, run, attempts }, now),
    insertOpenedGate(tx, gate),
    insertRequiredGates(tx, deployment, required),
  ])
  if (attempts.next !== null) await endWaiting(services, tx, deployment, SUPERSEDED)
  return { id, created: true, unevaluated: deployment }
}

/** Replaces a poll token that has expired or was derived from another secret key. */
async function reopen(services: Services, tx: Tx, id: string): Promise<Opened> {
  const gate = (await findGateById(tx, id)) as StoredGate
  const { text, expiresAt } = tokenOf(services, gate)
  const now = services.clock.now()
  if (expiresAt <= now || !isTokenOf(text, gate.poll_token_sha256))
    await renewPollToken(tx, gate, hashPollToken(pollToken(services.pollTokenKey, id, now)), now)
  const deployment = { org_id: gate.org_id, id: gate.deployment_id }
  return { id, created: false, unevaluated: gate.is_evaluated ? null : deployment }
}

function tokenOf({ pollTokenKey }: Services, { id, poll_token_issued_at: issuedAt }: StoredGate) {
  const expiresAt = new Date(issuedAt.getTime() + POLL_TOKEN_LIFETIME_MS)
  return { text: pollToken(pollTokenKey, id, issuedAt), expiresAt }
}

function runFinished({ status }: StoredRun): ApiError {
  return new ApiError(
    409,
    'run_finished',
    `The attempt has finished with the status ${status} and cannot deploy. Create a new attempt.`,
    { status },
  )
}

/**
 * All gates that cover the target, the one of `gateId` first: every one of them must approve
 * (decisions §9).
 */
function requireCovering(gates: ConfiguredGate[], environment: string, run: StoredRun, gateId: string | undefined) {
  const target = { environment, repository: run.repository, branch: branchName(run.ref) }
  const covering = gates.filter((gate) => coversTarget(gate, target))
  const isNamed = ({ id }: ConfiguredGate) => id === gateId
  if (covering.length > 0 && (gateId === undefined || covering.some(isNamed)))
    return [...covering.filter(isNamed), ...covering.filter((gate) => !isNamed(gate))]
  const subject = gateId === undefined ? 'No configured gate' : `No configured gate with the id ${gateId}`
  const message = `${subject} covers ${environment} for this repository and branch.`
  throw new ApiError(409, 'gate_not_configured', message)
}
