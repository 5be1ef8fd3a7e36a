import { readP256Key, sha256 } from '#crypto'
import { fromBase64, toHex } from './bytes.ts'
import { Refused } from './checks.ts'
import type { VerifySignature } from './crypto/crypto.ts'

/** `keyid`: lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
export type PublicKey = { keyid: string; verify: VerifySignature }

const PEM = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g

/** Reads the P-256 keys of a PEM file. `what` names the file in error messages. */
export async function readPublicKeys(text: string, what: string): Promise<PublicKey[]> {
  const blocks = [...text.matchAll(PEM)]
  if (blocks.length === 0) throw new Refused(`${what} contains no key in the PEM form ("-----BEGIN PUBLIC KEY-----")`)
  const keys: PublicKey[] = []
  for (const [, label, contents = ''] of blocks) {
    if (label !== 'PUBLIC KEY') throw new Refused(`${what} must contain public keys only. It contains "${label}"`)
    keys.push(await readPublicKey(contents, what))
  }
  return keys
}

async function readPublicKey(contents: string, what: string): Promise<PublicKey> {
  const unreadable = new Refused(`${what} contains a key that cannot be read`)
  const spki = fromBase64(contents.replace(/\s/g, ''))
  if (spki === null) throw unreadable
  const verify = await readP256Key(spki).catch(() => {
    throw unreadable
  })
  if (verify === null) throw new Refused(`${what} must contain keys on the curve P-256`)
  return { keyid: toHex(await sha256(spki)), verify }
}
