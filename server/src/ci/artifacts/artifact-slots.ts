import type { Actor } from '../../access/actor.ts'
import { invalidRequest } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { ArtifactItem } from '../reports/report.schema.ts'
import type { ArtifactRow } from './artifact.store.ts'
import { artifactKey } from './artifact-key.ts'
import { artifactPathMistake } from './artifact-path.ts'

/** Artifacts are PUT as plain bytes, whatever they are. */
const CONTENT_TYPE = 'application/octet-stream'

/** What the client needs to PUT each file (specification, "Upload slot"). */
export async function signSlots({ objects }: Services, actor: Actor, slots: ArtifactRow[], now: Date) {
  return Promise.all(
    slots.map(async ({ id, path, size, sha256 }) => {
      const expected = { sizeBytes: size, sha256, contentType: CONTENT_TYPE }
      const { url, method, headers, expires_at } = await objects.presignPut(
        artifactKey(actor.org_id, id),
        expected,
        now,
      )
      return { artifact_id: id, path, url, method, headers, expires_at: expires_at.toISOString() }
    }),
  )
}

/** Throws `invalid_request` for paths that are not relative, and for a path that stands twice. */
export function refuseBadPaths(items: ArtifactItem[]): void {
  const seen = new Set<string>()
  const errors = items.flatMap(({ path }, index) => {
    const mistake = artifactPathMistake(path) ?? (seen.has(path) ? 'stands twice in this request' : null)
    seen.add(path)
    return mistake === null ? [] : [{ path: `/body/artifacts/${index}/path`, message: mistake }]
  })
  if (errors.length > 0) throw invalidRequest(errors)
}
