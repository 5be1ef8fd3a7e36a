import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Bytes } from '../bytes.ts'
import type { VerifySignature } from './crypto.ts'

const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** As `Crypto` describes them. */
export async function sha256(...parts: readonly Bytes[]): Promise<Bytes> {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest())
}

export async function readP256Key(spki: Bytes): Promise<VerifySignature | null> {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return null
  return async (signed, signature) => verify('sha256', signed, { key, dsaEncoding: 'der' }, signature)
}

export function readEd25519Key(raw: Bytes): VerifySignature {
  const key = createPublicKey({ key: Buffer.concat([ED25519_SPKI, raw]), format: 'der', type: 'spki' })
  return async (signed, signature) => verify(null, signed, key, signature)
}
