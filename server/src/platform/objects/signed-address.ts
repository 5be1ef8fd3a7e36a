import type { KeyObject } from 'node:crypto'
import { openToken, sealToken } from '../crypto/signed-token.ts'
import { ApiError } from '../http/errors.ts'
import { ADDRESS_LIFETIME_MS, type ExpectedObject } from './object-store.ts'

/** The path of all object addresses. What an address permits is in its token, not in the path. */
export const STORAGE_PATH = '/storage/objects'

/** What an address permits. These names are part of the signed token. */
export type PutGrant = { method: 'PUT'; key: string; expected: ExpectedObject }
export type GetGrant = { method: 'GET'; key: string; filename: string }
type Sealed<Grant> = Grant & { expires_at_ms: number }

/** Returns an address with this grant and the time of its expiry. */
export function sealAddress(signingKey: KeyObject, baseUrl: string, grant: PutGrant | GetGrant, now: Date) {
  const expires_at = new Date(now.getTime() + ADDRESS_LIFETIME_MS)
  const token = sealToken(signingKey, { ...grant, expires_at_ms: expires_at.getTime() } satisfies Sealed<typeof grant>)
  return { url: `${baseUrl}${STORAGE_PATH}?token=${token}`, expires_at }
}

/**
 * Returns what the token permits for this method. Throws 403 `invalid_signature` or `url_expired`.
 */
export function openAddress<Grant extends PutGrant | GetGrant>(
  signingKey: KeyObject,
  method: Grant['method'],
  token: unknown,
  now: Date,
): Grant {
  const grant = typeof token === 'string' ? openToken<Sealed<Grant>>(signingKey, token) : null
  if (grant?.method !== method)
    throw invalidSignature(
      'The URL is not valid for this request. Send the request to the URL exactly as it was returned.',
    )
  if (grant.expires_at_ms <= now.getTime())
    throw new ApiError(
      403,
      'url_expired',
      'The URL has expired. Create the upload or add the artifact again to get a new one.',
    )
  return grant
}

export function invalidSignature(message: string): ApiError {
  return new ApiError(403, 'invalid_signature', message)
}

export const CHECKSUM_HEADER = 'x-storage-checksum-sha256'

/** Headers that clients must send with a PUT, exactly (specification, "Security upload"). */
export function putHeaders({ contentType, sha256 }: ExpectedObject): Record<string, string> {
  return { 'Content-Type': contentType, [CHECKSUM_HEADER]: Buffer.from(sha256, 'hex').toString('base64') }
}
