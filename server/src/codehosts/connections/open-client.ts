import type { Db } from '../../platform/db/sql.ts'
import { findConnectedRepository } from '../../repositories/connected-repository.store.ts'
import type { Services } from '../../services.ts'
import type { HostClient } from '../code-host.ts'
import type { HostRepository } from '../host-repository.ts'
import { type ConnectionName, findConnection } from './connection.store.ts'

/** Names a repository of an organization. */
export type RepositoryKey = { org_id: string; provider: string; repository_id: string }

/** A connected repository with its connection; null for others. */
export async function findHostRepository(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
): Promise<{ repository: HostRepository; connection: ConnectionName } | null> {
  const repository = await findConnectedRepository(db, org_id, provider, repository_id)
  const connection = repository && (await findConnection(db, repository.connection_id))
  return repository && connection ? { repository, connection } : null
}

/** Opens a client of a connection; null while it is suspended or removed. */
export function openClient({ codeHosts }: Pick<Services, 'codeHosts'>, connection: ConnectionName): HostClient | null {
  const { provider, host, installation_id, status } = connection
  return status === 'active' ? (codeHosts.get(provider)?.open({ installation_id, host }) ?? null) : null
}

/** Opens a client for a repository; null if no active connection covers it. */
export async function openRepositoryClient(
  services: Pick<Services, 'sql' | 'codeHosts'>,
  key: RepositoryKey,
): Promise<{ repository: HostRepository; client: HostClient } | null> {
  const found = await findHostRepository(services.sql, key)
  const client = found && openClient(services, found.connection)
  return found && client ? { repository: found.repository, client } : null
}
