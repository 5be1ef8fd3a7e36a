import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { hasChecksum, toBase62, withChecksum } from '../../platform/crypto/checked-token.ts'

/** Lifetime of a poll token (specification, "Limits"). */
export const POLL_TOKEN_LIFETIME_MS = 12 * 60 * 60_000

const PREFIX = 'shl_gate_'
const SECRET_CHARS = 40
const FORM = /^shl_gate_[0-9A-Za-z]{46}$/

/**
 * Derives the poll token of an opened gate: prefix, 40 base62 characters (238 bits) and a CRC-32,
 * as in an API key. The same gate and issue time give the same token, so opening the gate again
 * returns it although only its hash is stored.
 */
export function computePollToken(key: KeyObject, gateId: string, issuedAt: Date): string {
  const secret = createHmac('sha256', key).update(`${gateId} ${issuedAt.toISOString()}`).digest()
  return withChecksum(PREFIX + toBase62(secret, SECRET_CHARS))
}

/** True if the text has the form of a poll token and a correct CRC-32. */
export function isPollToken(text: string): boolean {
  return FORM.test(text) && hasChecksum(text)
}

export function hashPollToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** True if the token has this hash. Compares in constant time. */
export function verifyPollToken(token: string, sha256: Buffer): boolean {
  return timingSafeEqual(hashPollToken(token), sha256)
}
