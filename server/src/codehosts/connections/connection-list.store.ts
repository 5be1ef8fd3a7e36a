import type { Db } from '../../platform/db/sql.ts'
import type { Provider } from '../catalogue.ts'
import { buildRefusals, type ListedRefusal } from './refusal.store.ts'

/**
 * A connection, or an installation that nobody has connected. The `id` of the latter is the host's
 * id of the installation, which `provider connect` takes.
 */
export type ListedConnection = {
  id: string
  provider: Provider
  host: string
  /** Null while the host has not described a waiting installation. */
  account: { id: string; login: string; type: string } | null
  status: 'active' | 'suspended' | 'removed' | 'waiting'
  repositories: 'all' | 'selected' | null
  connected_at: Date | null
  last_event_at: Date | null
  last_synced_at: Date | null
  sync: {
    state: 'idle' | 'running' | 'failed'
    phase: string | null
    done: number | null
    total: number | null
    error: string | null
  }
  /** The lists that the host does not let us read, at most 100 of `refusals_total`. */
  refusals: ListedRefusal[]
  refusals_total: number
}

const CONNECTIONS_LISTED_MAX = 1000

/** The connections of an organization, or all of them. Newest first. */
export async function listConnections(
  db: Db,
  orgId: string | null,
): Promise<{ org_id: string; connection: ListedConnection }[]> {
  const rows = await db<(ListedConnection & { org_id: string })[]>`
    select ${listedColumns(db)}, connection.org_id
    from codehost_connections connection
    where ${orgId === null ? db`true` : db`connection.org_id = ${orgId}`}
    order by connection.connected_at desc, connection.id
    limit ${CONNECTIONS_LISTED_MAX}`
  return rows.map(({ org_id, ...connection }) => ({ org_id, connection }))
}

/** Null if the organization has no connection with this id. */
export async function findListed(db: Db, orgId: string, id: string): Promise<ListedConnection | null> {
  const [row] = await db<ListedConnection[]>`
    select ${listedColumns(db)}
    from codehost_connections connection
    where connection.org_id = ${orgId}
      and connection.id = ${id}`
  return row ?? null
}

function listedColumns(db: Db) {
  return db`
    connection.id, connection.provider, connection.host,
      json_build_object(
        'id', connection.account_id, 'login', connection.account_login, 'type', connection.account_type
      ) as account,
      connection.status, connection.repositories, connection.connected_at, connection.last_event_at,
      connection.last_synced_at,
      json_build_object(
        'state', connection.sync_state, 'phase', connection.sync_phase, 'done', connection.sync_done,
        'total', connection.sync_total, 'error', connection.sync_error
      ) as sync,
      ${buildRefusals(db, 'connection')}`
}

/** True if another organization has a connection to this provider that is not removed. */
export async function hasOtherConnections(db: Db, orgId: string, provider: Provider): Promise<boolean> {
  const [row] = await db<[{ exists: boolean }]>`
    select exists (
      select
      from codehost_connections
      where provider = ${provider}
        and org_id <> ${orgId}
        and status <> 'removed'
    ) as exists`
  return row.exists
}

/** Whether an organization had the account of an installation, and no other one had it later. */
export async function hasOwnAccount(
  db: Db,
  orgId: string,
  { provider, installation_id }: { provider: Provider; installation_id: string },
): Promise<boolean> {
  const [row] = await db<[{ own: boolean }]>`
    select exists (
      select from codehost_installations installation
      where installation.provider = ${provider}
        and installation.id = ${installation_id}
        and ${buildIsOfAccount(db, orgId)}
    ) as own`
  return row.own
}

/** The organization that had an account last may connect its next installation. */
function buildIsOfAccount(db: Db, orgId: string) {
  return db`(
    select latest.org_id
    from codehost_connections latest
    where latest.provider = installation.provider
      and latest.host = installation.host
      and latest.account_id = installation.account_id
    order by latest.connected_at desc, latest.id desc
    limit 1
  ) = ${orgId}`
}

/**
 * Installations that exist and that no organization has connected, oldest first: all, or those
 * whose account the organization had last.
 */
export async function listWaiting(db: Db, orgId: string | null): Promise<ListedConnection[]> {
  return db<ListedConnection[]>`
    select installation.id, installation.provider, installation.host,
      case when installation.account_id is not null then
        json_build_object(
          'id', installation.account_id, 'login', installation.account_login, 'type', installation.account_type
        )
      end as account,
      'waiting' as status, installation.repositories, null as connected_at, installation.last_event_at,
      null as last_synced_at,
      json_build_object('state', 'idle', 'phase', null, 'done', null, 'total', null, 'error', null) as sync,
      '[]'::json as refusals, 0 as refusals_total
    from codehost_installations installation
    where installation.removed_at is null
      ${orgId === null ? db`` : db`and ${buildIsOfAccount(db, orgId)}`}
      and not exists (
        select from codehost_connections connection
        where connection.provider = installation.provider
          and connection.host = installation.host
          and connection.installation_id = installation.id
          and connection.status <> 'removed'
      )
    order by installation.first_seen_at, installation.id
    limit ${CONNECTIONS_LISTED_MAX}`
}

type ConnectionCount = { status: string; sync: string; count: number }

/** The connections that were not removed, by status and by the state of their synchronization. */
export async function countConnections(db: Db): Promise<ConnectionCount[]> {
  return db<ConnectionCount[]>`
    select status, sync_state as sync, count(*)::int as count
    from codehost_connections
    where status <> 'removed'
    group by status, sync_state
    order by status, sync_state
    limit 100`
}
