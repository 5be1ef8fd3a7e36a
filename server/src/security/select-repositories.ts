import type { Db } from '../platform/db/sql.ts'
import { findReportedRepositories, type RepositoryFilter } from './reported-repository.store.ts'
import { ambiguous } from './resolve-repository.ts'

/**
 * The repositories that a list is narrowed to; null where it is not. A name that exists with more than one provider
 * needs the provider: 400 `REPOSITORY_AMBIGUOUS`.
 */
export async function selectRepositories(db: Db, orgId: string, filter: RepositoryFilter): Promise<number[] | null> {
  if (filter.name === null && filter.provider === null && filter.providerId === null) return null
  const found = await findReportedRepositories(db, orgId, filter)
  const providers = new Set(found.flatMap(({ provider }) => provider ?? []))
  if (filter.name !== null && filter.provider === null && providers.size > 1) throw ambiguous(filter.name, [...providers])
  return found.map(({ id }) => id)
}
