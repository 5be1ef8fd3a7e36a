import type { RepositoryRequest } from '../../src/repositories/link-repository.ts'
import { linkRepository } from '../../src/repositories/link-repository.ts'
import type { Caller, TestApi } from './api.ts'

/**
 * Links a provider's repository to the caller's organization, as the administration command does.
 */
export function link(api: TestApi, { orgId }: Caller, repository: RepositoryRequest) {
  return linkRepository(api.services, orgId, repository)
}
