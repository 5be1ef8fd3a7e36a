import type { Provider } from '../codehosts/catalogue.ts'
import { buildSpreadCondition } from '../platform/db/spread.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { RepositoryFacts } from './repository-facts.ts'

/** Names a repository of an organization. */
export type RepositoryKey = { org_id: string; provider: string; id: string }

type FollowedRepository = RepositoryFacts & { connection_id: string | null }

export async function findFollowed(db: Db, key: RepositoryKey): Promise<FollowedRepository | null> {
  const [row] = await db<FollowedRepository[]>`
    select ${followedColumns(db)}
    from repositories
    where ${hasKey(db, key)}`
  return row ?? null
}

/**
 * SQL: the id of the connection of a repository. `alias` has `org_id`, `provider` and
 * `repository_id`. `orgId` is the organization of all its rows, or null for several.
 */
export function buildConnectionId(db: Db, alias: string, orgId: string | null) {
  const of = db(alias)
  return db`(
    select repository.connection_id
    from repositories repository
    where repository.org_id = ${of}.org_id ${buildSpreadCondition(db, 'repository', orgId)}
      and repository.provider = ${of}.provider
      and repository.id = ${of}.repository_id
  )`
}

/** Locks a repository until the transaction ends. It has been inserted before. */
export async function lockFollowed(tx: Tx, key: RepositoryKey): Promise<FollowedRepository> {
  const [row] = await tx<[FollowedRepository]>`
    select ${followedColumns(tx)}
    from repositories
    where ${hasKey(tx, key)}
    for update`
  return row
}

/** Inserts a repository without a connection, unless the organization has it. */
export async function insertFollowed(tx: Tx, key: RepositoryKey, facts: RepositoryFacts, now: Date): Promise<void> {
  await tx`
    insert into repositories (
      org_id, provider, id, host, full_name, tracked_branch, owner_id, html_url, private, archived, deleted_at,
      host_updated_at, created_at
    )
    values (
      ${key.org_id}, ${key.provider}, ${key.id}, ${facts.host}, ${facts.full_name}, ${facts.tracked_branch},
      ${facts.owner_id}, ${facts.html_url}, ${facts.private}, ${facts.archived}, ${facts.deleted_at},
      ${facts.host_updated_at}, ${now}
    )
    on conflict (org_id, provider, id) do nothing`
}

export async function updateFollowed(tx: Tx, key: RepositoryKey, repository: FollowedRepository): Promise<void> {
  await tx`
    update repositories
    set host = ${repository.host},
      full_name = ${repository.full_name},
      tracked_branch = ${repository.tracked_branch},
      owner_id = ${repository.owner_id},
      html_url = ${repository.html_url},
      private = ${repository.private},
      archived = ${repository.archived},
      deleted_at = ${repository.deleted_at},
      host_updated_at = ${repository.host_updated_at},
      connection_id = ${repository.connection_id}
    where ${hasKey(tx, key)}`
}

/** Takes the given repositories, or all, out of a connection. They keep their names. */
export async function updateToDisconnected(
  tx: Tx,
  orgId: string,
  connectionId: string,
  repositoryIds: readonly string[] | null,
): Promise<void> {
  await tx`
    update repositories
    set connection_id = null
    where org_id = ${orgId}
      and connection_id = ${connectionId}
      ${repositoryIds === null ? tx`` : tx`and id = any(${[...repositoryIds]})`}`
}

/** A connection, and the account whose repositories belong to it. */
type OwningConnection = { org_id: string; id: string; provider: string; account_id: string; account_login: string }

/** Puts known repositories of the connection's account back into the connection. */
export async function updateToConnected(
  tx: Tx,
  connection: OwningConnection,
  repositoryIds: readonly string[],
): Promise<void> {
  await tx`
    update repositories
    set connection_id = ${connection.id}
    where org_id = ${connection.org_id}
      and provider = ${connection.provider}
      and id = any(${[...repositoryIds]})
      and connection_id is null
      and deleted_at is null
      and (
        owner_id = ${connection.account_id}
        or lower(split_part(full_name, '/', 1)) = lower(${connection.account_login})
      )`
}

function followedColumns(db: Db) {
  return db`
    host, full_name, tracked_branch, owner_id, html_url, private, archived, deleted_at, host_updated_at, connection_id`
}

function hasKey(db: Db, { org_id, provider, id }: RepositoryKey) {
  return db`org_id = ${org_id} and provider = ${provider} and id = ${id}`
}

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

type Named = Pick<ConnectedRepository, 'provider' | 'host' | 'id' | 'full_name' | 'owner_id'>

/** The connected repositories of an organization at a provider, in batches. */
export async function* listConnectedAt(tx: Tx, orgId: string, provider: Provider): AsyncGenerator<Named[]> {
  yield* tx<Named[]>`
    select provider, host, id, full_name, owner_id
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and connection_id is not null
      and deleted_at is null`.cursor(REPOSITORIES_AT_ONCE)
}
