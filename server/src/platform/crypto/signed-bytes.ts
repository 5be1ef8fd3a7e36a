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
