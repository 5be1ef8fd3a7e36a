import type { Provider } from '../codehosts/catalogue.ts'
import type { Db, Tx } from '../platform/db/sql.ts'

/** A repository of a connection. */
export type ConnectedRepository = {
  provider: Provider
  host: string
  id: string
  full_name: string
  owner_id: string | null
  tracked_branch: string
  html_url: string | null
  private: boolean | null
  archived: boolean | null
  host_updated_at: Date | null
  created_at: Date
}

type OfConnection = { org_id: string; connection_id: string }

const REPOSITORIES_AT_ONCE = 100

/** The next repositories of a connection after `afterId`, by id. */
export async function listConnected(
  db: Db,
  { org_id, connection_id }: OfConnection,
  afterId: string,
): Promise<ConnectedRepository[]> {
  return db<ConnectedRepository[]>`
    select provider, host, id, full_name, owner_id, tracked_branch, html_url, private, archived, host_updated_at,
      created_at
    from repositories
    where org_id = ${org_id}
      and connection_id = ${connection_id}
      and deleted_at is null
      and id > ${afterId}
    order by id
    limit ${REPOSITORIES_AT_ONCE}`
}

export async function countConnected(db: Db, { org_id, connection_id }: OfConnection): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from repositories
    where org_id = ${org_id}
      and connection_id = ${connection_id}
      and deleted_at is null`
  return row.count
}

type Elsewhere = Pick<ConnectedRepository, 'provider' | 'host' | 'id' | 'full_name' | 'owner_id'>

/** The connected repositories of a provider in all other organizations, in batches. */
export async function* listConnectedElsewhere(tx: Tx, orgId: string, provider: Provider): AsyncGenerator<Elsewhere[]> {
  yield* tx<Elsewhere[]>`
    select provider, host, id, full_name, owner_id
    from repositories
    where org_id <> ${orgId}
      and provider = ${provider}
      and connection_id is not null
      and deleted_at is null`.cursor(REPOSITORIES_AT_ONCE)
}
