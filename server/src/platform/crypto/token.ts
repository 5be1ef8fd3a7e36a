import { createHmac, type KeyObject, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Longer texts are refused without computing anything. */
const TOKEN_CHARS_MAX = 8192

/**
 * Signs a small JSON payload: `base64url(payload).base64url(hmac-sha256)`. Only the holder of `key`
 * can create it, but anyone can read it, so it must not contain secrets. Use a separate key for
 * each purpose (`computeDerivedKey`). Otherwise a token of one purpose would be valid for another.
 */
export function sealToken(key: KeyObject, payload: object): string {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${text}.${signature(key, text)}`
}

/**
 * Returns the payload, or null unless the token was created with `key` and is unchanged. Does not
 * check any expiry.
 */
export function openToken<Payload extends object>(key: KeyObject, token: string): Payload | null {
  if (token.length > TOKEN_CHARS_MAX) return null
  const dot = token.indexOf('.')
  if (dot < 0) return null
  const text = token.slice(0, dot)
  if (!equalTexts(token.slice(dot + 1), signature(key, text))) return null
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as Payload
}

function signature(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

/**
 * Compares the texts instead of the decoded bytes: several base64url texts decode to the same
 * bytes.
 */
function equalTexts(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_CHARS = 6

/** Returns random base62 characters, 5.95 bits each. */
export function createRandomBase62(chars: number): string {
  return Array.from({ length: chars }, () => BASE62[randomInt(BASE62.length)]).join('')
}

/** Returns the last base62 digits of the bytes, read as one number. */
export function toBase62(bytes: Buffer, chars: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let digit = 0; digit < chars; digit += 1) {
    text = BASE62[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}

/**
 * Appends the CRC-32 in base62, so that a mistyped secret is refused without a lookup, and scanners
 * can recognize it.
 */
export function withChecksum(body: string): string {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return body + toBase62(checksum, CHECKSUM_CHARS)
}

export function hasChecksum(token: string): boolean {
  return token === withChecksum(token.slice(0, -CHECKSUM_CHARS))
}
