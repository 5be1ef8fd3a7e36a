import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { createForgeryError } from '../../errors/provenance.ts'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import { computeMac, hashValues } from '../../platform/crypto/signed-bytes.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { hasMacs } from '../log/log-mac.ts'
import {
  encodePublicKey,
  isKmsUnreachable,
  readKmsPublicKey,
  type SigningKey,
  type StoredKey,
  sealLabel,
} from './signing-key.ts'

/**
 * A row that this server has not stored as it is. `resource` is the id of a key, or
 * `<kind>/<subject>/<facts>` of a statement. `found` is the SHA-256 of what is stored. What the row
 * should have been is unknown; its mac is never shown, because it would make a forged row valid.
 */
export type RowBreak = { part: 'key' | 'statement'; org_id: string; resource: string; found: string }

export type AuthenticServices = Pick<Services, 'sql' | 'config' | 'sealingKey' | 'integrityKey' | 'log'>

/**
 * Authenticates the public half of a key, where its private half is, and its state with its times.
 */
export function computeKeyMac(integrityKey: KeyObject, orgId: string, key: SigningKey): Buffer {
  const { keyid, pem, sealed_private_key, kms_key, created_at, retired_at } = key
  return computeMac(integrityKey, [
    ...['signing key', orgId, keyid, pem],
    ...[sealed_private_key, kms_key, created_at, retired_at],
  ])
}

/** Null if the row of a key is authentic. */
export async function checkKey(services: AuthenticServices, orgId: string, key: StoredKey): Promise<RowBreak | null> {
  const isAuthentic =
    key.mac === null
      ? !(await hasMacs(services, services.sql)) && (await isOwnKey(services, orgId, key))
      : key.mac.equals(computeKeyMac(services.integrityKey, orgId, key))
  if (isAuthentic) return null
  const { keyid, pem, sealed_private_key, kms_key, created_at, retired_at, mac } = key
  const found = hashValues(keyid, pem, sealed_private_key, kms_key, created_at, retired_at, mac)
  return { part: 'key', org_id: orgId, resource: keyid, found: found.toString('hex') }
}

/**
 * Whether the private half of a key is ours: it opens with the secret key, or AWS KMS has it under
 * a name of our own account. An ARN may name any account, so it has to be the one of the setting.
 * Throws 503 if KMS could not be asked, or does not have the key of the setting: a key that was not
 * found to be ours in a passing failure would never be ours again.
 */
export async function isOwnKey(
  { config, sealingKey }: Pick<Services, 'config' | 'sealingKey'>,
  orgId: string,
  { keyid, pem, sealed_private_key, kms_key }: SigningKey,
): Promise<boolean> {
  if (kms_key?.startsWith('arn:') && kms_key !== config.signingKmsKey) return false
  try {
    const publicKey =
      kms_key === null
        ? createPublicKey(createPrivateKey(openSealedText(sealingKey, sealLabel(orgId, keyid), sealed_private_key)))
        : await readKmsPublicKey(kms_key)
    const own = encodePublicKey(publicKey)
    return own.keyid === keyid && own.pem === pem
  } catch (error) {
    if (isKmsUnreachable(error) || (error instanceof ApiError && kms_key === config.signingKmsKey)) throw error
    return false
  }
}

/** Throws 503 `unavailable` if the row of a key was changed, or is not ours. */
export async function requireAuthenticKey<Key extends StoredKey>(
  services: AuthenticServices,
  orgId: string,
  key: Key,
): Promise<Key> {
  const found = await checkKey(services, orgId, key)
  if (found !== null) throw reportForgery(services, found)
  return key
}

/** Says in the log what a request must not be answered with. */
export function reportForgery({ log }: Pick<Services, 'log'>, found: RowBreak): ApiError {
  log.error(found, 'A row of the provenance was not stored by this server')
  return createForgeryError(found)
}
