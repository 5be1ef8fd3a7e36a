import type { Db } from '../../platform/db/sql.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import type { HostRepository } from '../host-repository.ts'

/** A connection, as far as requests to its host need it. */
export type ConnectionName = {
  org_id: string
  id: string
  provider: Provider
  host: string
  installation_id: string
  status: 'active' | 'suspended' | 'removed'
}

/** The connection through which a repository can be read and changed; null for others. */
export async function findConnectionOfRepository(
  db: Db,
  orgId: string,
  provider: string,
  repositoryId: string,
): Promise<ConnectionName | null> {
  const [row] = await db<ConnectionName[]>`
    select connection.org_id, connection.id, connection.provider, connection.host, connection.installation_id,
      connection.status
    from repositories repository
    join codehost_connections connection
      on connection.org_id = repository.org_id and connection.id = repository.connection_id
    where repository.org_id = ${orgId}
      and repository.provider = ${provider}
      and repository.id = ${repositoryId}`
  return row ?? null
}

export async function findConnection(db: Db, id: string): Promise<ConnectionName | null> {
  const [row] = await db<ConnectionName[]>`
    select org_id, id, provider, host, installation_id, status
    from codehost_connections
    where id = ${id}`
  return row ?? null
}

/** A connected repository as its host last described it; null for others. */
export async function findHostRepository(
  db: Db,
  orgId: string,
  provider: string,
  repositoryId: string,
): Promise<HostRepository | null> {
  const [row] = await db<HostRepository[]>`
    select provider, host, id, full_name,
      json_build_object('id', owner_id, 'login', regexp_replace(full_name, '/[^/]*$', '')) as owner,
      tracked_branch as default_branch, html_url, coalesce(private, true) as private,
      coalesce(archived, false) as archived, host_updated_at as updated_at
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${repositoryId}
      and connection_id is not null`
  return row ?? null
}
