import { PROVIDERS, type Provider } from '../codehosts/catalogue.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import { CASELESS_PROVIDERS, getDefaultHost, splitAddress } from './repository-identity.ts'

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

export type LinkedRepository = { provider: string; id: string; full_name: string; tracked_branch: string }

const MATCHES_MAX = 20

/**
 * Sorts repositories with the same name on the same host, so that the one that has the name now
 * comes first: a repository that exists, is connected, and has told its name last. Links follow
 * connected repositories, and precede those that have left their connection. `repository` is the
 * alias of the table.
 */
export function buildHolderOrder(db: Db) {
  return db`
    repository.deleted_at is not null, repository.connection_id is null, repository.host_updated_at desc nulls first,
    repository.id`
}

/**
 * Finds the repositories that have a name, at most one of each host of each provider. Code hosts
 * ignore case in names.
 */
export async function findByName(
  db: Db,
  orgId: string,
  fullName: string,
): Promise<(LinkedRepository & { host: string })[]> {
  return db<(LinkedRepository & { host: string })[]>`
    select distinct on (repository.provider, repository.host) provider, id, full_name, tracked_branch, host
    from repositories repository
    where repository.org_id = ${orgId}
      and lower(repository.full_name) = lower(${fullName})
    order by repository.provider, repository.host, ${buildHolderOrder(db)}
    limit ${MATCHES_MAX}`
}

export async function findById(db: Db, orgId: string, provider: string, id: string): Promise<LinkedRepository | null> {
  const [row] = await db<LinkedRepository[]>`
    select provider, id, full_name, tracked_branch
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${id}`
  return row ?? null
}

/** The host of a linked repository. */
export async function findHost(db: Db, orgId: string, provider: string, id: string): Promise<string | null> {
  const [row] = await db<{ host: string }[]>`
    select host
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${id}`
  return row?.host ?? null
}

/** Lists the providers with linked repositories of this owner. */
export async function findProvidersOfOwner(db: Db, orgId: string, owner: string): Promise<string[]> {
  const rows = await db<{ provider: string }[]>`
    select distinct provider
    from repositories
    where org_id = ${orgId}
      and starts_with(lower(full_name), lower(${owner}) || '/')
    order by provider
    limit ${MATCHES_MAX}`
  return rows.map((row) => row.provider)
}

/** Finds the repository that has the name `host/full_name`, of any provider. */
export async function findOnHost(
  db: Db,
  orgId: string,
  host: string,
  fullName: string,
): Promise<LinkedRepository | null> {
  const [row] = await db<LinkedRepository[]>`
    select provider, id, full_name, tracked_branch
    from repositories repository
    where repository.org_id = ${orgId}
      and repository.host = ${host}
      and lower(repository.full_name) = lower(${fullName})
    order by ${buildHolderOrder(db)}
    limit 1`
  return row ?? null
}

/**
 * Lists the linked repositories that an address can mean: the one at `host/owner/name`, or those of
 * any host with the name `owner/name`.
 */
export async function findByAddress(db: Db, orgId: string, address: string): Promise<LinkedRepository[]> {
  const { host, name } = splitAddress(address)
  if (!name.includes('/')) return findByName(db, orgId, address)
  const found = await findOnHost(db, orgId, host, name)
  return found === null ? [] : [found]
}

type LocatedRepository = {
  host: string | null
  /** The name without the host. */
  name: string
  /** The linked repository with this address. */
  linked: LinkedRepository | null
}

/**
 * Finds the linked repository at `host/owner/name`. An address of two parts has no host, as in
 * reports.
 */
export async function findRepositoryAt(db: Db, orgId: string, address: string): Promise<LocatedRepository> {
  const { host, name } = splitAddress(address)
  if (!name.includes('/')) return { host: null, name: address, linked: null }
  return { host, name, linked: await findOnHost(db, orgId, host, name) }
}

/**
 * SQL: whether two names are one environment, as the host compares them (`isSameEnvironment`).
 * `address` is that of the repository, for rows whose provider is not known.
 */
export function buildEnvironmentsEqual(
  db: Db,
  [one, other]: readonly [ReturnType<Db>, ReturnType<Db>],
  { provider, address }: { provider: ReturnType<Db>; address?: ReturnType<Db> },
): ReturnType<Db> {
  const byAddress = db`split_part(${address ?? db`''`}, '/', 1) = any(${CASELESS_PROVIDERS.map(getDefaultHost)})`
  return db`(
    ${one} = ${other}
    or (
      lower(${one}) = lower(${other})
      and case when ${provider} = any(${[...PROVIDERS]}) then ${provider} = any(${[...CASELESS_PROVIDERS]})
        else ${byAddress} end
    )
  )`
}
