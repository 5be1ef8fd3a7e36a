import type { Environment } from '../../config.ts'
import type { Organization } from '../../organizations/organization.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Scope } from '../scopes.ts'

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
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

type StoredCredential = {
  id: string
  name: string
  scopes: Scope[]
  expires_at: Date | null
  organization: Organization
}

type NewApiKey = Omit<ApiKey, 'revoked_at' | 'last_used_at'> & { key_sha256: Buffer }

const KEYS_LISTED_MAX = 1000

export async function insertApiKey(db: Db, orgId: string, key: NewApiKey): Promise<void> {
  await db`
    insert into api_keys (
      org_id, id, name, key_sha256, environment, scopes, created_by, created_at, expires_at
    )
    values (
      ${orgId}, ${key.id}, ${key.name}, ${key.key_sha256}, ${key.environment}, ${key.scopes}, ${key.created_by},
      ${key.created_at}, ${key.expires_at}
    )`
}

/** Finds a key that is not revoked, with its organization. The caller checks `expires_at`. */
export async function findCredential(db: Db, keySha256: Buffer): Promise<StoredCredential | null> {
  const [row] = await db<(Omit<StoredCredential, 'organization'> & { org: Organization })[]>`
    select key.id, key.name, key.scopes, key.expires_at,
      json_build_object('id', org.id, 'slug', org.slug, 'name', org.name, 'plan', org.plan) as org
    from api_keys key
    join organizations org on org.id = key.org_id
    where key.key_sha256 = ${keySha256}
      and key.revoked_at is null`
  if (!row) return null
  const { org, ...credential } = row
  return { ...credential, organization: org }
}

export async function listApiKeys(db: Db, orgId: string): Promise<ApiKey[]> {
  return db<ApiKey[]>`
    select id, name, scopes, environment, created_by, created_at, expires_at, revoked_at, last_used_at
    from api_keys
    where org_id = ${orgId}
    order by created_at, id
    limit ${KEYS_LISTED_MAX}`
}

/**
 * Revokes a key and notifies all servers. Keeps the time of an earlier revocation. Returns null for
 * an unknown id.
 */
export async function markRevoked(db: Db, id: string, at: Date): Promise<ApiKey | null> {
  const [row] = await db<ApiKey[]>`
    with revoked as (
      update api_keys
      set revoked_at = coalesce(revoked_at, ${at})
      where id = ${id}
      returning id, name, scopes, environment, created_by, created_at, expires_at, revoked_at, last_used_at, key_sha256
    )
    select id, name, scopes, environment, created_by, created_at, expires_at, revoked_at, last_used_at,
      pg_notify(${ACCESS_CHANNEL}, encode(key_sha256, 'hex')) is null as notified
    from revoked`
  return row ?? null
}

/** Makes all servers read keys and plans again. */
export async function notifyAccessChanged(db: Db): Promise<void> {
  await db`select pg_notify(${ACCESS_CHANNEL}, '*')`
}
