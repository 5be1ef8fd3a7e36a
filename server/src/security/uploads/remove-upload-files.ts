import type { Services } from '../../services.ts'
import { reportKey } from './upload-file.ts'
import { listUploadIds } from './upload-state.store.ts'

const FILES_AT_ONCE = 500

/** Removes the files of all uploads of an organization, before their rows are deleted. */
export async function removeUploadFiles(
  { sql, objects }: Pick<Services, 'sql' | 'objects'>,
  orgId: string,
): Promise<number> {
  let removed = 0
  for (let ids = await listUploadIds(sql, orgId, { after: '', limit: FILES_AT_ONCE }); ids.length > 0; ) {
    for (const id of ids) await objects.remove(reportKey(orgId, id))
    removed += ids.length
    ids = await listUploadIds(sql, orgId, { after: ids.at(-1) as string, limit: FILES_AT_ONCE })
  }
  return removed
}
