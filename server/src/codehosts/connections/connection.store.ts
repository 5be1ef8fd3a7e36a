import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildConnectionId, findFollowed } from '../../repositories/followed-repository.store.ts'
import type { Provider } from '../catalogue.ts'
import type { HostInstallation } from '../code-host.ts'

/** A connection, as far as requests to its host need it. */
export type ConnectionName = {
  org_id: string
  id: string
  provider: Provider
  host: string
  installation_id: string
  status: 'active' | 'suspended' | 'removed'
}

/** A connection with its account. */
export type LiveConnection = ConnectionName & { account_id: string; account_login: string }

/** The connection through which a repository can be read and changed; null for others. */
export async function findConnectionOfRepository(
  db: Db,
  orgId: string,
  provider: string,
  repositoryId: string,
): Promise<ConnectionName | null> {
  const repository = await findFollowed(db, { org_id: orgId, provider, id: repositoryId })
  return repository?.connection_id ? findConnection(db, repository.connection_id) : null
}

/** A repository that a token names. Without a host, the repository of any host is meant. */
export type NamedRepository = { org_id: string; provider: string; repository_id: string; host: string | null }

/**
 * The positions of those of the repositories that an active connection covers. `orgId` is the
 * organization of all of them, or null for several.
 */
export async function listCovered(
  db: Db,
  repositories: readonly (NamedRepository & { position: number })[],
  orgId: string | null,
): Promise<number[]> {
  const rows = await db<{ position: number }[]>`
    with named as materialized (
      select given.position, given.org_id, given.host, ${buildConnectionId(db, 'given', orgId)} as connection_id
      from json_to_recordset(${db.json(repositories as never)}::json) as given (
        org_id uuid, provider text, repository_id text, host text, position integer
      )
    )
    select named.position
    from named
    join codehost_connections connection
      on connection.org_id = named.org_id
      and connection.id = named.connection_id
      and connection.host = coalesce(named.host, connection.host)
    where connection.status = 'active'`
  return rows.map(({ position }) => position)
}

export async function findConnection(db: Db, id: string): Promise<LiveConnection | null> {
  const [row] = await db<LiveConnection[]>`
    select org_id, id, provider, host, installation_id, status, account_id, account_login
    from codehost_connections
    where id = ${id}`
  return row ?? null
}

/**
 * The connection that events of an installation belong to; null while nobody has connected it, and
 * without an installation.
 */
export async function findConnectionOfInstallation(
  db: Db,
  provider: string,
  host: string,
  installationId: string | null,
): Promise<LiveConnection | null> {
  const [row] = await db<LiveConnection[]>`
    select org_id, id, provider, host, installation_id, status, account_id, account_login
    from codehost_connections
    where provider = ${provider}
      and host = ${host}
      and installation_id = ${installationId}
      and status <> 'removed'`
  return row ?? null
}

/**
 * The connections of an organization to one host that are not removed. They stay so until the
 * transaction ends.
 */
export async function lockLiveConnections(
  tx: Tx,
  { org_id, provider, host }: { org_id: string; provider: string; host: string },
): Promise<LiveConnection[]> {
  return tx<LiveConnection[]>`
    select org_id, id, provider, host, installation_id, status, account_id, account_login
    from codehost_connections
    where org_id = ${org_id}
      and provider = ${provider}
      and host = ${host}
      and status <> 'removed'
    order by id
    for share`
}

/** Locks a connection until the transaction ends. */
export async function lockConnection(tx: Tx, id: string): Promise<LiveConnection | null> {
  const [row] = await tx<LiveConnection[]>`
    select org_id, id, provider, host, installation_id, status, account_id, account_login
    from codehost_connections
    where id = ${id}
    for update`
  return row ?? null
}

/** The connections that an installation or its account have. Locks them. */
export async function lockConnectionsOfAccount(
  tx: Tx,
  { provider, host }: { provider: string; host: string },
  { id, account }: Pick<HostInstallation, 'id' | 'account'>,
): Promise<LiveConnection[]> {
  return tx<LiveConnection[]>`
    select org_id, id, provider, host, installation_id, status, account_id, account_login
    from codehost_connections
    where provider = ${provider}
      and host = ${host}
      and (installation_id = ${id} or account_id = ${account.id})
      and status <> 'removed'
    order by id
    for update`
}

type NewConnection = Omit<ConnectionName, 'installation_id'> & { installation: HostInstallation; connected_at: Date }

/** False if the account was connected at the same time. */
export async function insertConnection(tx: Tx, connection: NewConnection): Promise<boolean> {
  const { installation } = connection
  const inserted = await tx`
    insert into codehost_connections (
      org_id, id, provider, host, installation_id, account_id, account_login, account_type, status, repositories,
      connected_at
    )
    values (
      ${connection.org_id}, ${connection.id}, ${connection.provider}, ${connection.host}, ${installation.id},
      ${installation.account.id}, ${installation.account.login}, ${installation.account.type}, ${connection.status},
      ${installation.repositories}, ${connection.connected_at}
    )
    on conflict do nothing
    returning id`
  return inserted.length > 0
}

type ConnectionFacts = { status: ConnectionName['status'] } & Pick<HostInstallation, 'account' | 'repositories'>

export async function updateConnection(tx: Tx, id: string, facts: ConnectionFacts): Promise<void> {
  await tx`
    update codehost_connections
    set status = ${facts.status},
      account_login = ${facts.account.login},
      account_type = ${facts.account.type},
      repositories = ${facts.repositories}
    where id = ${id}`
}

/** A removed connection is not synchronized any more. */
export async function updateConnectionRemoved(tx: Tx, id: string): Promise<void> {
  await tx`
    update codehost_connections
    set status = 'removed',
      sync_state = 'idle',
      sync_phase = null
    where id = ${id}`
}

/**
 * Notes that an event of a connection has arrived, at most once a minute. Skips the connection if
 * another transaction holds it, so that deliveries do not wait for each other.
 */
export async function updateConnectionEvent(
  tx: Tx,
  connection: { org_id: string; id: string },
  at: Date,
): Promise<void> {
  await tx`
    update codehost_connections
    set last_event_at = ${at}
    where id = (
      select id
      from codehost_connections
      where org_id = ${connection.org_id}
        and id = ${connection.id}
        and (last_event_at is null or last_event_at < ${at}::timestamptz - interval '1 minute')
      for no key update skip locked
    )`
}

/** When an event of a connection arrived last; null: never. */
export async function findLastEvent(db: Db, id: string): Promise<Date | null> {
  const [row] = await db<{ last_event_at: Date | null }[]>`
    select last_event_at
    from codehost_connections
    where id = ${id}`
  return row?.last_event_at ?? null
}

/** The sealed secrets of a connection; null if it has none. */
export async function findSealedSecrets(db: Db, connectionId: string): Promise<string | null> {
  const [row] = await db<{ credentials: string | null }[]>`
    select credentials
    from codehost_connections
    where id = ${connectionId}`
  return row?.credentials ?? null
}

export async function updateSealedSecrets(tx: Tx, connectionId: string, sealed: string | null): Promise<void> {
  await tx`
    update codehost_connections
    set credentials = ${sealed}
    where id = ${connectionId}`
}
