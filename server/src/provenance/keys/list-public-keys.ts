import { requireCurrentKey } from './rotate-key.ts'
import { listKeys } from './signing-key.store.ts'
import { KEY_ALGORITHM } from './signing-key.ts'

type PublicKey = { keyid: string; alg: string; pem: string; created_at: string; retired_at: string | null }

/**
 * The public keys of an organization, current first. The first key is made if there is none. Keys
 * that were made before are listed even if the next one, in AWS KMS, cannot be read: they verify
 * what was signed.
 */
export async function listPublicKeys(
  services: Parameters<typeof requireCurrentKey>[0],
  orgId: string,
): Promise<PublicKey[]> {
  const failure = await requireCurrentKey(services, orgId).then(
    () => null,
    (error: unknown) => ({ error }),
  )
  const keys = await listKeys(services.sql, orgId)
  if (failure !== null && keys.length === 0) throw failure.error
  return keys.map(({ keyid, pem, created_at, retired_at }) => ({
    keyid,
    alg: KEY_ALGORITHM,
    pem,
    created_at: created_at.toISOString(),
    retired_at: retired_at?.toISOString() ?? null,
  }))
}
