import type { Db } from '../platform/db/sql.ts'
import type { Provider } from './repository-identity.ts'

/** A repository of a connection, as its host last described it. */
export type ConnectedRepository = {
  provider: Provider
  host: string
  id: string
  full_name: string
  owner: { id: string; login: string }
  default_branch: string
  html_url: string | null
  private: boolean
  archived: boolean
  updated_at: Date | null
  connection_id: string
}

/** Finds a repository that belongs to a connection; null for others. */
export async function findConnectedRepository(
  db: Db,
  orgId: string,
  provider: string,
  id: string,
): Promise<ConnectedRepository | null> {
  const [row] = await db<ConnectedRepository[]>`
    select provider, host, id, full_name,
      json_build_object('id', owner_id, 'login', regexp_replace(full_name, '/[^/]*$', '')) as owner,
      tracked_branch as default_branch, html_url, coalesce(private, true) as private,
      coalesce(archived, false) as archived, host_updated_at as updated_at, connection_id
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${id}
      and connection_id is not null`
  return row ?? null
}
