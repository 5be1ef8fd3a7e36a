import type { Db } from '../../platform/db/sql.ts'

type SigningKey = { org_id: string; keyid: string; pem: string; sealed_private_key: string; created_at: Date }

export async function findCurrentKey(db: Db, orgId: string): Promise<SigningKey | null> {
  const [row] = await db<SigningKey[]>`
    select org_id, keyid, pem, sealed_private_key, created_at
    from signing_keys
    where org_id = ${orgId}
      and retired_at is null`
  return row ?? null
}

/** Stores a new current key, unless the organization has one. */
export async function insertKey(db: Db, key: SigningKey): Promise<void> {
  await db`
    insert into signing_keys (org_id, keyid, pem, sealed_private_key, created_at)
    values (${key.org_id}, ${key.keyid}, ${key.pem}, ${key.sealed_private_key}, ${key.created_at})
    on conflict do nothing`
}
