import { hash } from 'node:crypto'
import type { Environment } from '../config.ts'
import { createRandomBase62, hasChecksum, withChecksum } from '../platform/crypto/token.ts'

const SECRET_CHARS = 40
const PREFIXES: Record<Environment, string> = { production: 'shl_live_', development: 'shl_dev_' }
const FORM = /^(shl_live_|shl_dev_)[0-9A-Za-z]{46}$/

/**
 * Generates a key: prefix, 40 random base62 characters (238 bits), and a CRC-32 of both in base62
 * (decisions §3).
 */
export function createKeyText(environment: Environment): string {
  return withChecksum(PREFIXES[environment] + createRandomBase62(SECRET_CHARS))
}

/**
 * True if the text has the form of a key of this environment. The CRC-32 refuses mistyped keys
 * without a query.
 */
export function isApiKey(text: string, environment: Environment): boolean {
  return FORM.test(text) && text.startsWith(PREFIXES[environment]) && hasChecksum(text)
}

/**
 * The hash that is stored. Keys are long and random, so a plain SHA-256 cannot be reversed by
 * guessing.
 */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
