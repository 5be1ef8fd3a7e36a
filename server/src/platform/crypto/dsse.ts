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
