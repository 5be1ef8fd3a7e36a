import { isUtf8 } from 'node:buffer'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** What hosts may use as the id of a delivery. */
const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/
/** Events and their actions. */
const NAME = /^[\w.-]{1,100}$/
const SIGNATURE = /^sha256=[0-9a-f]{64}$/

/** The JSON of a delivery; undefined if the body is none. */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(isUtf8(body) ? body.toString() : '')
  } catch {
    return undefined
  }
}

export function isDeliveryId(value: unknown): value is string {
  return typeof value === 'string' && DELIVERY_ID.test(value)
}

export function isEventName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

/** What is at this path of a payload that has not been checked. */
export function getField(payload: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (object, name) =>
      typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined,
    payload,
  )
}

/** The lane of an object. Null if the payload does not state one of its ids. */
export function formatLane(object: string, ...ids: (string | null)[]): string | null {
  return ids.includes(null) ? null : [object, ...ids].join(':')
}

/** Compares two texts in constant time. Digests have one length, whatever was sent. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether a header has the form of the signatures that `isSignedBy` checks. */
export function isSignature(header: unknown): boolean {
  return typeof header === 'string' && SIGNATURE.test(header)
}

/** Whether a header is `sha256=` and the HMAC of the bytes of the body. False without a secret. */
export function isSignedBy(secret: string, body: Buffer, header: unknown): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return secret !== '' && isSameText(String(header ?? ''), expected)
}
