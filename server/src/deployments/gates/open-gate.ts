import type { Actor } from '../../access/actor.ts'
import { findIdentifiedRun, findRun, lockRun } from '../../ci/runs/run.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import { requireExpected, requireOwnAttempt, requireOwnRepository } from '../../ci/runs/token-repository.ts'
import { readInstance, selectAttempt } from '../../ci/runs/token-run.ts'
import { decideTrust, isWeaker, type TrustClass } from '../../ci/runs/trust.ts'
import { requireKnownSubjects } from '../../ci/subjects/known-subjects.ts'
import type { SubjectRow } from '../../ci/subjects/subject.ts'
import { otherLane, runAlreadyFinished } from '../../errors/ci.ts'
import { gateNotConfigured, gateSubjectsDiffer } from '../../errors/deployments.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createDeploymentId } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listAskedGates } from '../asked-gate.store.ts'
import { type GateToRequire, selectRequired, withAnswerRequired } from '../asked-gate.ts'
import { decideByPolicy, decideByPolicyJob } from '../decisions/decide-by-policy.ts'
import { hasOtherSubjects } from '../deployment-subject.store.ts'
import { approveAhead, type EarlyApproval, isApprovalFor } from './approve-ahead.ts'
import { type AskedAgain, auditSuperseded, evaluateApproved, selectSuperseded } from './ask-again.ts'
import { createOpenedGate } from './create-opened-gate.ts'
import type { NewGate } from './gate.schema.ts'
import {
  findGateById,
  findNearestAttempts,
  findOpenedGate,
  type OpenedBy,
  type OpenedGateKey,
  type StoredGate,
  updatePollToken,
} from './opened-gate.store.ts'
import { computePollToken, hashPollToken, POLL_TOKEN_LIFETIME_MS, verifyPollToken } from './opened-gate.ts'

type AskedGate = {
  key: OpenedGateKey
  actor: Actor
  credential_id: string
  input: NewGate
  subjects: readonly SubjectRow[]
  /** The id of the deployment if it is created. */
  deployment_id: string
  approval: EarlyApproval | null
  again: AskedAgain | null
}

type Opened = { gate: StoredGate; created: boolean; newest_attempt: number }

/** The warning that a run has a higher attempt than the one that is taken without a number. */
const ATTEMPT_OUTDATED = 'attempt_outdated'

/**
 * How long a request waits for the turn of its policies. Clients give up later, and then ask again.
 */
const POLICIES_WAIT_MS = 3000

/**
 * Opens a gate: creates a deployment that requires all configured gates which cover it, and
 * evaluates its policies. Where their turn does not come within seconds, the gate is pending, and a
 * job evaluates them. Safe to repeat and to call concurrently: run, attempt, environment and job
 * have one gate, until its approval does not hold any more or it has ended without one: then
 * another one takes its place. A repeated call evaluates the policies if the first one did not come
 * to it, because it lost the database. Throws 403 `forbidden` for a run that the token may not
 * speak about, 403 `other_lane` for a gate that a stronger lane has opened, 404 for an unknown run
 * or attempt, 409 `run_finished`, `gate_not_configured` and `gate_subjects_differ`, and 400 for
 * subjects that no run has.
 */
export async function openGate(services: Services, actor: Actor, input: NewGate) {
  const { run_id, environment, job = '' } = input
  // Without a number, it is the first one, as ever, if the client does not know more of its job.
  const knowsJob = input.expect !== undefined || input.job_instance !== undefined
  const known =
    input.attempt === undefined && knowsJob ? await findIdentifiedRun(services.sql, actor.org_id, run_id) : null
  const attempt = input.attempt ?? (known === null ? 1 : selectAttempt(actor, known, undefined))
  const key = { org_id: actor.org_id, run_id, attempt, environment, job }
  const now = services.clock.now()
  const deployment_id = createDeploymentId(now)
  const subjects = await requireKnownSubjects(services.sql, actor.org_id, input.subjects ?? [])
  const { approval, isLate, opened: stored } = await approveAhead(services, key, deployment_id)
  const again = stored && (await evaluateApproved(services, actor.org_id, stored, POLICIES_WAIT_MS))
  const asked = { key, actor, credential_id: actor.credential.id, input, subjects, deployment_id, approval, again }
  const found = await services.sql.begin(async (tx) => {
    const stored = await findOrCreate(services, tx, asked, now)
    if (isLate && !stored.gate.is_evaluated)
      await enqueue(tx, decideByPolicyJob, { org_id: actor.org_id, id: stored.gate.deployment_id })
    return stored
  })
  const { gate: opened, created, newest_attempt } = found
  const warnings = input.attempt === undefined && attempt < newest_attempt ? [ATTEMPT_OUTDATED] : []
  if (opened.is_evaluated || isLate) return { gate: opened, created, token: getPollToken(services, opened), warnings }
  await decideByPolicy(services, { org_id: opened.org_id, id: opened.deployment_id }, POLICIES_WAIT_MS)
  const gate = (await findGateById(services.sql, opened.id)) as StoredGate
  return { gate, created, token: getPollToken(services, gate), warnings }
}

/**
 * The lock on the run makes concurrent calls wait for each other, and keeps the run from ending in
 * between.
 */
async function findOrCreate(services: Services, tx: Tx, asked: AskedGate, now: Date): Promise<Opened> {
  const { key, actor, input, approval } = asked
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
  readInstance(actor, locked, input.job_instance, '/body/job_instance')
  if (run === null) throw createNotFoundError(`attempt with the number ${key.attempt}`)
  if (run.own_repository !== run.repository) await requireOwnAttempt(tx, actor, locked, run.own_repository)
  requireExpected(input.expect, { repository: run.own_repository, commit_sha: run.own_commit_sha })
  const { newest_attempt } = locked
  const opener_lane = decideTrust(actor.credential, locked)
  // With the poll token, somebody weaker could read the approval, so that it counts as used.
  if (opened?.opener_lane && isWeaker(opener_lane, opened.opener_lane))
    throw otherLane('A credential that can be trusted more has opened the gate')
  const asking = { org_id: key.org_id, run, hasNext: attempts.next !== null, again: asked.again, now }
  const superseded = opened && (await selectSuperseded(services, tx, opened, asking))
  if (opened !== null && superseded === null) {
    const deployment = { org_id: key.org_id, id: opened.deployment_id }
    if (input.subjects !== undefined && (await hasOtherSubjects(tx, deployment, asked.subjects)))
      throw gateSubjectsDiffer()
    return { gate: await reopen(services, tx, opened, { ...asked, opener_lane }), created: false, newest_attempt }
  }
  if (isFinal(run.status)) {
    const message = `The attempt has finished with the status ${run.status} and cannot deploy. Create a new attempt.`
    throw runAlreadyFinished(message, { status: run.status })
  }
  const { environment } = key
  const provider = run.linked_repository?.provider
  const target = { environment, repository: run.own_repository, provider, branch: parseBranchName(run.ref) }
  const covering = requireCovering(selectRequired(gates, target, now), environment, input.gate_id)
  const required = superseded?.rejected_by ? withAnswerRequired(covering, superseded.rejected_by) : covering
  const holds =
    attempts.next === null &&
    superseded === null &&
    approval !== null &&
    isApprovalFor(approval, { key, run, gates, now })
  const opener = { opener_lane, timeout_minutes: input.timeout_minutes ?? null }
  const request = { ...asked, ...opener, run, attempts, required, approval: holds ? approval : null, superseded }
  const gate = await createOpenedGate(services, tx, request, now)
  if (superseded) await auditSuperseded(tx, superseded, key.org_id, now)
  return { gate, created: true, newest_attempt }
}

/**
 * Replaces a poll token that has expired or was derived from another secret key, or whose holder
 * can be trusted less than who opens the gate now, and takes it over.
 */
async function reopen(
  services: Services,
  tx: Tx,
  { id, opener_lane: stored }: OpenedBy,
  { credential_id, opener_lane }: Pick<AskedGate, 'credential_id'> & { opener_lane: TrustClass },
): Promise<StoredGate> {
  const gate = (await findGateById(tx, id)) as StoredGate
  const { text, expiresAt } = getPollToken(services, gate)
  const now = services.clock.now()
  const isTakenOver = stored !== null && isWeaker(stored, opener_lane)
  if (expiresAt > now && verifyPollToken(text, gate.poll_token_sha256) && !isTakenOver) return gate
  // The time is part of the token: another one even within the millisecond in which it was issued.
  const poll_token_issued_at = new Date(Math.max(now.getTime(), gate.poll_token_issued_at.getTime() + 1))
  const poll_token_sha256 = hashPollToken(computePollToken(services.pollTokenKey, id, poll_token_issued_at))
  const renewed = { poll_token_sha256, poll_token_issued_at }
  await updatePollToken(tx, gate, renewed, isTakenOver ? { credential_id, opener_lane } : null)
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
