import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

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
