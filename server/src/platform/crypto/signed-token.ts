import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/** Longer texts are refused before anything is computed over them. */
const TOKEN_CHARS_MAX = 8192

/**
 * A small JSON payload that only the holder of `key` can have written: `base64url(payload).base64url(hmac-sha256)`.
 * The payload is readable to whoever has the token, so nothing secret belongs in it. Use a key of its own for every
 * purpose (`deriveKey`), or a token made for one purpose would open as another.
 */
export function sealToken(key: KeyObject, payload: object): string {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${text}.${signature(key, text)}`
}

/** What was sealed, or null when the token was not made with `key` or is not exactly as it was made. Knows no expiry. */
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

/** Compares the texts, not the bytes they decode to: several base64url texts decode to the same bytes, only one was issued. */
function equalTexts(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}
