import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { hasChecksum, toBase62, withChecksum } from '../../platform/crypto/checked-token.ts'

/** How long a poll token works (specification, "Limits"). */
export const POLL_TOKEN_LIFETIME_MS = 12 * 60 * 60_000

const PREFIX = 'shl_gate_'
const SECRET_CHARS = 40
const FORM = /^shl_gate_[0-9A-Za-z]{46}$/

/**
 * The poll token of an opened gate: prefix, 40 base62 characters (238 bits) and their CRC-32, as in an API key. It
 * follows from the gate and the time of its issue, so that whoever opens the gate again gets the same one although
 * only its hash is stored.
 */
export function pollToken(key: KeyObject, gateId: string, issuedAt: Date): string {
  const secret = createHmac('sha256', key).update(`${gateId} ${issuedAt.toISOString()}`).digest()
  return withChecksum(PREFIX + toBase62(secret, SECRET_CHARS))
}

/** True for a text that can be a poll token. */
export function isPollToken(text: string): boolean {
  return FORM.test(text) && hasChecksum(text)
}

export function hashPollToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Is this the token of that hash? Takes as long for a wrong one. */
export function isTokenOf(token: string, sha256: Buffer): boolean {
  return timingSafeEqual(hashPollToken(token), sha256)
}
