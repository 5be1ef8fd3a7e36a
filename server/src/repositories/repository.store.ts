import type { Provider } from '../codehosts/catalogue.ts'
import type { Db, Tx } from '../platform/db/sql.ts'

export type Repository = {
  provider: Provider
  id: string
  host: string
  full_name: string
  tracked_branch: string
  created_at: Date
}

/** A repository with what its code host says about it. */
export type ListedRepository = Repository & {
  connected: boolean
  /** Null for linked repositories. */
  archived: boolean | null
  private: boolean | null
  deleted_at: Date | null
}

/** Null keeps the stored value; a new repository gets the default. */
export type RepositoryLink = Pick<Repository, 'provider' | 'id' | 'full_name'> & {
  host: string | null
  tracked_branch: string | null
}

type LinkDefaults = Pick<Repository, 'host' | 'tracked_branch' | 'created_at'>

const REPOSITORIES_LISTED_MAX = 10_000

/**
 * Locks the repository of a provider until the transaction ends; null if the organization does not
 * have it.
 */
export async function lockRepository(tx: Tx, orgId: string, provider: Provider, id: string) {
  const [row] = await tx<ListedRepository[]>`
    select ${listedColumns(tx)}
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${id}
    for update`
  return row ?? null
}

/** The connected repository that has a name on a host; null if there is none. */
export async function findConnectedByName(
  db: Db,
  orgId: string,
  { provider, host, full_name }: Pick<Repository, 'provider' | 'host' | 'full_name'>,
): Promise<{ id: string } | null> {
  const [row] = await db<{ id: string }[]>`
    select id
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and host = ${host}
      and lower(full_name) = lower(${full_name})
      and connection_id is not null
    order by id
    limit 1`
  return row ?? null
}

/** Inserts or updates a repository. Providers keep the id when a repository is renamed. */
export async function upsertRepository(db: Db, orgId: string, link: RepositoryLink, defaults: LinkDefaults) {
  const [row] = await db<[Repository]>`
    insert into repositories as repository (org_id, provider, id, host, full_name, tracked_branch, created_at)
    values (
      ${orgId}, ${link.provider}, ${link.id}, ${link.host ?? defaults.host}, ${link.full_name},
      ${link.tracked_branch ?? defaults.tracked_branch}, ${defaults.created_at}
    )
    on conflict (org_id, provider, id) do update
    set host = coalesce(${link.host}, repository.host),
      full_name = excluded.full_name,
      tracked_branch = coalesce(${link.tracked_branch}, repository.tracked_branch)
    returning provider, id, host, full_name, tracked_branch, created_at`
  return row
}

export async function listRepositories(db: Db, orgId: string): Promise<ListedRepository[]> {
  return db<ListedRepository[]>`
    select ${listedColumns(db)}
    from repositories
    where org_id = ${orgId}
    order by lower(full_name), provider, id
    limit ${REPOSITORIES_LISTED_MAX}`
}

/** SQL: the repositories that are not deleted, with what their code hosts say about them. */
export function buildPresentRepositories(db: Db, orgId: string) {
  return db`
    select provider, id, full_name, tracked_branch, connection_id is not null as connected, private, archived, html_url,
      created_at
    from repositories
    where org_id = ${orgId}
      and deleted_at is null`
}

function listedColumns(db: Db) {
  return db`
    provider, id, host, full_name, tracked_branch, created_at, connection_id is not null as connected, archived, private,
    deleted_at`
}
