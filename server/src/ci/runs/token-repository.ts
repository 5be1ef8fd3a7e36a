import type { Actor } from '../../access/actor.ts'
import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import { normalizeAddress } from '../../codehosts/catalogue.ts'
import { listCovered, type NamedRepository } from '../../codehosts/connections/connection.store.ts'
import { formatHostRunId } from '../../codehosts/host-run.ts'
import { foreignRepository, runMismatch } from '../../errors/ci.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import { getDefaultHost, matchAnyRepository, splitAddress } from '../../repositories/repository-identity.ts'
import { normalizeRepository, RepositoryAddressError } from './repository-address.ts'
import type { ExpectedRun } from './run.schema.ts'
import { findIdentifiedRun, type IdentifiedRun } from './run.store.ts'
import {
  canBeSameInstance,
  canSpeakFor,
  decideTrustOfJob,
  isOwnRepository,
  isOwnRun,
  type TrustClass,
} from './trust.ts'

/**
 * The job that the actor's token describes; null for an API key, and if the claims cannot be read.
 */
export function getTokenJob({ credential }: Actor): TokenJob | null {
  return credential.type === 'oidc_trust' ? credential.job : null
}

/** Whether the actor is an API key that speaks about some repositories only. */
export function isLimitedKey({ credential }: Pick<Actor, 'credential'>): boolean {
  return credential.type === 'api_key' && credential.repositories !== null
}

/**
 * Lets an API key that is limited to repositories speak about these only. Without a host, only a
 * pattern without one can match. Throws 403 `forbidden`.
 */
export function requireKeyRepository(
  { credential }: Pick<Actor, 'credential'>,
  { host, name }: { host: string | null; name: string },
): void {
  if (credential.type !== 'api_key' || credential.repositories === null) return
  const address = `${host ?? ''}/${name}`
  if (matchAnyRepository(credential.repositories, address)) return
  throw foreignRepository(`The API key can only speak about ${credential.repositories.join(', ')}.`)
}

/**
 * Lets a token speak about its own run. Unless code of strangers may have run in its job, it speaks
 * about the other runs of its own repository, and about those of the repositories that its trust
 * names. If its claims cannot be read, it speaks about runs that only API keys have reported. A key
 * speaks about the repositories that it is limited to. Throws 403 `forbidden`.
 */
export async function requireOwnRepository(
  db: Db,
  { org_id, credential }: Pick<Actor, 'org_id' | 'credential'>,
  run: IdentifiedRun,
): Promise<void> {
  if (credential.type !== 'oidc_trust') return requireKeyRepository({ credential }, splitAddress(run.address))
  const { job } = credential
  const message = 'The token can only speak about runs of its own repository.'
  if (job === null) {
    if (run.repository !== null) throw foreignRepository(message)
    return
  }
  if (isOwnRun(job, run)) return
  await requireOwnCode(db, org_id, job)
  if (await isOwnButUnclaimed(db, org_id, job, run)) return
  if (canSpeakFor(job, run.address)) return
  if (!(await isOfRepository(db, org_id, job, run))) throw foreignRepository(message)
}

/**
 * The same for an attempt, which can be about another repository than its run. `address` is that of
 * the attempt; null: of the run.
 */
export async function requireOwnAttempt(
  db: Db,
  actor: Pick<Actor, 'org_id' | 'credential'>,
  run: IdentifiedRun,
  address: string | null,
): Promise<void> {
  if (address !== null) await requireOwnRepository(db, actor, { ...run, address, repository: null })
}

/**
 * Throws 403 `forbidden` if code of strangers may have run in a job: it speaks about its own run
 * only.
 */
export async function requireOwnCode(db: Db, orgId: string, job: TokenJob): Promise<void> {
  if ((await readTokenTrust(db, orgId, job)) === 'untrusted')
    throw foreignRepository('Code of strangers may have run in the job. Its token can only speak about its own run.')
}

/** The id decides where the run has one. An address that the token does not have is not its own. */
async function isOfRepository(db: Db, orgId: string, job: TokenJob, run: IdentifiedRun): Promise<boolean> {
  if (run.repository !== null) return isOwnRepository(job, run.repository)
  const match = await matchTokenRepository(db, orgId, job, (address) => isSameAddress(address, run.address))
  return match === 'same'
}

/** The class of what a job states about its own run. */
export async function readTokenTrust(db: Db, orgId: string, job: TokenJob): Promise<TrustClass> {
  const run = job.foreign_code === 'pull_request' ? await findHostRun(db, orgId, job) : null
  return decideTrustOfJob(job, run?.head_repository_id ?? null)
}

/** Whether a run has the number of a token's run and only API keys have reported it. */
export async function isOwnButUnclaimed(db: Db, orgId: string, job: TokenJob, run: IdentifiedRun): Promise<boolean> {
  const { ci_system, ci_instance, external_run_id } = job.run
  if (run.provider !== 'other' || run.repository !== null || run.trust !== 'self_reported') return false
  if (run.ci_system !== ci_system || run.external_run_id !== external_run_id) return false
  if (!canBeSameInstance(ci_instance, run.ci_instance)) return false
  const covered = await listCovered(db, [{ ...toNamedRepository(orgId, job), position: 0 }], orgId)
  return covered.length === 0
}

/** The run of a token as its code host has reported it. */
export async function findHostRun(db: Db, orgId: string, job: TokenJob): Promise<IdentifiedRun | null> {
  const { host_run_id } = job.run
  if (host_run_id === null) return null
  const run = await findIdentifiedRun(db, orgId, formatHostRunId(job.provider, host_run_id))
  return run !== null && isOwnRun(job, run) ? run : null
}

export function toNamedRepository(org_id: string, { provider, repository: { id, host } }: TokenJob): NamedRepository {
  return { org_id, provider, repository_id: id, host }
}

/**
 * Whether an address or a name is that of a token's repository: as its claims name it, or as the
 * organization knows its id, because a repository can be renamed. `unknown` if neither has a name.
 */
export async function matchTokenRepository(
  db: Db,
  orgId: string,
  job: TokenJob,
  isNamed: (address: string) => boolean,
): Promise<'same' | 'other' | 'unknown'> {
  const { address } = job.repository
  if (address !== null && isNamed(address)) return 'same'
  const known = await findKnownAddress(db, orgId, job)
  if (known !== null && isNamed(known)) return 'same'
  return (address ?? known) === null ? 'unknown' : 'other'
}

/** The address of a token's repository. Without a name, it is made of the ids of the claims. */
export async function readTokenAddress(db: Db, orgId: string, job: TokenJob): Promise<string> {
  const { address, owner_id, id } = job.repository
  const named = address ?? (await findKnownAddress(db, orgId, job))
  return named ?? `${getTokenHost(job)}/${owner_id ?? job.provider}/${id}`
}

/** The code host of a token's repository, or the provider's own if the issuer does not tell. */
export function getTokenHost({ provider, repository }: TokenJob): string {
  return repository.host ?? getDefaultHost(provider)
}

/**
 * Whether the organization knows the id of a token's repository as that of a repository of another
 * code host.
 */
export async function isOtherHosts(db: Db, orgId: string, { provider, repository }: TokenJob): Promise<boolean> {
  const known = await findFollowed(db, { org_id: orgId, provider, id: repository.id })
  return known !== null && repository.host !== null && known.host !== repository.host
}

/**
 * True for two spellings of one address, also for one that was stored before addresses had one
 * form. Code hosts ignore case in names.
 */
export function isSameAddress(one: string, other: string): boolean {
  return normalizeAddress(one).toLowerCase() === normalizeAddress(other).toLowerCase()
}

async function findKnownAddress(db: Db, orgId: string, { provider, repository }: TokenJob): Promise<string | null> {
  const known = await findFollowed(db, { org_id: orgId, provider, id: repository.id })
  if (known === null || (repository.host !== null && known.host !== repository.host)) return null
  return `${known.host}/${known.full_name}`
}

/** What an attempt of a run is about. A commit that nobody has named is null. */
type AboutAttempt = { repository: string; commit_sha: string | null }

/**
 * Throws 409 `run_mismatch` if an attempt is about another repository or commit than its sender
 * expects (ci-evidence §8.3), and 400 `invalid_request` for a repository that is no address. Comes
 * after the check that the sender may speak about the run, and before anything is stored.
 */
export function requireExpected(expected: ExpectedRun | undefined, stored: AboutAttempt): void {
  if (expected === undefined) return
  const { repository, commit_sha } = expected
  if (repository !== undefined) {
    const address = readRepository(repository, '/body/expect/repository')
    if (!isSameAddress(address, stored.repository))
      throw runMismatch({ field: 'repository', expected: address, stored: stored.repository })
  }
  if (commit_sha !== undefined && stored.commit_sha !== null && commit_sha !== stored.commit_sha)
    throw runMismatch({ field: 'commit_sha', expected: commit_sha, stored: stored.commit_sha })
}

/** The address of a repository in its one form. Throws 400 that names the place of the field. */
export function readRepository(address: string, pointer: string): string {
  try {
    return normalizeRepository(address)
  } catch (error) {
    if (error instanceof RepositoryAddressError) throw createInvalidFieldError(pointer, error.message)
    throw error
  }
}
