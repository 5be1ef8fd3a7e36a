import type { Db, Tx } from '../../platform/db/sql.ts'
import type { KeyPair, SigningKey } from './signing-key.ts'

/** The key that signs new statements of an organization. Returns null before its first use. */
export async function findCurrentKey(db: Db, orgId: string): Promise<SigningKey | null> {
  const [row] = await db<SigningKey[]>`
    select keyid, pem, sealed_private_key, kms_key, created_at, retired_at
    from signing_keys
    where org_id = ${orgId}
      and retired_at is null`
  return row ?? null
}

/** All keys of an organization: the current one, then the retired ones, newest first. */
export async function listKeys(db: Db, orgId: string): Promise<SigningKey[]> {
  return db<SigningKey[]>`
    select keyid, pem, sealed_private_key, kms_key, created_at, retired_at
    from signing_keys
    where org_id = ${orgId}
    order by retired_at desc nulls first, created_at desc, keyid
    limit 10000`
}

/** Whether an organization has, or had, this key. */
export async function isKnownKey(
  db: Db,
  orgId: string,
  key: { keyid: string } | { kms_key: string },
): Promise<boolean> {
  const same = 'keyid' in key ? db`keyid = ${key.keyid}` : db`kms_key = ${key.kms_key}`
  const [row] = await db<[{ known: boolean }]>`
    select exists (
      select
      from signing_keys
      where org_id = ${orgId}
        and ${same}
    ) as known`
  return row.known
}

/** Retires the current key and stores the next one, in a transaction that holds the lock. */
export async function updateCurrentKey(tx: Tx, orgId: string, key: KeyPair, at: Date): Promise<void> {
  await tx`
    update signing_keys
    set retired_at = ${at}
    where org_id = ${orgId}
      and retired_at is null`
  await tx`
    insert into signing_keys (org_id, keyid, pem, sealed_private_key, kms_key, created_at)
    values (${orgId}, ${key.keyid}, ${key.pem}, ${key.sealed_private_key}, ${key.kms_key}, ${at})`
}
