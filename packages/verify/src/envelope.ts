import { type Bytes, concat, utf8 } from './bytes.ts'
import { Refused } from './checks.ts'
import { type Fields, HEX_256 } from './fields.ts'
import type { PublicKey } from './public-key.ts'

/** A DSSE envelope with one signature. `keyid` is null if the signature names no key. */
export type Envelope = { payloadType: string; payload: Bytes; signature: { keyid: string | null; sig: Bytes } }

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
function preAuthEncoding(payloadType: string, payload: Bytes): Bytes {
  const type = utf8(payloadType)
  return concat(utf8(`DSSEv1 ${type.length} `), type, utf8(` ${payload.length} `), payload)
}

/**
 * Returns the key that made the signature. Tries every key, because anybody can change the keyid.
 * A keyid that names another key than the one that signed is refused.
 */
export async function findSigner(
  { payloadType, payload, signature }: Envelope,
  keys: readonly PublicKey[],
): Promise<PublicKey> {
  const bytes = preAuthEncoding(payloadType, payload)
  for (const key of keys) if (await key.verify(bytes, signature.sig)) return checkKeyid(key, signature.keyid)
  throw new Refused(describeMismatch(signature.keyid, keys))
}

function checkKeyid(signer: PublicKey, keyid: string | null): PublicKey {
  if (keyid === null || keyid === signer.keyid) return signer
  throw new Refused(`the key ${signer.keyid} signed it, but the signature names the key ${keyid}`)
}

function describeMismatch(keyid: string | null, keys: readonly PublicKey[]): string {
  if (keyid === null || keys.some((key) => key.keyid === keyid))
    return 'the signature does not fit the payload: the statement was changed, or another key signed it'
  return `the signature names the key ${keyid}, and none of the given keys made it`
}
