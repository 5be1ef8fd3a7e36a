import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { openSealedText, sealText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import type { Signer } from './signer.ts'
import { findCurrentKey, insertKey } from './signing-key.store.ts'

/** The signer of an organization. Its key is generated on first use. */
export async function currentSigner(services: Services, orgId: string): Promise<Signer> {
  const key = (await findCurrentKey(services.sql, orgId)) ?? (await generateKey(services, orgId))
  const pem = openSealedText(services.sealingKey, labelOf(orgId, key.keyid), key.sealed_private_key)
  return { keyid: key.keyid, sign: async (bytes) => sign('sha256', bytes, pem) }
}

async function generateKey({ sql, sealingKey, clock }: Services, orgId: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
  await insertKey(sql, {
    org_id: orgId,
    keyid,
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    sealed_private_key: sealText(
      sealingKey,
      labelOf(orgId, keyid),
      privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    ),
    created_at: clock.now(),
  })
  const key = await findCurrentKey(sql, orgId)
  if (key === null) throw new Error('The organization has no current signing key.')
  return key
}

function labelOf(orgId: string, keyid: string): string {
  return `signing key ${orgId} ${keyid}`
}
