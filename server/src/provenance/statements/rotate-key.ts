import { sign } from 'node:crypto'
import { insertAuditEntry, type Principal, SYSTEM } from '../../audit/audit.store.ts'
import { keyInUse } from '../../errors/commands.ts'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Services } from '../../services.ts'
import { type AuthenticServices, computeKeyMac, requireAuthenticKey } from './authentic-key.ts'
import { findCurrentKey, insertKey, isKnownKey, listKeys, updateRetired } from './signing-key.store.ts'
import {
  createKeyPair,
  encodePublicKey,
  getPublicKey,
  KEY_ALGORITHM,
  type KeyPair,
  readKmsPublicKey,
  type SigningKey,
  type StoredKey,
  sealLabel,
  signWithKms,
} from './signing-key.ts'

type KeyServices = AuthenticServices & Pick<Services, 'clock'>

/**
 * The key that signs new statements of an organization. It is made on first use, and replaced when
 * SHIPLOCK_SIGNING_KMS_KEY names a key that the organization has never had. Throws 503 if its row
 * was changed.
 */
async function requireCurrentKey(services: KeyServices, orgId: string): Promise<SigningKey> {
  const { sql, config } = services
  const current = await findAuthenticKey(services, orgId)
  if (current !== null && !(await isNewSetting(services, orgId, current))) return current
  const next = await makeKeyPair(services, orgId)
  if (current !== null && (await isKnownKey(sql, orgId, next))) return current
  const reason = config.signingKmsKey === null ? null : 'SHIPLOCK_SIGNING_KMS_KEY names a new key.'
  return replace(services, orgId, next, { replaced: current, principal: SYSTEM, reason })
}

async function findAuthenticKey(services: KeyServices, orgId: string): Promise<StoredKey | null> {
  const current = await findCurrentKey(services.sql, orgId)
  return current && requireAuthenticKey(services, orgId, current)
}

async function isNewSetting({ sql, config }: KeyServices, orgId: string, current: SigningKey): Promise<boolean> {
  const kms_key = config.signingKmsKey
  if (kms_key === null || current.kms_key === kms_key) return false
  return !(await isKnownKey(sql, orgId, { kms_key }))
}

/**
 * Makes a new current key. The present one is retired: its statements stay valid, and it signs
 * nothing more. With AWS KMS, the setting must name another key first. Throws 409 `key_in_use`.
 */
export async function rotateKey(services: KeyServices, orgId: string, principal: Principal): Promise<SigningKey> {
  const replaced = await findAuthenticKey(services, orgId)
  const next = await makeKeyPair(services, orgId)
  if (next.kms_key !== null && (await isKnownKey(services.sql, orgId, next))) throw keyInUse(next.kms_key)
  return replace(services, orgId, next, { replaced, principal, reason: null })
}

async function makeKeyPair({ config, sealingKey }: KeyServices, orgId: string): Promise<KeyPair> {
  const { signingKmsKey } = config
  if (signingKmsKey === null) return createKeyPair(sealingKey, orgId)
  const name = encodePublicKey(await readKmsPublicKey(signingKmsKey))
  return { ...name, sealed_private_key: null, kms_key: signingKmsKey }
}

type Replacement = { replaced: SigningKey | null; principal: Principal; reason: string | null }

/** If another process has replaced the key in the meantime, that process's key stays. */
async function replace(
  services: KeyServices,
  orgId: string,
  next: KeyPair,
  { replaced, principal, reason }: Replacement,
): Promise<SigningKey> {
  const { sql, clock, integrityKey } = services
  const at = clock.now()
  return sql.begin(async (tx) => {
    await lockName(tx, `signing key ${orgId}`)
    const current = await findCurrentKey(tx, orgId)
    if (current !== null) await requireAuthenticKey(services, orgId, current)
    if (current !== null && current.keyid !== replaced?.keyid) return current
    if (current !== null) {
      const retired = { ...current, retired_at: at }
      await updateRetired(tx, orgId, { ...retired, mac: computeKeyMac(integrityKey, orgId, retired) })
    }
    const stored = { ...next, created_at: at, retired_at: null }
    await insertKey(tx, orgId, stored, computeKeyMac(integrityKey, orgId, stored))
    const action = current === null ? 'signing_key.create' : 'signing_key.rotate'
    const object = { type: 'signing_key', id: next.keyid }
    const details = { kms_key: next.kms_key, replaced: current?.keyid ?? null }
    await insertAuditEntry(tx, orgId, { principal, action, object, reason, details }, at)
    return stored
  })
}

/** Signs with an organization's current key: ECDSA P-256 with SHA-256. */
type Signer = {
  /** Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
  keyid: string
  /** Returns a DER signature. Throws `ApiError` 503 if AWS KMS cannot be used. */
  sign(bytes: Buffer): Promise<Buffer>
}

/** The signer of an organization. Its key is made on first use. */
export async function loadCurrentSigner(services: KeyServices, orgId: string): Promise<Signer> {
  const key = await requireCurrentKey(services, orgId)
  return { keyid: key.keyid, sign: signWith(services, orgId, key) }
}

function signWith({ sealingKey }: Pick<Services, 'sealingKey'>, orgId: string, key: SigningKey): Signer['sign'] {
  const { kms_key, sealed_private_key } = key
  if (kms_key !== null) return (bytes) => signWithKms(kms_key, getPublicKey(key), bytes)
  const privateKey = openSealedText(sealingKey, sealLabel(orgId, key.keyid), sealed_private_key)
  return async (bytes) => sign('sha256', bytes, privateKey)
}

type PublicKey = { keyid: string; alg: string; pem: string; created_at: string; retired_at: string | null }

/**
 * The public keys of an organization, current first. The first key is made if there is none. Keys
 * that were made before are listed even if the next one, in AWS KMS, cannot be read: they verify
 * what was signed. Throws 503 if one of them was changed, or is not ours.
 */
export async function listPublicKeys(services: KeyServices, orgId: string): Promise<PublicKey[]> {
  const failure = await requireCurrentKey(services, orgId).then(
    () => null,
    (error: unknown) => ({ error }),
  )
  const keys = await listAuthenticKeys(services, orgId)
  if (failure !== null && keys.length === 0) throw failure.error
  return keys.map(({ keyid, pem, created_at, retired_at }) => ({
    keyid,
    alg: KEY_ALGORITHM,
    pem,
    created_at: created_at.toISOString(),
    retired_at: retired_at?.toISOString() ?? null,
  }))
}

/**
 * The keys of an organization, current first. Throws 503 if one of them was changed, or is not
 * ours.
 */
export async function listAuthenticKeys(services: AuthenticServices, orgId: string): Promise<SigningKey[]> {
  const keys = await listKeys(services.sql, orgId)
  for (const key of keys) await requireAuthenticKey(services, orgId, key)
  return keys
}
