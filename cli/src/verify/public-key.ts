import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { Refused } from './checks.ts'

/** `keyid`: lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
export type PublicKey = { keyid: string; key: KeyObject }

const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g

/** Reads the P-256 keys of a PEM file. `what` names the file in error messages. */
export function readPublicKeys(text: string, what: string): PublicKey[] {
  const blocks = [...text.matchAll(PEM)]
  if (blocks.length === 0) throw new Refused(`${what} contains no key in the PEM form ("-----BEGIN PUBLIC KEY-----")`)
  return blocks.map(([pem, label]) => {
    if (label !== 'PUBLIC KEY') throw new Refused(`${what} must contain public keys only. It contains "${label}"`)
    return readPublicKey(pem, what)
  })
}

function readPublicKey(pem: string, what: string): PublicKey {
  const key = parsePublicKey(pem, what)
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Refused(`${what} must contain keys on the curve P-256`)
  const der = key.export({ type: 'spki', format: 'der' })
  return { keyid: createHash('sha256').update(der).digest('hex'), key }
}

function parsePublicKey(pem: string, what: string): KeyObject {
  try {
    return createPublicKey(pem)
  } catch {
    throw new Refused(`${what} contains a key that cannot be read`)
  }
}
