import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import type { HostRepository } from '../host-repository.ts'
import type { Sync, SyncScope } from './sync.store.ts'

type Row = Omit<HostRepository, 'owner'> & { owner_id: string }

const REPOSITORIES_AT_ONCE = 100

/** The next repositories, by id, that a synchronisation has not read. */
export async function listUnread(db: Db, sync: Sync, provider: Provider, afterId: string): Promise<HostRepository[]> {
  const rows = await db<Row[]>`
    select provider, host, id, full_name, coalesce(owner_id, '') as owner_id, tracked_branch as default_branch, html_url,
      coalesce(private, true) as private, coalesce(archived, false) as archived, host_updated_at as updated_at
    from repositories repository
    where ${isConnected(db, sync, provider)}
      and id > ${afterId}
      and not exists (
        select from codehost_sync_repositories read
        where read.org_id = repository.org_id
          and read.connection_id = repository.connection_id
          and read.repository_id = repository.id
          and read.read_in = ${sync.number}
      )
    order by id
    limit ${REPOSITORIES_AT_ONCE}`
  return rows.map(toRepository)
}

function toRepository({ owner_id, ...row }: Row): HostRepository {
  return { ...row, owner: { id: owner_id, login: row.full_name.split('/')[0] ?? '' } }
}

/** How many repositories a synchronisation has read, and how many there are. */
export async function countRead(db: Db, sync: Sync, provider: Provider): Promise<{ done: number; total: number }> {
  const [row] = await db<[{ done: number; total: number }]>`
    select count(*)::int as total, count(*) filter (where read.read_in = ${sync.number})::int as done
    from repositories repository
    left join codehost_sync_repositories read
      on read.org_id = repository.org_id
      and read.connection_id = repository.connection_id
      and read.repository_id = repository.id
    where ${isConnected(db, sync, provider)}`
  return row
}

/** Repositories that were in the connection before the synchronisation, and that the host no longer lists. */
export async function listUnlisted(db: Db, sync: Sync, provider: Provider): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from repositories repository
    where ${isConnected(db, sync, provider)}
      and created_at < ${sync.started_at}
      and not exists (
        select from codehost_sync_repositories listed
        where listed.org_id = repository.org_id
          and listed.connection_id = repository.connection_id
          and listed.repository_id = repository.id
          and listed.listed_in = ${sync.number}
      )
    order by id
    limit ${REPOSITORIES_AT_ONCE}`
  return rows.map(({ id }) => id)
}

function isConnected(db: Db, { org_id, connection_id }: SyncScope, provider: Provider) {
  return db`
    repository.org_id = ${org_id}
    and repository.connection_id = ${connection_id}
    and repository.provider = ${provider}
    and repository.deleted_at is null`
}

export async function markListed(tx: Tx, sync: Sync, repositoryIds: readonly string[]): Promise<void> {
  await tx`
    insert into codehost_sync_repositories (org_id, connection_id, repository_id, listed_in)
    select ${sync.org_id}, ${sync.connection_id}, id, ${sync.number}
    from unnest(${[...repositoryIds].sort()}::text[]) id
    on conflict (org_id, connection_id, repository_id) do update
    set listed_in = excluded.listed_in`
}

/** How many repositories a synchronisation has found in the host's list. */
export async function countListed(db: Db, sync: Sync): Promise<number> {
  const [row] = await db<[{ listed: number }]>`
    select count(*)::int as listed
    from codehost_sync_repositories
    where org_id = ${sync.org_id}
      and connection_id = ${sync.connection_id}
      and listed_in = ${sync.number}`
  return row.listed
}

/** `note` says what could not be read. */
export async function markRead(db: Db, sync: Sync, repositoryId: string, note: string | null): Promise<void> {
  await db`
    insert into codehost_sync_repositories (org_id, connection_id, repository_id, read_in, note)
    values (${sync.org_id}, ${sync.connection_id}, ${repositoryId}, ${sync.number}, ${note})
    on conflict (org_id, connection_id, repository_id) do update
    set read_in = excluded.read_in,
      note = excluded.note`
}

/** Forgets how far repositories were read, so that they are read from the start if they come back. */
export async function forgetRepositories(tx: Tx, scope: SyncScope, repositoryIds: readonly string[]): Promise<void> {
  const { org_id, connection_id } = scope
  const ids = [...repositoryIds]
  await tx`
    delete from codehost_sync_lists
    where org_id = ${org_id} and connection_id = ${connection_id} and repository_id = any(${ids})`
  await tx`
    delete from codehost_sync_repositories
    where org_id = ${org_id} and connection_id = ${connection_id} and repository_id = any(${ids})`
}

/** Counts the repositories that were not read completely, with the first one's note. */
export async function summarizeNotes(db: Db, sync: Sync): Promise<{ count: number; first: string | null }> {
  const [row] = await db<[{ count: number; first: string | null }]>`
    select count(*)::int as count, min(note) as first
    from codehost_sync_repositories
    where org_id = ${sync.org_id}
      and connection_id = ${sync.connection_id}
      and read_in = ${sync.number}
      and note is not null`
  return row
}
