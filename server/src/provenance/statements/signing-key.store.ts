import type { Db, Tx } from '../../platform/db/sql.ts'
import type { SigningKey, StoredKey } from './signing-key.ts'

/** The key that signs new statements of an organization. Returns null before its first use. */
export async function findCurrentKey(db: Db, orgId: string): Promise<StoredKey | null> {
  const [row] = await db<StoredKey[]>`
    select keyid, pem, sealed_private_key, kms_key, created_at, retired_at, mac
    from signing_keys
    where org_id = ${orgId}
      and retired_at is null`
  return row ?? null
}

/** All keys of an organization: the current one, then the retired ones, newest first. */
export async function listKeys(db: Db, orgId: string): Promise<StoredKey[]> {
  return db<StoredKey[]>`
    select keyid, pem, sealed_private_key, kms_key, created_at, retired_at, mac
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

/** Retires a key, in a transaction that holds the lock. */
export async function updateRetired(
  tx: Tx,
  orgId: string,
  { keyid, retired_at, mac }: Pick<StoredKey, 'keyid' | 'retired_at' | 'mac'>,
): Promise<void> {
  await tx`
    update signing_keys
    set retired_at = ${retired_at}, mac = ${mac}
    where org_id = ${orgId}
      and keyid = ${keyid}`
}

/** Stores the current key, in a transaction that holds the lock. */
export async function insertKey(tx: Tx, orgId: string, key: SigningKey, mac: Buffer): Promise<void> {
  await tx`
    insert into signing_keys (org_id, keyid, pem, sealed_private_key, kms_key, created_at, mac)
    values (${orgId}, ${key.keyid}, ${key.pem}, ${key.sealed_private_key}, ${key.kms_key}, ${key.created_at}, ${mac})`
}

/** Authenticates a key as it was read. Whoever has retired it meanwhile has authenticated it. */
export async function updateKeyMac(
  db: Db,
  orgId: string,
  { keyid, retired_at, mac }: Pick<StoredKey, 'keyid' | 'retired_at' | 'mac'>,
): Promise<void> {
  await db`
    update signing_keys
    set mac = ${mac}
    where org_id = ${orgId}
      and keyid = ${keyid}
      and retired_at is not distinct from ${retired_at}`
}

type OwnedKey = StoredKey & { org_id: string }

const KEYS_AT_ONCE = 500

/** The keys of an organization, or of all, one after the other. */
export async function* listAllKeys(db: Db, orgId: string | null): AsyncGenerator<OwnedKey> {
  let page = await listKeysAfter(db, orgId, null)
  while (page.length > 0) {
    yield* page
    page = await listKeysAfter(db, orgId, page.at(-1) ?? null)
  }
}

async function listKeysAfter(db: Db, orgId: string | null, after: OwnedKey | null): Promise<OwnedKey[]> {
  return db<OwnedKey[]>`
    select org_id, keyid, pem, sealed_private_key, kms_key, created_at, retired_at, mac
    from signing_keys
    where true
      ${orgId === null ? db`` : db`and org_id = ${orgId}`}
      ${after === null ? db`` : db`and (org_id, keyid) > (${after.org_id}, ${after.keyid})`}
    order by org_id, keyid
    limit ${KEYS_AT_ONCE}`
}
