import { requireCurrentKey } from './rotate-key.ts'
import { listKeys } from './signing-key.store.ts'
import { KEY_ALGORITHM } from './signing-key.ts'

type PublicKey = { keyid: string; alg: string; pem: string }

/** The public keys of an organization, current first. The first key is made if there is none. */
export async function listPublicKeys(
  services: Parameters<typeof requireCurrentKey>[0],
  orgId: string,
): Promise<PublicKey[]> {
  await requireCurrentKey(services, orgId)
  const keys = await listKeys(services.sql, orgId)
  return keys.map(({ keyid, pem }) => ({ keyid, alg: KEY_ALGORITHM, pem }))
}
