import type { Environment } from '../../config.ts'
import type { Organization } from '../../organizations/organization.store.ts'
import type { Db, Sql } from '../../platform/db/sql.ts'
import type { Scope } from '../scopes.ts'

/** Told on this channel: the hash (hex) of a key that changed, or `*` when every key may have. */
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

export type StoredCredential = {
  id: string
  name: string
  scopes: Scope[]
  expires_at: Date | null
  organization: Organization
}

export type NewApiKey = Omit<ApiKey, 'revoked_at' | 'last_used_at'> & { key_sha256: Buffer }

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

/** The key that hashes to this, with its organization, unless it is revoked. Expiry is for the caller's clock. */
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

/** Revokes a key and tells every server in the same transaction. Null when there is no such key; again is no error. */
export async function revokeApiKey(db: Db, id: string, at: Date): Promise<ApiKey | null> {
  const [row] = await db<ApiKey[]>`
    with revoked as (
      update api_keys
      set revoked_at = coalesce(revoked_at, ${at})
      where id = ${id}
      returning id, name, scopes, environment, created_by, created_at, expires_at, revoked_at, last_used_at, key_sha256
    )
    select id, name, scopes, environment, created_by, created_at, expires_at, revoked_at, last_used_at,
      pg_notify(${ACCESS_CHANNEL}, encode(key_sha256, 'hex')) is null as told
    from revoked`
  return row ?? null
}

/** Every server forgets what it knows of keys and plans. */
export async function notifyAccessChanged(db: Db): Promise<void> {
  await db`select pg_notify(${ACCESS_CHANNEL}, '*')`
}

/** Notes the last use to the minute. Lost on a crash without harm, so the write does not wait for the disk. */
export async function touchApiKey(sql: Sql, orgId: string, id: string, minute: Date): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`
    await tx`
      update api_keys
      set last_used_at = ${minute}
      where org_id = ${orgId}
        and id = ${id}
        and (last_used_at is null or last_used_at < ${minute})`
  })
}
