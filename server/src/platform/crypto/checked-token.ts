import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

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
