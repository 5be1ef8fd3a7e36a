import type { Db } from '../../platform/db/sql.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import type { RepositoryFacts } from '../../repositories/repository-facts.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import type { HostClient } from '../code-host.ts'
import type { HostRepository } from '../host-repository.ts'
import { type ConnectionName, findConnectionOfRepository } from './connection.store.ts'

type ClientOptions = { impatient?: boolean }

/** Opens a client of a connection; null while it is suspended or removed. */
export async function openClient(
  { codeHosts }: Pick<Services, 'codeHosts'>,
  connection: ConnectionName,
  options: ClientOptions = {},
): Promise<HostClient | null> {
  const { id, provider, host, installation_id, status } = connection
  if (status !== 'active') return null
  const codeHost = await codeHosts.get(provider)
  return codeHost?.open({ id, installation_id, host, ...options }) ?? null
}

/** Opens a client for a repository; null if no active connection covers it. */
export async function openRepositoryClient(
  services: Pick<Services, 'sql' | 'codeHosts'>,
  orgId: string,
  repository: { provider: string; id: string },
): Promise<HostClient | null> {
  const connection = await findConnectionOfRepository(services.sql, orgId, repository.provider, repository.id)
  return connection === null ? null : openClient(services, connection)
}

/** A known repository with a client for it; null if no active connection covers it. */
export async function openRepository(
  services: Pick<Services, 'sql' | 'codeHosts'>,
  { org_id, provider, repository_id }: { org_id: string; provider: string; repository_id: string },
  options: ClientOptions = {},
): Promise<{ client: HostClient; repository: HostRepository; connection: ConnectionName } | null> {
  const [repository, connection] = await Promise.all([
    findHostRepository(services.sql, org_id, provider, repository_id),
    findConnectionOfRepository(services.sql, org_id, provider, repository_id),
  ])
  const client = connection && (await openClient(services, connection, options))
  return repository && connection && client && { client, repository, connection }
}

/** A known repository as requests to its host need it; null if it is not known. */
export async function findHostRepository(
  db: Db,
  orgId: string,
  provider: string,
  id: string,
): Promise<HostRepository | null> {
  const found = await findFollowed(db, { org_id: orgId, provider, id })
  return found && toHostRepository({ ...found, provider: provider as Provider, id })
}

type KnownRepository = Omit<RepositoryFacts, 'deleted_at'> & { provider: Provider; id: string }

export function toHostRepository(known: KnownRepository): HostRepository {
  const { provider, host, id, full_name, html_url } = known
  return {
    provider,
    host,
    id,
    full_name,
    html_url,
    owner_id: known.owner_id ?? '',
    default_branch: known.tracked_branch,
    private: known.private ?? true,
    archived: known.archived ?? false,
    updated_at: known.host_updated_at,
  }
}
