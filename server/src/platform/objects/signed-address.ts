import type { KeyObject } from 'node:crypto'
import { openToken, sealToken } from '../crypto/signed-token.ts'
import { invalidSignature, urlExpired } from './errors.ts'
import { ADDRESS_LIFETIME_MS, type ExpectedObject } from './object-store.ts'

/** The path of all object addresses. What an address permits is in its token, not in the path. */
export const STORAGE_PATH = '/storage/objects'

/** What an address permits. These names are part of the signed token. */
export type PutGrant = { method: 'PUT'; key: string; expected: ExpectedObject }
type Sealed = PutGrant & { expires_at_ms: number }

/** Returns an address with this grant and the time of its expiry. */
export function sealAddress(signingKey: KeyObject, baseUrl: string, grant: PutGrant, now: Date) {
  const expires_at = new Date(now.getTime() + ADDRESS_LIFETIME_MS)
  const token = sealToken(signingKey, { ...grant, expires_at_ms: expires_at.getTime() } satisfies Sealed)
  return { url: `${baseUrl}${STORAGE_PATH}?token=${token}`, expires_at }
}

/** Returns what the token permits. Throws 403 `invalid_signature` or `url_expired`. */
export function openAddress(signingKey: KeyObject, token: unknown, now: Date): PutGrant {
  const grant = typeof token === 'string' ? openToken<Sealed>(signingKey, token) : null
  if (grant?.method !== 'PUT')
    throw invalidSignature(
      'The URL is not valid for this request. Send the request to the URL exactly as it was returned.',
    )
  if (grant.expires_at_ms <= now.getTime()) throw urlExpired()
  return grant
}

export const CHECKSUM_HEADER = 'x-storage-checksum-sha256'

/** Headers that clients must send with a PUT, exactly (specification, "Security upload"). */
export function getPutHeaders({ contentType, sha256 }: ExpectedObject): Record<string, string> {
  return { 'Content-Type': contentType, [CHECKSUM_HEADER]: Buffer.from(sha256, 'hex').toString('base64') }
}
