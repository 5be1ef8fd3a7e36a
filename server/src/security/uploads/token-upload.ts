import type { Actor } from '../../access/actor.ts'
import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import {
  isLimitedKey,
  isOtherHosts,
  isSameAddress,
  matchTokenRepository,
  readTokenTrust,
  requireKeyRepository,
  requireOwnCode,
} from '../../ci/runs/token-repository.ts'
import { canSpeakFor, getLane, getTrustOfOther, type Lane } from '../../ci/runs/trust.ts'
import type { Provider } from '../../codehosts/catalogue.ts'
import { foreignRepository } from '../../errors/ci.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import { findByName } from '../../repositories/repository.store.ts'
import {
  getDefaultHost,
  normalizeRepositoryId,
  parseBranchName,
  splitAddress,
} from '../../repositories/repository-identity.ts'
import type { RepositoryReference } from '../repositories/select-repository.ts'
import { findUploadRepository } from './upload-view.store.ts'

const MESSAGE = 'The token can only upload reports for its own repository.'

/**
 * The repository of a report that a CI job uploads, by the id in its token. Throws 403 `forbidden`
 * if the request names another one.
 */
export async function requireTokenRepository(
  db: Db,
  orgId: string,
  job: TokenJob | null,
  asked: RepositoryReference,
): Promise<RepositoryReference & { job: TokenJob }> {
  if (job === null || !(await isOwn(db, orgId, job, asked))) throw foreignRepository(MESSAGE)
  // Reports are kept by provider and id, so another host's repository would get them.
  if (await isOtherHosts(db, orgId, job)) throw foreignRepository(MESSAGE)
  const { address, id } = job.repository
  const name = address === null ? asked.name : splitAddress(address).name
  // Azure Pipelines can build a repository of another code host, which has its own form of ids.
  const isOwnId = normalizeRepositoryId(job.provider, id) !== null
  return isOwnId
    ? { name, provider: job.provider, providerId: id, job }
    : { name, provider: null, providerId: null, job }
}

/**
 * The lane of a report that a job sends about a repository which is not its own, and which its
 * trust names (trust §3); null if it does not. Throws 403 `forbidden` if code of strangers may have
 * run in the job.
 */
export async function findLaneOfOther(
  db: Db,
  orgId: string,
  job: TokenJob | null,
  asked: RepositoryReference,
): Promise<Lane | null> {
  if (job?.others === undefined || (await isOwn(db, orgId, job, asked))) return null
  const addresses = await listAddresses(db, orgId, asked)
  if (addresses.length === 0 || !addresses.every((address) => canSpeakFor(job, address))) return null
  await requireOwnCode(db, orgId, job)
  return getLane(getTrustOfOther(job))
}

/** Every address that a reference can mean. An unknown id could be that of any repository. */
async function listAddresses(db: Db, orgId: string, asked: RepositoryReference): Promise<string[]> {
  const { name, provider, providerId } = asked
  if (provider !== null && providerId !== null) {
    const known = await findFollowed(db, { org_id: orgId, provider, id: providerId })
    return known === null ? [] : [`${known.host}/${known.full_name}`]
  }
  const linked = await findByName(db, orgId, name)
  const meant = linked.filter((repository) => provider === null || repository.provider === provider)
  if (meant.length > 0) return meant.map(({ host }) => `${host}/${name}`)
  return [`${provider === null ? '' : getDefaultHost(provider as Provider)}/${name}`]
}

/** What a report is about, as its sender states it, and in which lane. Null: not stated. */
export type Stated = { lane: Lane; git_ref: string | null; commit_sha: string | null }

/**
 * The ref and the commit of a report, which are those of the token unless the request states
 * others. About its own a token speaks in its own lane, about others of its repository in that of
 * keys (decisions §7). Throws 403 `forbidden` for others if code of strangers may have run in the
 * job.
 */
export async function requireTokenStatement(
  db: Db,
  orgId: string,
  job: TokenJob,
  asked: Pick<Stated, 'git_ref' | 'commit_sha'>,
): Promise<Stated> {
  const isOwn = isOwnRef(job, asked.git_ref) && isOwnCommit(job, asked.commit_sha)
  if (!isOwn) await requireOwnCode(db, orgId, job)
  const git_ref = asked.git_ref ?? job.ref
  const isKnown = isOwn && git_ref !== null
  const trust = await readTokenTrust(db, orgId, job)
  const lane = isKnown || trust === 'untrusted' ? getLane(trust) : 'key'
  return { lane, git_ref, commit_sha: asked.commit_sha ?? job.commit_sha }
}

/** GitHub names a pull request's own branch apart from the ref that its job runs for. */
function isOwnRef({ ref, claims }: TokenJob, asked: string | null): boolean {
  if (asked === null) return true
  const name = (of: string) => parseBranchName(of) ?? of
  return [ref, claims.head_ref].some((own) => own && name(own) === name(asked))
}

/** A request may shorten a commit. A token that names none leaves it to the request. */
function isOwnCommit({ commit_sha }: TokenJob, asked: string | null): boolean {
  return asked === null || commit_sha === null || commit_sha.startsWith(asked)
}

/**
 * Throws 403 `forbidden` if a token names another repository than that of the upload, or an API key
 * is limited to others.
 */
export async function checkUploadRepository(db: Db, actor: Actor, uploadId: string): Promise<void> {
  const { org_id, credential } = actor
  if (credential.type !== 'oidc_trust' && !isLimitedKey(actor)) return
  const repository = await findUploadRepository(db, org_id, uploadId)
  if (repository === null) return
  if (credential.type !== 'oidc_trust') return requireRepositoryOfKey(db, actor, repository)
  const { job } = credential
  if (job !== null && (await isOwn(db, org_id, job, repository))) return
  if ((await findLaneOfOther(db, org_id, job, repository)) === null) throw foreignRepository(MESSAGE)
}

/**
 * Lets a limited API key upload for its repositories only. An id that the organization does not
 * know could be that of any repository, whatever name comes with it. Throws 403 `forbidden`.
 */
export async function requireRepositoryOfKey(
  db: Db,
  actor: Actor,
  { name, provider, providerId }: { name: string; provider: string | null; providerId: string | null },
): Promise<void> {
  if (!isLimitedKey(actor)) return
  const hasId = provider !== null && providerId !== null
  const known = hasId ? await findFollowed(db, { org_id: actor.org_id, provider, id: providerId }) : null
  if (hasId && known === null)
    throw foreignRepository('The API key is limited to repositories, and this id is not known. Leave it out.')
  const host = known?.host ?? (provider === null ? null : getDefaultHost(provider as Provider))
  requireKeyRepository(actor, { host, name: known?.full_name ?? name })
}

/** The id decides, because a repository can be renamed. */
async function isOwn(db: Db, orgId: string, job: TokenJob, asked: RepositoryReference): Promise<boolean> {
  const { name, provider, providerId } = asked
  if (provider !== null && provider !== job.provider) return false
  if (providerId !== null) return normalizeRepositoryId(job.provider, providerId) === job.repository.id
  const match = await matchTokenRepository(
    db,
    orgId,
    job,
    (address) => isSameAddress(address, name) || isSameAddress(splitAddress(address).name, name),
  )
  if (match !== 'unknown') return match === 'same'
  const linked = await findByName(db, orgId, name)
  return linked.every((repository) => repository.provider !== job.provider)
}
