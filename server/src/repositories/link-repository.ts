import { normalizeName, type Provider } from '../codehosts/catalogue.ts'
import { repositoryConnected } from '../errors/commands.ts'
import { nameTaken } from '../errors/organizations.ts'
import { getSqlState, type Tx, UNIQUE_VIOLATION } from '../platform/db/sql.ts'
import type { ApiError } from '../platform/http/api-error.ts'
import { invalidRequest } from '../platform/http/errors.ts'
import { publish } from '../platform/queue/event.ts'
import type { Services } from '../services.ts'
import { repositoryRenamed } from './repository.events.ts'
import {
  findConnectedByName,
  type ListedRepository,
  lockRepository,
  type Repository,
  type RepositoryLink,
  upsertRepository,
} from './repository.store.ts'
import {
  describeRepositoryId,
  getDefaultHost,
  isHost,
  isRepositoryName,
  normalizeRepositoryId,
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
 * 400 for an invalid field, 409 `name_taken` if another repository of the provider has the name,
 * and 409 `repository_connected` if the repository is connected and its code host says otherwise.
 */
export async function linkRepository(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  request: RepositoryRequest,
): Promise<Repository> {
  const link = requireLink(request)
  try {
    return await sql.begin((tx) => storeLink(tx, orgId, link, clock.now()))
  } catch (error) {
    throw getSqlState(error) === UNIQUE_VIOLATION ? linkedOtherwise(link).causedBy(error) : error
  }
}

async function storeLink(tx: Tx, orgId: string, link: RepositoryLink, now: Date): Promise<Repository> {
  const known = await lockRepository(tx, orgId, link.provider, link.id)
  if (known?.connected) return requireAgreement(known, link)
  const host = link.host ?? known?.host ?? getDefaultHost(link.provider)
  if (await findConnectedByName(tx, orgId, { ...link, host })) throw linkedOtherwise(link)
  const defaults = { host, tracked_branch: DEFAULT_BRANCH, created_at: now }
  const linked = await upsertRepository(tx, orgId, link, defaults)
  if (known && known.full_name !== linked.full_name)
    await publish(tx, repositoryRenamed, { org_id: orgId, provider: link.provider, repository_id: link.id })
  return linked
}

/** A connected repository follows its code host. A link that says the same changes nothing. */
function requireAgreement(known: ListedRepository, link: RepositoryLink): Repository {
  const agrees =
    known.full_name.toLowerCase() === link.full_name.toLowerCase() &&
    (link.host === null || link.host === known.host) &&
    (link.tracked_branch === null || link.tracked_branch === known.tracked_branch)
  if (agrees) return known
  throw repositoryConnected(known)
}

function linkedOtherwise({ full_name, provider }: RepositoryLink): ApiError {
  const message = `${full_name} is already linked with another ${provider} id. Run "repo list" to see it.`
  return nameTaken(message)
}

function requireLink({ provider, id, host, trackedBranch, ...request }: RepositoryRequest): RepositoryLink {
  const name = normalizeName(provider, request.name)
  const storedId = normalizeRepositoryId(provider, id)
  const storedHost = host?.toLowerCase() ?? null
  if (storedId === null)
    throw invalidRequest(
      `The id of a ${provider} repository must be ${describeRepositoryId(provider)}, not "${id.slice(0, 80)}"`,
    )
  if (!isRepositoryName(provider, name))
    throw invalidRequest(`The name of a ${provider} repository must have the form owner/name`)
  if (storedHost !== null && !isHost(storedHost))
    throw invalidRequest('The host must be a name such as git.example.com, without a scheme')
  if (trackedBranch !== undefined && !isBranch(trackedBranch))
    throw invalidRequest('The tracked branch must be the name of a branch')
  return { provider, id: storedId, full_name: name, host: storedHost, tracked_branch: trackedBranch ?? null }
}

function isBranch(name: string): boolean {
  return name.length >= 1 && name.length <= BRANCH_CHARS_MAX && !/[\p{Cc} ~^:?*[\\]/u.test(name)
}
