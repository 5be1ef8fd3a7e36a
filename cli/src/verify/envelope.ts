import { verify } from 'node:crypto'
import { Refused } from './checks.ts'
import { type Fields, HEX_256 } from './fields.ts'
import type { PublicKey } from './public-key.ts'

/** A DSSE envelope with one signature. `keyid` is null if the signature names no key. */
export type Envelope = { payloadType: string; payload: Buffer; signature: { keyid: string | null; sig: Buffer } }

/** Reads the JSON form of an envelope (DSSE v1). Shiplock signs with one key. */
export function readEnvelope(fields: Fields): Envelope {
  fields.only(['payloadType', 'payload', 'signatures'])
  const [signature, ...others] = fields.objects('signatures')
  if (signature === undefined || others.length > 0) throw fields.refusal('signatures', 'a list of one signature')
  signature.only(['keyid', 'sig'])
  return {
    payloadType: fields.string('payloadType'),
    payload: fields.base64('payload'),
    signature: { keyid: readKeyid(signature), sig: signature.base64('sig') },
  }
}

/** An empty keyid means the same as none (DSSE v1). */
function readKeyid(signature: Fields): string | null {
  if (!Object.hasOwn(signature.json, 'keyid') || signature.json.keyid === '') return null
  return signature.string('keyid', HEX_256)
}

/** The bytes that a DSSE signature covers (DSSE v1, "PAE"). */
export function preAuthEncoding(payloadType: string, payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `),
    payload,
  ])
}

/**
 * Returns the key that made the signature. Tries every key, because anybody can change the keyid.
 * A keyid that names another key than the one that signed is refused.
 */
export function findSigner({ payloadType, payload, signature }: Envelope, keys: PublicKey[]): PublicKey {
  const bytes = preAuthEncoding(payloadType, payload)
  const signer = keys.find(({ key }) => verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature.sig))
  if (signer === undefined) throw new Refused(describeMismatch(signature.keyid, keys))
  if (signature.keyid !== null && signature.keyid !== signer.keyid)
    throw new Refused(`the key ${signer.keyid} signed it, but the signature names the key ${signature.keyid}`)
  return signer
}

function describeMismatch(keyid: string | null, keys: PublicKey[]): string {
  if (keyid === null || keys.some((key) => key.keyid === keyid))
    return 'the signature does not fit the payload: the statement was changed, or another key signed it'
  return `the signature names the key ${keyid}, and none of the given keys made it`
}
