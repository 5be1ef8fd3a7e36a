import type { Db } from '../platform/db/sql.ts'
import { splitAddress } from './repository-identity.ts'

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
export async function findByName(db: Db, orgId: string, fullName: string): Promise<LinkedRepository[]> {
  return db<LinkedRepository[]>`
    select distinct on (repository.provider, repository.host) provider, id, full_name, tracked_branch
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
