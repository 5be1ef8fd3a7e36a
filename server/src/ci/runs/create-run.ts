import type { Actor } from '../../access/actor.ts'
import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import { foreignRepository } from '../../errors/ci.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { createRunId } from '../../platform/ids.ts'
import { findOnHost } from '../../repositories/repository.store.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { checkClaims, toClaimedRun } from './claimed-run.ts'
import { type CreatedRun, recordRun } from './record-run.ts'
import { normalizeInstance } from './repository-address.ts'
import type { NewCiRun } from './run.schema.ts'
import { requireStoredRun } from './run.store.ts'
import type { RunIntake } from './run-intake.ts'
import {
  getTokenHost,
  getTokenJob,
  isSameAddress,
  matchTokenRepository,
  readRepository,
  requireKeyRepository,
  requireOwnCode,
} from './token-repository.ts'
import { isHostConnected, requireHostRun, toCiSystemRun } from './token-run.ts'
import { canSpeakFor, getTrustOfOther } from './trust.ts'

/**
 * Creates a run, adds an attempt to a stored run, or returns the stored attempt. A token can name
 * its own run, which is the one of the code host if one is connected. Safe to repeat and to call
 * concurrently. Errors: 400 `invalid_request` for the repository, and for fields that contradict
 * the token; 403 `forbidden` for another run that the token may not speak about; those of
 * `recordRun` and of `requireHostRun`.
 */
export async function createRun(
  services: Services,
  intake: RunIntake,
  actor: Actor,
  input: NewCiRun,
): Promise<CreatedRun> {
  const job = getTokenJob(actor)
  const given = readRepository(input.repository, '/body/repository')
  const now = services.clock.now()
  if (input.continue && input.attempt !== undefined)
    throw createInvalidFieldError('/body/continue', 'cannot be given together with attempt')
  requireKeyRepository(actor, splitAddress(given))
  if (job === null) return recordRun(services, intake, actor, toRun(actor, input, given, now))
  const { ci_system, external_run_id } = input
  const isOwn = ci_system === job.run.ci_system && external_run_id === job.run.external_run_id
  const repository = await findNamed(services.sql, actor.org_id, job, given)
  const isOther = repository === null && canSpeakFor(job, given)
  if (!isOwn || isOther) {
    if (repository === null && !isOther)
      throw foreignRepository('The token can only report runs of its own repository.')
    await requireOwnCode(services.sql, actor.org_id, job)
    const trust = isOther ? getTrustOfOther(job) : 'self_reported'
    return recordRun(services, intake, actor, { ...toRun(actor, input, repository ?? given, now), trust })
  }
  if (repository === null) throw createInvalidFieldError('/body/repository', 'must be the repository of the token')
  checkClaims(job, input)
  if (await isHostConnected(intake, actor.org_id, job)) {
    const run = await requireStoredRun(services.sql, await requireHostRun(services, actor.org_id, job), now)
    return { run: toCiSystemRun(run, job), created: false, conflicts: [] }
  }
  // A token that names its attempt continues nothing.
  const isContinued = job.run.attempt === null && input.continue === true
  const claimed = toClaimedRun(actor, { job, repository, body: input }, now)
  return recordRun(services, intake, actor, { ...claimed, isContinued })
}

/**
 * The repository of a run that a token reports; null if it is not the token's own. Its name in the
 * claims is newer than another one that the organization knows.
 */
async function findNamed(db: Db, orgId: string, job: TokenJob, given: string): Promise<string | null> {
  const match = await matchTokenRepository(db, orgId, job, (address) => isSameAddress(address, given))
  if (match === 'same') return job.repository.address ?? given
  return match === 'unknown' && (await canBeNamed(db, orgId, job, given)) ? given : null
}

/** Without a name in the claims, every name on the code host that no other repository has. */
async function canBeNamed(db: Db, orgId: string, job: TokenJob, address: string): Promise<boolean> {
  const { host, name } = splitAddress(address)
  return host === getTokenHost(job) && (await findOnHost(db, orgId, host, name)) === null
}

function toRun(actor: Actor, input: NewCiRun, repository: string, now: Date) {
  return {
    isContinued: input.continue === true,
    org_id: actor.org_id,
    id: createRunId(now),
    provider: 'other' as const,
    ci_system: input.ci_system,
    ci_instance: normalizeInstance(input.ci_instance),
    ci_system_name: input.ci_system_name ?? null,
    external_run_id: input.external_run_id,
    repository,
    commit_sha: input.commit_sha,
    ref: input.ref ?? null,
    pipeline_name: input.pipeline_name,
    event: input.event,
    trust: 'self_reported' as const,
    credential: actor.credential,
    claimed: null,
    attempt: {
      number: input.attempt ?? 1,
      status: input.status,
      url: input.url ?? null,
      actor: input.actor ?? null,
      started_at: input.started_at === undefined ? now : new Date(input.started_at),
      deadline_at: new Date(now.getTime() + input.timeout_minutes * MINUTE_MS),
    },
    created_at: now,
  }
}
