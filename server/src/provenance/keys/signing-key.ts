import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import { sealText } from '../../platform/crypto/sealed-text.ts'

/** ECDSA P-256 with SHA-256, in the form that the API shows. */
export const KEY_ALGORITHM = 'ecdsa-p256-sha256'

/** A key pair: the private key is sealed in the database, or stays in AWS KMS. */
export type KeyPair = {
  /** Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
  keyid: string
  /** The public key, as a PEM SubjectPublicKeyInfo. */
  pem: string
} & ({ sealed_private_key: string; kms_key: null } | { sealed_private_key: null; kms_key: string })

export type SigningKey = KeyPair & { created_at: Date; retired_at: Date | null }

/** Generates a key pair whose private key is sealed for this organization. */
export function createKeyPair(sealingKey: KeyObject, orgId: string): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = encodePublicKey(publicKey)
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { ...name, sealed_private_key: sealText(sealingKey, sealLabel(orgId, name.keyid), secret), kms_key: null }
}

export function encodePublicKey(publicKey: KeyObject): { keyid: string; pem: string } {
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return {
    keyid: hash('sha256', der, 'hex'),
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  }
}

export function getPublicKey({ pem }: KeyPair): KeyObject {
  return createPublicKey(pem)
}

/** Names the row of a sealed private key, so that it cannot be used in another one. */
export function sealLabel(orgId: string, keyid: string): string {
  return `signing key ${orgId} ${keyid}`
}
