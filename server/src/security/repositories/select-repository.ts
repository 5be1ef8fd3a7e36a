import { normalizeName, type Provider } from '../../codehosts/catalogue.ts'
import { repositoryAmbiguous } from '../../errors/security.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import {
  findById,
  findByName,
  findProvidersOfOwner,
  type LinkedRepository,
} from '../../repositories/repository.store.ts'
import { describeRepositoryId, normalizeRepositoryId } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { findReportedRepositories, type RepositoryIdentity, updateReportedName } from './reported-repository.store.ts'

/** A repository as a request names it. */
export type RepositoryReference = { name: string; provider: Provider | null; providerId: string | null }

export type ResolvedRepository = RepositoryIdentity & {
  tracked_branch: string | null
  /** Providers, null for none, under which earlier reports may have stored it by name only. */
  kept_under: (string | null)[]
}

const BODY_FIELDS = { provider: '/body/provider', id: '/body/repositoryId' }

/**
 * Finds the repository of a report (specification, "POST /v1/security/uploads"). If several
 * providers have it, throws 400 `REPOSITORY_AMBIGUOUS`. If none has it, it is stored by name until
 * it is linked.
 */
export async function selectRepository(
  db: Db,
  orgId: string,
  reference: RepositoryReference,
): Promise<ResolvedRepository> {
  const { name, provider, providerId } = reference
  if (providerId !== null) return byId(db, orgId, reference, requireRepositoryId(provider, providerId, BODY_FIELDS))
  const named = await findByName(db, orgId, name)
  const candidates = provider === null ? named : named.filter((linked) => linked.provider === provider)
  const [only, another] = candidates
  if (another)
    throw repositoryAmbiguous(
      name,
      candidates.map((linked) => linked.provider),
    )
  if (only) return toResolved(only, named)
  const guess = provider ?? (await providerOfOwner(db, orgId, name))
  return unlinked(name, guess, null, provider === null && guess !== null ? [null] : [])
}

async function byId(
  db: Db,
  orgId: string,
  { name, provider }: RepositoryReference,
  id: string,
): Promise<ResolvedRepository> {
  const linked = await findById(db, orgId, provider as Provider, id)
  if (!linked) return unlinked(name, provider, id, [])
  return toResolved(linked, await findByName(db, orgId, linked.full_name))
}

/**
 * The provider with linked repositories of the same owner. It does not give the id of the
 * repository.
 */
async function providerOfOwner(db: Db, orgId: string, name: string): Promise<string | null> {
  const [only, ...others] = await findProvidersOfOwner(db, orgId, name.split('/')[0] ?? '')
  if (only && others.length > 0) throw repositoryAmbiguous(name, [only, ...others])
  return only ?? null
}

function unlinked(name: string, provider: string | null, id: string | null, keptUnder: null[]): ResolvedRepository {
  return { name, provider, provider_id: id, tracked_branch: null, kept_under: keptUnder }
}

/**
 * `named` are all repositories that have its name. A name that several have was not resolved
 * before, and neither was one that another repository has taken.
 */
function toResolved(linked: LinkedRepository, named: LinkedRepository[]): ResolvedRepository {
  const ofProvider = named.filter(({ provider }) => provider === linked.provider)
  const isOnlyOfProvider = ofProvider.length === 1 && ofProvider[0]?.id === linked.id
  return {
    name: linked.full_name,
    provider: linked.provider,
    provider_id: linked.id,
    tracked_branch: linked.tracked_branch,
    kept_under: [
      ...(isOnlyOfProvider && named.length === 1 ? [null] : []),
      ...(isOnlyOfProvider ? [linked.provider] : []),
    ],
  }
}

/** Shows what was reported for a renamed repository under its present name. */
export async function renameReportedRepository(
  { sql }: Pick<Services, 'sql'>,
  { org_id, provider, repository_id }: { org_id: string; provider: string; repository_id: string },
): Promise<void> {
  const repository = await findById(sql, org_id, provider, repository_id)
  if (repository) await updateReportedName(sql, org_id, repository)
}

/**
 * Returns a provider's id of a repository in the form that is stored, so that all spellings name
 * the same repository. Throws 400 that names the field of the request.
 */
function requireRepositoryId(provider: Provider | null, id: string, fields: { provider: string; id: string }): string {
  if (provider === null) throw createInvalidFieldError(fields.provider, 'is required with a repository id')
  const stored = normalizeRepositoryId(provider, id)
  if (stored === null)
    throw createInvalidFieldError(fields.id, `must be ${describeRepositoryId(provider)} if provider is ${provider}`)
  return stored
}

/** The repositories of a list: some of them, all of a provider, or all if both are null. */
export type RepositorySelection = { repositoryNos: number[] | null; provider: string | null }

/** The filters of a query. */
export type RepositoryQuery = { repository?: string; provider?: Provider; repository_id?: string }

const QUERY_FIELDS = { provider: '/query/provider', id: '/query/repository_id' }

/**
 * Lists read so many repositories one by one. A page of a provider with more repositories is soon
 * full.
 */
const REPOSITORIES_READ_MAX = 100

/**
 * The repositories that a query selects. Throws 400 `REPOSITORY_AMBIGUOUS` for a name without a
 * provider that exists on several providers, and 400 `invalid_request` for an id without a
 * provider.
 */
export async function selectRepositories(db: Db, orgId: string, query: RepositoryQuery): Promise<RepositorySelection> {
  const { repository, provider = null, repository_id: id } = query
  const name = repository === undefined ? null : normalizeName(provider, repository)
  const providerId = id === undefined ? null : requireRepositoryId(provider, id, QUERY_FIELDS)
  const isOfAll = name === null && providerId === null
  if (isOfAll && provider === null) return { repositoryNos: null, provider }
  const found = await findReportedRepositories(db, orgId, { name, provider, providerId })
  if (isOfAll && found.length > REPOSITORIES_READ_MAX) return { repositoryNos: null, provider }
  if (name !== null && provider === null) {
    const providers = new Set(
      [...found, ...(await findByName(db, orgId, name))].flatMap((known) => known.provider ?? []),
    )
    if (providers.size > 1) throw repositoryAmbiguous(name, [...providers])
  }
  return { repositoryNos: found.map(({ id }) => id), provider: null }
}
