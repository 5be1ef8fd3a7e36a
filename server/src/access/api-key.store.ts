import type { Environment } from '../config.ts'
import type { Organization } from '../organizations/organization.store.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { Scope } from './scopes.ts'

/**
 * Notifications on this channel carry the hash (hex) of a key that changed, or `*` if any key or
 * trust may have changed.
 */
export const ACCESS_CHANNEL = 'shiplock_access'

export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  environment: Environment
  created_by: string
  /** The person who created the key; null if it was created at the command line. */
  created_by_user_id: string | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  /** Globs of the repositories that the key speaks about; null for all. */
  repositories: string[] | null
}

type StoredCredential = {
  id: string
  name: string
  scopes: Scope[]
  expires_at: Date | null
  repositories: string[] | null
  organization: Organization
}

type NewApiKey = Omit<ApiKey, 'revoked_at' | 'last_used_at'> & { key_sha256: Buffer }

/** Keys of an organization that are in use, and keys in its list. */
export const API_KEYS_MAX = 1000

export async function insertApiKey(db: Db, orgId: string, key: NewApiKey): Promise<void> {
  await db`
    insert into api_keys (
      org_id, id, name, key_sha256, environment, scopes, created_by, created_by_user_id, created_at, expires_at,
      repositories
    )
    values (
      ${orgId}, ${key.id}, ${key.name}, ${key.key_sha256}, ${key.environment}, ${key.scopes}, ${key.created_by},
      ${key.created_by_user_id}, ${key.created_at}, ${key.expires_at}, ${key.repositories}
    )`
}

/** The names of the keys in use that have all these scopes. */
export async function listKeysWith(db: Db, orgId: string, scopes: readonly Scope[], now: Date): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select name
    from api_keys
    where org_id = ${orgId}
      and scopes @> ${[...scopes]}::text[]
      and revoked_at is null
      and (expires_at is null or expires_at > ${now})
    order by created_at, id
    limit ${API_KEYS_MAX}`
  return rows.map(({ name }) => name)
}

/** Counts the keys that are neither revoked nor expired. */
export async function countLiveApiKeys(db: Db, orgId: string, now: Date): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from api_keys
    where org_id = ${orgId}
      and revoked_at is null
      and (expires_at is null or expires_at > ${now})`
  return row.count
}

/** Finds a key that is not revoked, with its organization. The caller checks `expires_at`. */
export async function findCredential(db: Db, keySha256: Buffer): Promise<StoredCredential | null> {
  const [row] = await db<(Omit<StoredCredential, 'organization'> & { org: Organization })[]>`
    select key.id, key.name, key.scopes, key.expires_at, key.repositories,
      json_build_object('id', org.id, 'slug', org.slug, 'name', org.name, 'plan', org.plan) as org
    from api_keys key
    join organizations org on org.id = key.org_id
    where key.key_sha256 = ${keySha256}
      and key.revoked_at is null`
  if (!row) return null
  const { org, ...credential } = row
  return { ...credential, organization: org }
}

/** The keys of an organization, oldest first. The newest revoked ones follow those in use. */
export async function listApiKeys(db: Db, orgId: string): Promise<ApiKey[]> {
  return db<ApiKey[]>`
    select ${keyColumns(db)}
    from api_keys
    where org_id = ${orgId}
    order by revoked_at is not null, revoked_at desc, created_at, id
    limit ${API_KEYS_MAX}`
}

/** Locks a key until the transaction ends. Returns null for an unknown id. */
export async function lockApiKey(tx: Tx, id: string): Promise<(ApiKey & { org_id: string }) | null> {
  const [row] = await tx<(ApiKey & { org_id: string })[]>`
    select org_id, ${keyColumns(tx)}
    from api_keys
    where id = ${id}
    for update`
  return row ?? null
}

/** Revokes a key and notifies all servers. */
export async function updateApiKeyRevoked(tx: Tx, id: string, at: Date): Promise<void> {
  await tx`
    with revoked as (
      update api_keys
      set revoked_at = ${at}
      where id = ${id}
      returning key_sha256
    )
    select pg_notify(${ACCESS_CHANNEL}, encode(key_sha256, 'hex'))
    from revoked`
}

function keyColumns(db: Db) {
  return db`id, name, scopes, environment, created_by, created_by_user_id, created_at, expires_at, revoked_at,
    last_used_at, repositories`
}

/** Makes all servers read keys and plans again. */
export async function notifyAccessChanged(db: Db): Promise<void> {
  await db`select pg_notify(${ACCESS_CHANNEL}, '*')`
}
