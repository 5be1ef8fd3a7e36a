import { createHash } from 'node:crypto'
import { ObjectNotFoundError, type ObjectStore } from './object-store.ts'

export type Mismatch = 'missing' | 'size_mismatch' | 'checksum_mismatch'

/**
 * Returns what is wrong with a stored object, or null. Reads the object only if the store does not
 * know its checksum.
 */
export async function findMismatch(
  store: ObjectStore,
  key: string,
  expected: { sizeBytes: number; sha256: string },
): Promise<Mismatch | null> {
  const stored = await store.stat(key)
  if (!stored) return 'missing'
  if (stored.sizeBytes !== expected.sizeBytes) return 'size_mismatch'
  const sha256 = stored.sha256 ?? (await hashObject(store, key))
  if (sha256 === null) return 'missing'
  return sha256 === expected.sha256 ? null : 'checksum_mismatch'
}

/** Returns null if the object was removed meanwhile. */
async function hashObject(store: ObjectStore, key: string): Promise<string | null> {
  const digest = createHash('sha256')
  try {
    for await (const chunk of store.read(key)) digest.update(chunk)
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null
    throw error
  }
  return digest.digest('hex')
}
