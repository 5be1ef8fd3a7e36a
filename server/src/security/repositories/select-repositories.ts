import type { Provider } from '../../codehosts/catalogue.ts'
import { repositoryAmbiguous } from '../../errors/security.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findByName } from '../../repositories/repository-lookup.store.ts'
import { findReportedRepositories } from './reported-repository.store.ts'
import { requireRepositoryId } from './resolve-repository.ts'

/** The repositories of a list: some of them, all of a provider, or all if both are null. */
export type RepositorySelection = { repositoryNos: number[] | null; provider: string | null }

/** The filters of a query. */
export type RepositoryQuery = { repository?: string; provider?: Provider; repository_id?: string }

const FIELDS = { provider: '/query/provider', id: '/query/repository_id' }

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
  const { repository: name = null, provider = null, repository_id: id } = query
  const providerId = id === undefined ? null : requireRepositoryId(provider, id, FIELDS)
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
