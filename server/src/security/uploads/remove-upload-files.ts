import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { getReportKey } from './upload-file.ts'
import { listUploadIds } from './upload-state.store.ts'

const FILES_AT_ONCE = 500

/** The keys of the files of all uploads of an organization. */
export async function* listUploadKeys(db: Db, orgId: string): AsyncGenerator<string> {
  for (let ids = await listUploadIds(db, orgId, { after: '', limit: FILES_AT_ONCE }); ids.length > 0; ) {
    for (const id of ids) yield getReportKey(orgId, id)
    ids = await listUploadIds(db, orgId, { after: ids.at(-1) as string, limit: FILES_AT_ONCE })
  }
}

/** Removes the files of all uploads of an organization, before their rows are deleted. */
export async function removeUploadFiles(
  { sql, objects }: Pick<Services, 'sql' | 'objects'>,
  orgId: string,
): Promise<number> {
  let removed = 0
  for await (const key of listUploadKeys(sql, orgId)) {
    await objects.remove(key)
    removed += 1
  }
  return removed
}
