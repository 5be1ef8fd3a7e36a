import type { Db } from '../platform/db/sql.ts'
import { ApiError, invalidField } from '../platform/http/errors.ts'
import { findById, findByName, findProvidersOfOwner, type LinkedRepository } from '../repositories/repository-lookup.store.ts'
import type { RepositoryIdentity } from './reported-repository.store.ts'

export type RepositoryReference = { name: string; provider: string | null; providerId: string | null }

export type ResolvedRepository = RepositoryIdentity & { tracked_branch: string | null }

/**
 * Which repository a report is about (specification, POST /v1/security/uploads). Exactly one provider has it: that one;
 * several: 400 `REPOSITORY_AMBIGUOUS`; none: it is kept under its name until it is seen.
 */
export async function resolveRepository(db: Db, orgId: string, reference: RepositoryReference): Promise<ResolvedRepository> {
  const { name, provider, providerId } = reference
  if (providerId !== null && provider === null) throw invalidField('/body/provider', 'is required with repositoryId')
  if (providerId !== null && provider !== null) return byId(db, orgId, name, provider, providerId)
  const named = await findByName(db, orgId, name)
  const candidates = provider === null ? named : named.filter((linked) => linked.provider === provider)
  const [only, another] = candidates
  if (another) throw ambiguous(name, candidates.map((linked) => linked.provider))
  if (only) return toResolved(only)
  return { name, provider: provider ?? (await providerOfOwner(db, orgId, name)), provider_id: null, tracked_branch: null }
}

async function byId(db: Db, orgId: string, name: string, provider: string, providerId: string): Promise<ResolvedRepository> {
  const linked = await findById(db, orgId, provider, providerId)
  return linked ? toResolved(linked) : { name, provider, provider_id: providerId, tracked_branch: null }
}

/** A connected account that is named like the repository's owner tells the provider, not yet the repository's id. */
async function providerOfOwner(db: Db, orgId: string, name: string): Promise<string | null> {
  const [only, ...others] = await findProvidersOfOwner(db, orgId, name.split('/')[0] ?? '')
  if (only && others.length > 0) throw ambiguous(name, [only, ...others])
  return only ?? null
}

function toResolved(linked: LinkedRepository): ResolvedRepository {
  return {
    name: linked.full_name,
    provider: linked.provider,
    provider_id: linked.id,
    tracked_branch: linked.tracked_branch,
  }
}

export function ambiguous(name: string, providers: string[]): ApiError {
  const message = `The repository ${name} exists more than once. Send provider and repositoryId.`
  return new ApiError(400, 'REPOSITORY_AMBIGUOUS', message, {
    reason: 'REPOSITORY_AMBIGUOUS',
    providers: [...new Set(providers)],
  })
}
