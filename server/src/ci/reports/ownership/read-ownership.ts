import { ObjectNotFoundError, type ObjectStore } from '../../../platform/objects/object-store.ts'
import type { Services } from '../../../services.ts'
import { artifactKey } from '../../artifacts/artifact-object.ts'
import { type ArtifactKey, lockNaming, updateParsed } from '../attestation.store.ts'
import { deriveStatus, type Ownership } from '../attestation.ts'
import { OWNERSHIP_BYTES_MAX, parseOwnership } from './ownership-file.parser.ts'

/**
 * Reads the file that ownership attestations name, and stores the result with them. A file that was
 * replaced in the meantime is not read.
 */
export async function readOwnership(
  services: Services,
  { org_id, artifact_id }: { org_id: string; artifact_id: string },
): Promise<void> {
  const artifact: ArtifactKey = { org_id, id: artifact_id }
  const file = await readStart(services.objects, artifactKey(org_id, artifact_id))
  if (file === null) return
  await services.sql.begin(async (tx) => {
    for (const { id, data } of await lockNaming(tx, artifact, ['ownership'])) {
      const parsed = parseOwnership(file, (data as { format: Ownership['format'] }).format)
      const status = deriveStatus('ownership', data, parsed)
      await updateParsed(tx, org_id, { id, parsed, status }, services.clock.now())
    }
  })
}

/** The bytes of an object up to the first chunk above the limit; null if it does not exist. */
async function readStart(objects: ObjectStore, key: string): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of objects.read(key)) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes > OWNERSHIP_BYTES_MAX) break
    }
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null
    throw error
  }
  return Buffer.concat(chunks)
}
