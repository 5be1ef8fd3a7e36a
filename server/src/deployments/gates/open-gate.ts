import type { Actor } from '../../access/actor.ts'
import { branchName } from '../../repositories/branch-name.ts'
import { findRun, lockRunById, type StoredRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { newDeploymentId, newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { endWaiting } from '../end-waiting.ts'
import { findNeighbours, type OpenedGateKey } from '../new-deployment.store.ts'
import { SUPERSEDED } from '../outcome.ts'
import { decideByPolicy } from '../policy/decide-by-policy.ts'
import { storeDeployment } from '../store-deployment.ts'
import { type ConfiguredGate, listGates } from './configure/configured-gate.store.ts'
import type { NewGate } from './gate.schema.ts'
import { coversTarget } from './gate-coverage.ts'
import { findGateById, findOpenedGate, insertOpenedGate, renewPollToken, type StoredGate } from './opened-gate.store.ts'
import { hashPollToken, isTokenOf, POLL_TOKEN_LIFETIME_MS, pollToken } from './poll-token.ts'

type Opened = { id: string; deploymentId: string | null }

/**
 * Asks to let a job of a run deploy. All gates that cover the environment are asked, and policies answer at once. Safe
 * to repeat and to run twice at the same instant: run, attempt, environment and job have one gate. Errors: 404 for an
 * unknown run or attempt; 409 `run_finished`, `gate_not_configured`.
 */
export async function openGate(services: Services, actor: Actor, input: NewGate) {
  const key = { run_id: input.run_id, attempt: input.attempt, environment: input.environment, job: input.job ?? '' }
  const { id, deploymentId } = await services.sql.begin((tx) => findOrStore(services, tx, actor, key, input.gate_id))
  if (deploymentId !== null) await decideByPolicy(services, actor.org_id, deploymentId)
  const gate = (await findGateById(services.sql, id)) as StoredGate
  return { gate, created: deploymentId !== null, token: tokenOf(services, gate) }
}

/** The run stays locked, so that twins come one after the other and the run does not end in between. */
async function findOrStore(
  services: Services,
  tx: Tx,
  { org_id }: Actor,
  key: OpenedGateKey,
  named: string | undefined,
): Promise<Opened> {
  const now = services.clock.now()
  // Asked for together, which saves the way, and answered one after the other: all but the first under the lock.
  const [newest, known, run, gates, neighbours] = await Promise.all([
    lockRunById(tx, org_id, key.run_id),
    findOpenedGate(tx, org_id, key),
    findRun(tx, org_id, key.run_id, key.attempt, now),
    listGates(tx, org_id),
    findNeighbours(tx, org_id, key),
  ])
  if (newest === null) throw notFound('run')
  if (known !== null) return keepOpened(services, tx, known)
  if (run === null) throw notFound(`attempt ${key.attempt} of the run`)
  if (isFinal(run.status)) throw runFinished(run)
  const required = requireCovering(gates, key.environment, run, named)
  const id = newUuid(now)
  const deployment_id = newDeploymentId(now)
  const poll_token_sha256 = hashPollToken(pollToken(services.pollTokenKey, id, now))
  await Promise.all([
    storeDeployment(tx, org_id, { id: deployment_id, key, run, neighbours }, now),
    insertOpenedGate(tx, org_id, { ...key, id, deployment_id, poll_token_sha256, created_at: now }, required),
  ])
  if (neighbours.next !== null) await endWaiting(tx, org_id, deployment_id, SUPERSEDED, now)
  return { id, deploymentId: deployment_id }
}

/** A token that is over, or that another secret key made, is replaced; nobody else could have used it. */
async function keepOpened(services: Services, tx: Tx, id: string): Promise<Opened> {
  const gate = (await findGateById(tx, id)) as StoredGate
  const { text, expiresAt } = tokenOf(services, gate)
  const now = services.clock.now()
  if (expiresAt <= now || !isTokenOf(text, gate.poll_token_sha256)) {
    await renewPollToken(tx, gate.org_id, id, hashPollToken(pollToken(services.pollTokenKey, id, now)), now)
  }
  return { id, deploymentId: null }
}

function tokenOf({ pollTokenKey }: Services, { id, poll_token_issued_at: issuedAt }: StoredGate) {
  const expiresAt = new Date(issuedAt.getTime() + POLL_TOKEN_LIFETIME_MS)
  return { text: pollToken(pollTokenKey, id, issuedAt), expiresAt }
}

function runFinished({ status }: StoredRun): ApiError {
  const message = `The attempt has finished as ${status}: it has nothing to deploy any more.`
  return new ApiError(409, 'run_finished', message, { status })
}

/** The gates to ask, the named one first. A name does not spare the others: all that cover must approve (decisions §9). */
function requireCovering(gates: ConfiguredGate[], environment: string, run: StoredRun, named: string | undefined) {
  const target = { environment, repository: run.repository, branch: branchName(run.ref) }
  const covering = gates.filter((gate) => coversTarget(gate, target))
  const isNamed = ({ id }: ConfiguredGate) => id === named
  if (covering.length > 0 && (named === undefined || covering.some(isNamed)))
    return [...covering.filter(isNamed), ...covering.filter((gate) => !isNamed(gate))]
  const what = named === undefined ? 'No gate covers' : `There is no gate ${named} that covers`
  throw new ApiError(409, 'gate_not_configured', `${what} ${environment} for this repository and branch.`)
}
