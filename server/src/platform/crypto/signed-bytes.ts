import { createHmac, hash, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'

/** A DSSE envelope (DSSE v1, "JSON envelope"). `payload` and `sig` are base64. */
export type DsseEnvelope = {
  payloadType: string
  payload: string
  signatures: { keyid: string; sig: string }[]
}

/** The bytes that a DSSE signature covers (DSSE v1, "PAE"). */
export function encodePreAuth(payloadType: string, payload: Buffer): Buffer {
  const type = Buffer.from(payloadType)
  const head = `DSSEv1 ${type.length} ${payloadType} ${payload.length} `
  return Buffer.concat([Buffer.from(head), payload])
}

/**
 * The canonical form of a JSON value (RFC 8785, JCS). Throws for values that JSON does not have.
 */
export function toCanonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('The value has no JSON form.')
  return text
}

/** A column of a stored row. */
export type RowValue = string | number | boolean | Date | Buffer | null

/**
 * Authenticates a row (HMAC-SHA256), so that access to the database is not enough to forge it. The
 * values begin with the name of the table and what identifies the row: one that is copied to
 * another place does not verify.
 */
export function computeMac(key: KeyObject, values: readonly RowValue[]): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(values.map(toText)))
    .digest()
}

/** SHA-256 of stored values. It stands for a row that does not match. */
export function hashValues(...values: RowValue[]): Buffer {
  return hash('sha256', JSON.stringify(values.map(toText)), 'buffer')
}

function toText(value: RowValue): RowValue {
  return Buffer.isBuffer(value) ? value.toString('hex') : value
}
