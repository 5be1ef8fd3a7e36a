import { sign } from 'node:crypto'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { signWithKms } from './kms-key.ts'
import { requireCurrentKey } from './rotate-key.ts'
import { getPublicKey, type SigningKey, sealLabel } from './signing-key.ts'

/** Signs with an organization's current key: ECDSA P-256 with SHA-256. */
type Signer = {
  /** Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
  keyid: string
  /** Returns a DER signature. Throws `ApiError` 503 if AWS KMS cannot be used. */
  sign(bytes: Buffer): Promise<Buffer>
}

/** The signer of an organization. Its key is made on first use. */
export async function loadCurrentSigner(
  services: Pick<Services, 'sql' | 'clock' | 'config' | 'sealingKey'>,
  orgId: string,
): Promise<Signer> {
  const key = await requireCurrentKey(services, orgId)
  return { keyid: key.keyid, sign: signWith(services, orgId, key) }
}

function signWith({ sealingKey }: Pick<Services, 'sealingKey'>, orgId: string, key: SigningKey): Signer['sign'] {
  const { kms_key, sealed_private_key } = key
  if (kms_key !== null) return (bytes) => signWithKms(kms_key, getPublicKey(key), bytes)
  const privateKey = openSealedText(sealingKey, sealLabel(orgId, key.keyid), sealed_private_key)
  return async (bytes) => sign('sha256', bytes, privateKey)
}
