import type { Db } from '../platform/db/sql.ts'
import { findByName } from '../repositories/repository-lookup.store.ts'
import { findReportedRepositories, type RepositoryFilter } from './reported-repository.store.ts'
import { ambiguous } from './resolve-repository.ts'

/** What a list is narrowed to: some repositories, all of a provider, or, where both are null, nothing. */
export type RepositorySelection = { repositoryNos: number[] | null; provider: string | null }

/**
 * The repositories that a list is narrowed to. A name that exists with more than one provider, connected or in reports,
 * needs the provider: 400 `REPOSITORY_AMBIGUOUS`.
 */
export async function selectRepositories(
  db: Db,
  orgId: string,
  filter: RepositoryFilter,
): Promise<RepositorySelection> {
  const { name, provider, providerId } = filter
  if (name === null && providerId === null) return { repositoryNos: null, provider }
  const found = await findReportedRepositories(db, orgId, filter)
  if (name !== null && provider === null) {
    const providers = new Set(
      [...found, ...(await findByName(db, orgId, name))].flatMap((known) => known.provider ?? []),
    )
    if (providers.size > 1) throw ambiguous(name, [...providers])
  }
  return { repositoryNos: found.map(({ id }) => id), provider: null }
}
