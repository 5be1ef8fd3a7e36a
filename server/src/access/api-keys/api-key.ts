import { hash } from 'node:crypto'
import type { Environment } from '../../config.ts'
import { hasChecksum, randomBase62, withChecksum } from '../../platform/crypto/checked-token.ts'

const SECRET_CHARS = 40
const PREFIXES: Record<Environment, string> = { production: 'shl_live_', development: 'shl_dev_' }
const FORM = /^(shl_live_|shl_dev_)[0-9A-Za-z]{46}$/

/** A new key: prefix, 40 random base62 characters (238 bits), and the CRC-32 of both in base62 (decisions §3). */
export function generateApiKey(environment: Environment): string {
  return withChecksum(PREFIXES[environment] + randomBase62(SECRET_CHARS))
}

/** True for a text that can be a key of this environment; the CRC stops mistyped keys before any look-up. */
export function isApiKey(text: string, environment: Environment): boolean {
  return FORM.test(text) && text.startsWith(PREFIXES[environment]) && hasChecksum(text)
}

/** What is stored of a key. It is random and long, so a plain SHA-256 cannot be searched backwards. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
