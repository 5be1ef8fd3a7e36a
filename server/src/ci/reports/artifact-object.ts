import type { Actor } from '../../access/actor.ts'
import type { Services } from '../../services.ts'
import type { ArtifactRow } from './artifact.store.ts'

/** Artifacts are stored as plain bytes, whatever their format. */
const CONTENT_TYPE = 'application/octet-stream'

/** The key of an artifact in the object store. Keys are unique and never reused. */
export function formatArtifactKey(orgId: string, artifactId: string): string {
  return `artifacts/${orgId}/${artifactId}`
}

/** The upload slots of artifacts (specification, "Upload slot"). */
export async function signSlots({ objects }: Services, actor: Actor, artifacts: ArtifactRow[], now: Date) {
  return Promise.all(
    artifacts.map(async ({ id, path, size, sha256 }) => {
      const expected = { sizeBytes: size, sha256, contentType: CONTENT_TYPE }
      const key = formatArtifactKey(actor.org_id, id)
      const { url, method, headers, expires_at } = await objects.presignPut(key, expected, now)
      return { artifact_id: id, path, url, method, headers, expires_at: expires_at.toISOString() }
    }),
  )
}
