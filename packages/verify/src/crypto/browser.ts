import { type Bytes, concat, fromHex, isEqual } from '../bytes.ts'
import { Unsupported, type VerifySignature } from './crypto.ts'

const P256_BYTES = 32
/** What a P-256 key begins with: the algorithm and its curve, and the length of the point. */
const P256_SPKI = fromHex('3059301306072a8648ce3d020106082a8648ce3d030107034200')

/** As `Crypto` describes them. */
export async function sha256(...parts: readonly Bytes[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', concat(...parts)))
}

export async function readP256Key(spki: Bytes): Promise<VerifySignature | null> {
  if (!isEqual(spki.slice(0, P256_SPKI.length), P256_SPKI)) return null
  const key = await crypto.subtle.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
  return async (signed, signature) => {
    const plain = plainSignature(signature)
    return plain !== null && crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, plain, signed)
  }
}

export function readEd25519Key(raw: Bytes): VerifySignature {
  return async (signed, signature) => {
    const key = await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']).catch(() => {
      throw new Unsupported('Ed25519 signatures cannot be verified here')
    })
    return crypto.subtle.verify('Ed25519', key, signature, signed)
  }
}

/**
 * WebCrypto takes two numbers of 32 bytes; the statement has them in DER (RFC 3279 §2.2.3). Null for
 * what is not in DER, which allows one form only.
 */
function plainSignature(der: Bytes): Bytes | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null
  const numbers: Bytes[] = []
  for (let at = 2; at < der.length; ) {
    const end = at + 2 + (der[at + 1] ?? 0)
    const number = der[at] === 0x02 && end <= der.length ? padded(der.slice(at + 2, end)) : null
    if (number === null) return null
    numbers.push(number)
    at = end
  }
  return numbers.length === 2 ? concat(...numbers) : null
}

/** DER leaves out leading zeros, and adds one in front of a high bit, which would be a minus. */
function padded(number: Bytes): Bytes | null {
  const [first = 0x80, second = 0] = number
  if (first >= 0x80 || (first === 0 && number.length > 1 && second < 0x80)) return null
  const significant = first === 0 ? number.slice(1) : number
  if (significant.length > P256_BYTES) return null
  return concat(new Uint8Array(P256_BYTES - significant.length), significant)
}
