import { ObjectNotFoundError, type ObjectStore } from '../../../platform/objects/object-store.ts'
import type { Services } from '../../../services.ts'
import { formatArtifactKey } from '../../artifacts/artifact-object.ts'
import type { Ownership } from '../attestation.ts'
import { recordRead } from '../store-attestations.ts'
import { OWNERSHIP_BYTES_MAX, parseOwnership } from './ownership-file.parser.ts'

/**
 * Reads the file that ownership attestations name, and stores the result with them. A file that was
 * replaced in the meantime is not read.
 */
export async function readOwnership(
  services: Services,
  { org_id, artifact_id }: { org_id: string; artifact_id: string },
): Promise<void> {
  const file = await readStart(services.objects, formatArtifactKey(org_id, artifact_id))
  if (file === null) return
  const read = (data: object) => parseOwnership(file, (data as Pick<Ownership, 'format'>).format)
  await services.sql.begin((tx) =>
    recordRead(tx, { org_id, id: artifact_id }, { kinds: ['ownership'], read }, services.clock.now()),
  )
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
