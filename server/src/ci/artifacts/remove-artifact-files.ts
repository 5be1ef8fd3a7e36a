import type { Services } from '../../services.ts'
import { artifactKey } from './artifact-object.ts'
import { listArtifactIds } from './artifact-removal.store.ts'

const FILES_AT_ONCE = 500

/** Removes the files of all artifacts of an organization, before their rows are deleted. */
export async function removeArtifactFiles(
  { sql, objects }: Pick<Services, 'sql' | 'objects'>,
  orgId: string,
): Promise<number> {
  let removed = 0
  for (let ids = await listArtifactIds(sql, orgId, { after: '', limit: FILES_AT_ONCE }); ids.length > 0; ) {
    for (const id of ids) await objects.remove(artifactKey(orgId, id))
    removed += ids.length
    ids = await listArtifactIds(sql, orgId, { after: ids.at(-1) as string, limit: FILES_AT_ONCE })
  }
  return removed
}
