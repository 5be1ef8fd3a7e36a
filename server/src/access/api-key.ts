import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../config.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_CHARS = 40
const CHECKSUM_CHARS = 6
const PREFIXES: Record<Environment, string> = { production: 'shl_live_', development: 'shl_dev_' }
const FORM = /^(shl_live_|shl_dev_)[0-9A-Za-z]{46}$/

/** A new key: prefix, 40 random base62 characters (238 bits), and the CRC-32 of both in base62 (decisions §3). */
export function generateApiKey(environment: Environment): string {
  const secret = Array.from({ length: SECRET_CHARS }, () => BASE62[randomInt(BASE62.length)]).join('')
  const body = PREFIXES[environment] + secret
  return body + checksum(body)
}

/** True for a text that can be a key of this environment; the CRC stops mistyped keys before any look-up. */
export function isApiKey(text: string, environment: Environment): boolean {
  if (!FORM.test(text) || !text.startsWith(PREFIXES[environment])) return false
  const body = text.slice(0, -CHECKSUM_CHARS)
  return text.endsWith(checksum(body))
}

/** What is stored of a key. It is random and long, so a plain SHA-256 cannot be searched backwards. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < CHECKSUM_CHARS; place += 1) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
