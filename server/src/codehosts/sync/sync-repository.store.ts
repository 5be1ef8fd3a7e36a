import type { Db, Tx } from '../../platform/db/sql.ts'
import { getAlertListName } from '../host-alert.ts'
import type { WalkState } from '../kit/page-walk.ts'
import type { Sync, SyncScope } from './sync.store.ts'

/** Remembers that the host lists these repositories. */
export async function upsertListed(tx: Tx, sync: Sync, repositoryIds: readonly string[]): Promise<void> {
  await tx`
    insert into codehost_sync_repositories (org_id, connection_id, repository_id, listed_in)
    select ${sync.org_id}, ${sync.connection_id}, id, ${sync.number}
    from unnest(${[...repositoryIds].sort()}::text[]) id
    on conflict (org_id, connection_id, repository_id) do update
    set listed_in = excluded.listed_in`
}

/** Remembers that the lists of a repository were read. `note` says what could not be read. */
export async function upsertRead(tx: Tx, sync: Sync, repositoryId: string, note: string | null): Promise<void> {
  await tx`
    insert into codehost_sync_repositories (org_id, connection_id, repository_id, read_in, note)
    values (${sync.org_id}, ${sync.connection_id}, ${repositoryId}, ${sync.number}, ${note})
    on conflict (org_id, connection_id, repository_id) do update
    set read_in = excluded.read_in,
      note = excluded.note`
}

/** Those of the repositories that the host lists in this synchronization. */
export async function listListed(db: Db, sync: Sync, repositoryIds: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ repository_id: string }[]>`
    select repository_id
    from codehost_sync_repositories
    where ${buildScope(db, sync)}
      and repository_id = any(${[...repositoryIds]})
      and listed_in = ${sync.number}`
  return new Set(rows.map(({ repository_id }) => repository_id))
}

/** Those of the repositories that this synchronization has read. */
export async function listRead(db: Db, sync: Sync, repositoryIds: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ repository_id: string }[]>`
    select repository_id
    from codehost_sync_repositories
    where ${buildScope(db, sync)}
      and repository_id = any(${[...repositoryIds]})
      and read_in = ${sync.number}`
  return new Set(rows.map(({ repository_id }) => repository_id))
}

type RepositoryCounts = {
  listed: number
  read: number
  /** Those that were not read completely. */
  noted: number
  first_note: string | null
}

/** Counts the repositories that this synchronization has found and read. */
export async function countRepositories(db: Db, sync: Sync): Promise<RepositoryCounts> {
  const [row] = await db<[RepositoryCounts]>`
    select count(*) filter (where listed_in = ${sync.number})::int as listed,
      count(*) filter (where read_in = ${sync.number})::int as read,
      count(note) filter (where read_in = ${sync.number})::int as noted,
      min(note) filter (where read_in = ${sync.number}) as first_note
    from codehost_sync_repositories
    where ${buildScope(db, sync)}`
  return row
}

/**
 * Forgets how far repositories were read, so that they are read from the start if they come back.
 */
export async function deleteRepositories(tx: Tx, scope: SyncScope, repositoryIds: readonly string[]): Promise<void> {
  const ids = [...repositoryIds]
  await tx`
    delete from codehost_sync_lists
    where ${buildScope(tx, scope)}
      and repository_id = any(${ids})`
  await tx`
    delete from codehost_sync_repositories
    where ${buildScope(tx, scope)}
      and repository_id = any(${ids})`
}

/**
 * SQL: true while the connection of a repository is synchronized, and has never read the lists of
 * the repository. `alias` has `org_id`, `connection_id` and `repository_id`.
 */
export function isFirstReadRunning(db: Db, alias: string) {
  const of = db(alias)
  return db`exists (
    select
    from codehost_connections connection
    where connection.org_id = ${of}.org_id
      and connection.id = ${of}.connection_id
      and connection.status = 'active'
      and connection.sync_state = 'running'
      and not exists (
        select
        from codehost_sync_repositories listed
        where listed.org_id = connection.org_id
          and listed.connection_id = connection.id
          and listed.repository_id = ${of}.repository_id
          and listed.read_in is not null
      )
  )`
}

/** What is wrong with code and with dependencies; alerts about secrets say neither. */
const FINDING_LISTS = (['code_scanning', 'dependabot'] as const).map(getAlertListName)

/**
 * Whether the alerts of a connected repository are switched on, and their lists were read to the
 * end: one list says nothing about what the other would find. A list that the host does not let us
 * read has neither a version nor an item.
 */
export async function hasReadAlerts(
  db: Db,
  orgId: string,
  { provider, id }: { provider: string; id: string },
): Promise<boolean> {
  const [row] = await db<[{ lists: number }]>`
    select count(distinct synced.list)::int as lists
    from codehost_sync_lists synced
    join codehost_connections connection
      on connection.org_id = synced.org_id and connection.id = synced.connection_id
    where synced.org_id = ${orgId}
      and synced.repository_id = ${id}
      and connection.provider = ${provider}
      and connection.status = 'active'
      and synced.list = any(${FINDING_LISTS}::text[])
      and synced.next is null
      and (synced.etag is not null or synced.newest_at is not null)
      and synced.walk ->> 'failed_in' is null
      and not exists (
        select
        from codehost_refusals refusal
        where refusal.org_id = synced.org_id
          and refusal.connection_id = synced.connection_id
          and refusal.repository_id = synced.repository_id
          and refusal.list = synced.list
      )`
  return row.lists === FINDING_LISTS.length
}

function buildScope(db: Db, { org_id, connection_id }: SyncScope) {
  return db`org_id = ${org_id} and connection_id = ${connection_id}`
}

/** Names a list of a repository. */
type ListScope = SyncScope & { repository_id: string; list: string }

/** How far a list has been read. */
export type ListPosition = {
  /** The synchronization that read the first page. */
  read_in: number
  /** The version of the first page. */
  etag: string | null
  /** The page to continue with; null after the last one. */
  next: string | null
  /** Reading ends at items that were changed earlier; null: at the end of the list. */
  until: Date | null
  /** The host's time of the newest change on the first page. */
  newest_at: Date | null
  /** How the walk went so far. `failed_in`: in this synchronization it could not be read. */
  walk: (WalkState & { failure?: string | null; failed_in?: number }) | null
}

export async function findPosition(db: Db, scope: ListScope): Promise<ListPosition | null> {
  const [row] = await db<ListPosition[]>`
    select read_in, etag, next, until, newest_at, walk
    from codehost_sync_lists
    where org_id = ${scope.org_id}
      and connection_id = ${scope.connection_id}
      and repository_id = ${scope.repository_id}
      and list = ${scope.list}`
  return row ?? null
}

export async function upsertPosition(tx: Tx, scope: ListScope, position: ListPosition): Promise<void> {
  await tx`
    insert into codehost_sync_lists (
      org_id, connection_id, repository_id, list, read_in, etag, next, until, newest_at, walk
    )
    values (
      ${scope.org_id}, ${scope.connection_id}, ${scope.repository_id}, ${scope.list}, ${position.read_in},
      ${position.etag}, ${position.next}, ${position.until}, ${position.newest_at}, ${tx.json(position.walk)}
    )
    on conflict (org_id, connection_id, repository_id, list) do update
    set read_in = excluded.read_in,
      etag = excluded.etag,
      next = excluded.next,
      until = excluded.until,
      newest_at = excluded.newest_at,
      walk = excluded.walk`
}
