import type { KeyObject } from 'node:crypto'
import { openToken, sealToken } from '../crypto/signed-token.ts'
import { ApiError } from '../http/errors.ts'
import { ADDRESS_LIFETIME_MS, type ExpectedObject } from './object-store.ts'

/** Where the server takes and hands out objects. What an address is for stands in its token alone, not in its path. */
export const STORAGE_PATH = '/storage/objects'

/** What an address allows. The names are on the wire inside the token, and all of it is signed. */
export type PutGrant = { method: 'PUT'; key: string; expected: ExpectedObject }
export type GetGrant = { method: 'GET'; key: string; filename: string }
type Sealed<Grant> = Grant & { expires_at_ms: number }

/** Writes the address that carries `grant`, and says until when it does. */
export function sealAddress(signingKey: KeyObject, baseUrl: string, grant: PutGrant | GetGrant, now: Date) {
  const expires_at = new Date(now.getTime() + ADDRESS_LIFETIME_MS)
  const token = sealToken(signingKey, { ...grant, expires_at_ms: expires_at.getTime() } satisfies Sealed<typeof grant>)
  return { url: `${baseUrl}${STORAGE_PATH}?token=${token}`, expires_at }
}

/** What the token grants for this method. 403 `invalid_signature` or `url_expired` when that is nothing. */
export function openAddress<Grant extends PutGrant | GetGrant>(
  signingKey: KeyObject,
  method: Grant['method'],
  token: unknown,
  now: Date,
): Grant {
  const grant = typeof token === 'string' ? openToken<Sealed<Grant>>(signingKey, token) : null
  if (grant?.method !== method) throw invalidSignature('This address was not given out for this request.')
  if (grant.expires_at_ms <= now.getTime())
    throw new ApiError(403, 'url_expired', 'This address has expired. Ask for a new one.')
  return grant
}

export function invalidSignature(message: string): ApiError {
  return new ApiError(403, 'invalid_signature', message)
}

export const CHECKSUM_HEADER = 'x-storage-checksum-sha256'

/** The headers that go with a PUT address of the file store, to be sent exactly. Names as in the specification, "Security upload". */
export function putHeaders({ contentType, sha256 }: ExpectedObject): Record<string, string> {
  return { 'Content-Type': contentType, [CHECKSUM_HEADER]: Buffer.from(sha256, 'hex').toString('base64') }
}
