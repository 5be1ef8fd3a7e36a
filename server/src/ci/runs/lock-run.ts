import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import { toClaimedRun } from './claimed-run.ts'
import { readTokenAddress } from './match-token-repository.ts'
import { updateClaims } from './new-run.store.ts'
import { type IdentifiedRun, lockRun } from './run.store.ts'
import { applyClaims } from './store-run.ts'
import { getTokenJob, isOwnButUnclaimed } from './token-run.ts'
import { decideTrust, isOwnRun, type TrustClass } from './trust.ts'

/** A locked run, and the class of what an actor states about it. */
export type RunToChange = IdentifiedRun & { stated: TrustClass }

/**
 * Locks a run until the transaction ends; null when it does not exist. If the actor's token names
 * it, the run keeps the claims. If only API keys have reported it so far, it also gets the fields
 * that the claims give.
 */
export async function lockRunFor(tx: Tx, actor: Actor, runId: string, now: Date): Promise<RunToChange | null> {
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
  const trust = await applyClaims(tx, stored, toClaimedRun(actor, { job, repository, body: null }, now))
  const { host } = splitAddress(repository)
  return trust && { ...stored, trust, repository: { provider: job.provider, id: job.repository.id, host } }
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
