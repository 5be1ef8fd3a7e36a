import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { formatArtifactKey } from './artifact-object.ts'
import { listArtifactIds } from './artifact-removal.store.ts'

const FILES_AT_ONCE = 500

/** The keys of the files of all artifacts of an organization. */
export async function* listArtifactKeys(db: Db, orgId: string): AsyncGenerator<string> {
  for (let ids = await listArtifactIds(db, orgId, { after: '', limit: FILES_AT_ONCE }); ids.length > 0; ) {
    for (const id of ids) yield formatArtifactKey(orgId, id)
    ids = await listArtifactIds(db, orgId, { after: ids.at(-1) as string, limit: FILES_AT_ONCE })
  }
}

/** Removes the files of all artifacts of an organization, before their rows are deleted. */
export async function removeArtifactFiles(
  { sql, objects }: Pick<Services, 'sql' | 'objects'>,
  orgId: string,
): Promise<number> {
  let removed = 0
  for await (const key of listArtifactKeys(sql, orgId)) {
    await objects.remove(key)
    removed += 1
  }
  return removed
}
