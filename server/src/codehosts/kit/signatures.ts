import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Compares two texts in constant time. Digests have one length, whatever was sent. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether a header is `sha256=` and the HMAC of the bytes of the body. False without a secret. */
export function isSignedBy(secret: string, body: Buffer, header: unknown): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return secret !== '' && isSameText(String(header ?? ''), expected)
}
