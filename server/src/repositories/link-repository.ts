import { sqlState, UNIQUE_VIOLATION } from '../platform/db/sql.ts'
import { ApiError } from '../platform/http/errors.ts'
import type { Services } from '../services.ts'
import { type Repository, type RepositoryLink, upsertRepository } from './repository.store.ts'
import {
  defaultHost,
  isHost,
  isRepositoryName,
  normalizeRepositoryId,
  type Provider,
  repositoryIdForm,
} from './repository-identity.ts'

/** A repository to link. Without a host or tracked branch, the present or default value is used. */
export type RepositoryRequest = {
  provider: Provider
  id: string
  name: string
  host?: string | undefined
  trackedBranch?: string | undefined
}

const DEFAULT_BRANCH = 'main'
const BRANCH_CHARS_MAX = 255

/**
 * Links a provider's repository to an organization. Linking the same id again renames it. Throws
 * 400 for an invalid field, and 409 `name_taken` if another repository of the provider has the
 * name.
 */
export async function linkRepository(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  request: RepositoryRequest,
): Promise<Repository> {
  const link = requireLink(request)
  const defaults = { host: defaultHost(link.provider), tracked_branch: DEFAULT_BRANCH, created_at: clock.now() }
  try {
    return await upsertRepository(sql, orgId, link, defaults)
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    const message = `${link.full_name} is already linked with another ${link.provider} id. Run "repo list" to see it.`
    throw new ApiError(409, 'name_taken', message, {}, undefined, { cause: error })
  }
}

function requireLink({ provider, id, name, host, trackedBranch }: RepositoryRequest): RepositoryLink {
  const storedId = normalizeRepositoryId(provider, id)
  const storedHost = host?.toLowerCase() ?? null
  if (storedId === null)
    throw invalid(`The id of a ${provider} repository must be ${repositoryIdForm(provider)}, not "${id.slice(0, 80)}"`)
  if (!isRepositoryName(provider, name))
    throw invalid(`The name of a ${provider} repository must have the form owner/name`)
  if (storedHost !== null && !isHost(storedHost))
    throw invalid('The host must be a name such as git.example.com, without a scheme')
  if (trackedBranch !== undefined && !isBranch(trackedBranch))
    throw invalid('The tracked branch must be the name of a branch')
  return { provider, id: storedId, full_name: name, host: storedHost, tracked_branch: trackedBranch ?? null }
}

function isBranch(name: string): boolean {
  return name.length >= 1 && name.length <= BRANCH_CHARS_MAX && !/[\p{Cc} ~^:?*[\\]/u.test(name)
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message)
}
