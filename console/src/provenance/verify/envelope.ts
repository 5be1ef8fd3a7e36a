import type { Schema } from '../../api/client.ts'
import { type Bytes, concat, fromBase64, sha256, toHex, utf8 } from './bytes.ts'
import { Refused } from './statement.ts'

export type SignedStatement = Schema<'SignedStatement'>
export type PublicKey = Pick<Schema<'SigningKeys'>['keys'][number], 'keyid' | 'pem'>

const P256_BYTES = 32

export function payloadOf({ envelope }: SignedStatement): Bytes {
  return decode(envelope.payload, 'The payload')
}

/** Finds the key that made the signature (DSSE v1). The name of the key in the signature is only a hint. */
export async function findSigner({ envelope }: SignedStatement, keys: readonly PublicKey[]): Promise<PublicKey> {
  const [signature, ...others] = envelope.signatures
  if (signature === undefined || others.length > 0)
    throw new Refused('The statement does not have exactly one signature.')
  const signed = preAuthEncoding(envelope.payloadType, payloadOf({ envelope } as SignedStatement))
  const plain = plainSignature(decode(signature.sig, 'The signature'))
  for (const key of keys) if (await isSignedBy(key, plain, signed)) return checkKeyid(key, signature.keyid)
  if (keys.some(({ keyid }) => keyid === signature.keyid))
    throw new Refused('The signature does not fit the payload: the statement was changed, or another key signed it.')
  throw new Refused(`The signature names the key ${signature.keyid}, which is not a key of this organization.`)
}

function checkKeyid(key: PublicKey, keyid: string): PublicKey {
  if (keyid === key.keyid) return key
  throw new Refused(`The key ${key.keyid} signed it, but the signature names the key ${keyid}.`)
}

async function isSignedBy({ keyid, pem }: PublicKey, signature: Bytes, signed: Bytes): Promise<boolean> {
  const der = derOf(pem)
  if (toHex(await sha256(der)) !== keyid)
    throw new Refused(`The key ${keyid} does not have the fingerprint that it states.`)
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const key = await crypto.subtle.importKey('spki', der, algorithm, false, ['verify']).catch(() => {
    throw new Refused(`The key ${keyid} is not a key on the curve P-256.`)
  })
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, signed)
}

/** The bytes that a DSSE signature covers (DSSE v1, "PAE"). */
function preAuthEncoding(payloadType: string, payload: Bytes): Bytes {
  const type = utf8(payloadType)
  return concat(utf8(`DSSEv1 ${type.length} `), type, utf8(` ${payload.length} `), payload)
}

/** WebCrypto takes two numbers of 32 bytes; the statement has them in DER (RFC 3279 §2.2.3). */
function plainSignature(der: Bytes): Bytes {
  const malformed = new Refused('The signature does not have the form of an ECDSA signature.')
  if (der[0] !== 0x30 || der[1] !== der.length - 2) throw malformed
  const numbers: Bytes[] = []
  for (let at = 2; at < der.length; ) {
    const end = at + 2 + (der[at + 1] ?? 0)
    if (der[at] !== 0x02 || end > der.length) throw malformed
    numbers.push(padded(der.slice(at + 2, end), malformed))
    at = end
  }
  if (numbers.length !== 2) throw malformed
  return concat(...numbers)
}

/** DER leaves out leading zeros, and adds one in front of a high bit. */
function padded(number: Bytes, malformed: Refused): Bytes {
  const significant = number.length > P256_BYTES && number[0] === 0 ? number.slice(1) : number
  if (significant.length > P256_BYTES) throw malformed
  return concat(new Uint8Array(P256_BYTES - significant.length), significant)
}

function derOf(pem: string): Bytes {
  return decode(pem.replace(/-----[^-]+-----|\s/g, ''), 'The public key')
}

function decode(text: string, what: string): Bytes {
  const bytes = fromBase64(text)
  if (bytes === null) throw new Refused(`${what} is not base64.`)
  return bytes
}
