import type { Actor } from '../../access/actor.ts'
import { normalizeUuid, type TokenJob } from '../../access/oidc-trusts/token-job.ts'
import { enqueueRunReadNow } from '../../codehosts/sync/read-run.job.ts'
import { runNotFound } from '../../errors/ci.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, invalidRequest } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { toClaimedRun } from './claimed-run.ts'
import { applyClaims, recordRun } from './record-run.ts'
import {
  type CiSystemRun,
  findRunByExternalId,
  type IdentifiedRun,
  insertRunWriter,
  lockRun,
  type StoredRun,
} from './run.store.ts'
import { type AttemptKey, hasAttempt } from './run-attempt.store.ts'
import type { RunIntake } from './run-intake.ts'
import { updateClaims } from './run-row.store.ts'
import {
  findHostRun,
  getTokenJob,
  isOwnButUnclaimed,
  readTokenAddress,
  requireOwnRepository,
  toNamedRepository,
} from './token-repository.ts'
import { decideTrust, decideTrustOfJob, isOwnRun, type RunSource, type TrustClass } from './trust.ts'

const RETRY_SECONDS = 5

/**
 * The run and the attempt that the actor's token names: the run of the code host if one is
 * connected for the repository. Otherwise, the run or the attempt is created from the claims. Safe
 * to repeat and to call concurrently. Errors: 400 `invalid_request` for a token that names no run;
 * 404 `run_not_found` if the code host has not reported the run yet; those of `recordRun`.
 */
export async function requireTokenRun(
  services: Services,
  intake: RunIntake,
  actor: Actor,
): Promise<{ run_id: string; attempt: number }> {
  const job = getTokenJob(actor)
  if (job === null) throw invalidRequest('The token does not name a run of a known CI system.')
  if (await isHostConnected(intake, actor.org_id, job)) return requireHostRun(services, actor.org_id, job)
  const known = await findClaimedRun(services.sql, actor.org_id, job)
  if (known !== null) return known
  const repository = await readTokenAddress(services.sql, actor.org_id, job)
  const claimed = toClaimedRun(actor, { job, repository, body: null }, services.clock.now())
  const { run } = await recordRun(services, intake, actor, claimed)
  return { run_id: run.id, attempt: run.attempt }
}

/** Whether a code host is connected for the repository of a token. */
export function isHostConnected({ connections }: RunIntake, orgId: string, job: TokenJob): Promise<boolean> {
  return connections.add(toNamedRepository(orgId, job))
}

/** The run of a token as its code host has reported it. Throws 404 `run_not_found`. */
export async function requireHostRun(services: Services, org_id: string, job: TokenJob): Promise<AttemptKey> {
  const { provider, repository, run } = job
  const known = await findHostRun(services.sql, org_id, job)
  if (known !== null) {
    const key = { org_id, run_id: known.id, attempt: run.attempt ?? known.newest_attempt }
    if (await hasAttempt(services.sql, key)) {
      await updateClaims(services.sql, key, job.claims)
      return key
    }
  }
  if (run.host_run_id !== null) {
    const asked = { org_id, provider, repository_id: repository.id, run_id: run.host_run_id }
    await services.sql.begin((tx) =>
      enqueueRunReadNow(tx, { ...asked, ...(run.attempt !== null && { attempt: run.attempt }) }),
    )
  }
  const message = 'The code host has not reported this run yet. Try again later.'
  throw runNotFound(message).retryAfter(RETRY_SECONDS)
}

/** A run of a code host in the terms of the CI system that the job runs in. */
export function toCiSystemRun(run: StoredRun, { run: { ci_system, external_run_id }, event }: TokenJob): CiSystemRun {
  return { ...run, ci_system, external_run_id, event }
}

/** The stored run of a token with its attempt; null if either has to be stored. */
async function findClaimedRun(db: Db, org_id: string, job: TokenJob) {
  const run = await findRunByExternalId(db, org_id, { ...job.run, trust: decideTrustOfJob(job, null) })
  if (run === null || !isOwnRun(job, run)) return null
  const attempt = job.run.attempt ?? run.newest_attempt
  return (await hasAttempt(db, { org_id, run_id: run.id, attempt })) ? { run_id: run.id, attempt } : null
}

/** A locked run, and the class of what an actor states about it. */
export type RunToChange = IdentifiedRun & { stated: TrustClass }

/**
 * Locks a run that the actor states something about until the transaction ends, and notes that they
 * do; null when it does not exist. Throws 403 `forbidden` for a token that may not speak about it.
 */
export async function lockRunFor(tx: Tx, actor: Actor, runId: string, now: Date): Promise<RunToChange | null> {
  const run = await lockAnyRunFor(tx, actor, runId, now)
  if (run === null) return null
  await requireOwnRepository(tx, actor, run)
  await insertRunWriter(tx, { org_id: actor.org_id, run_id: runId }, actor.credential.id)
  return run
}

/**
 * The same for any token. If the actor's token names the run, the run keeps the claims. If only API
 * keys have reported it so far, the token takes it over.
 */
export async function lockAnyRunFor(tx: Tx, actor: Actor, runId: string, now: Date): Promise<RunToChange | null> {
  const stored = await lockRun(tx, actor.org_id, runId)
  if (stored === null) return null
  const run = (await claimOwn(tx, actor, stored, now)) ?? stored
  const job = getTokenJob(actor)
  if (job !== null && run.provider !== 'other' && isOwnRun(job, run))
    await updateClaims(tx, { org_id: actor.org_id, run_id: runId }, job.claims)
  return { ...run, stated: decideTrust(actor.credential, run) }
}

async function claimOwn(tx: Tx, actor: Actor, stored: IdentifiedRun, now: Date): Promise<IdentifiedRun | null> {
  const job = getTokenJob(actor)
  if (job === null || !(await isOwnButUnclaimed(tx, actor.org_id, job, stored))) return null
  const repository = await readTokenAddress(tx, actor.org_id, job)
  const isTaken = await applyClaims(tx, stored, toClaimedRun(actor, { job, repository, body: null }, now))
  return isTaken ? lockRun(tx, actor.org_id, stored.id) : null
}

/**
 * The attempt of a run that a request is about. The token of the run names its own attempt; every
 * other request is about the newest one unless it names another. Throws 400 `invalid_request` for
 * another attempt than the token's.
 */
export function selectAttempt(actor: Actor, run: IdentifiedRun, asked: number | undefined): number {
  const job = getTokenJob(actor)
  const own = job !== null && isOwnRun(job, run) ? job.run.attempt : null
  if (own !== null && asked !== undefined && asked !== own)
    throw createInvalidFieldError('/body/attempt', `must be ${own}, as in the token`)
  return asked ?? own ?? run.newest_attempt
}

/** The execution that a sender names; a token names that of its own run. */
export function readInstance(actor: Actor, run: RunSource, sent: string | undefined, pointer: string): string | null {
  const job = getTokenJob(actor)
  const own = job !== null && isOwnRun(job, run) ? job.instance : null
  if (own === null) return sent ?? null
  if (sent === undefined || sent === own || normalizeUuid(sent) === own) return own
  throw createInvalidFieldError(pointer, `must be ${own}, as in the token`)
}
