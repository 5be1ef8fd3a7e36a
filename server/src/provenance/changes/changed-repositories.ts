import type { Provider } from '../../codehosts/catalogue.ts'
import { repositoryAmbiguous } from '../../errors/security.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { findByName } from '../../repositories/repository-lookup.store.ts'
import type { Services } from '../../services.ts'
import type { ChangeSelection } from './change-list.store.ts'

type RepositoryQuery = { repository?: string | undefined; provider?: Provider | undefined }

/**
 * The repositories that have a name now, or null if none is named. Throws 400
 * `REPOSITORY_AMBIGUOUS` for a name that exists on several code hosts, and 400 `invalid_request`
 * for a provider without a name.
 */
export async function findChangedRepositories(
  { sql }: Pick<Services, 'sql'>,
  orgId: string,
  { repository: name, provider }: RepositoryQuery,
): Promise<ChangeSelection['repositories']> {
  if (name === undefined && provider !== undefined)
    throw createInvalidFieldError('/query/provider', 'requires repository')
  if (name === undefined) return null
  const found = await findByName(sql, orgId, name)
  const providers = new Set(found.map((repository) => repository.provider))
  if (provider === undefined && providers.size > 1) throw repositoryAmbiguous(name, [...providers])
  return found.filter((repository) => provider === undefined || repository.provider === provider)
}
