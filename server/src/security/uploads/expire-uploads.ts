import type { Services } from '../../services.ts'
import { reportKey } from './upload-file.ts'
import { failExpiredUploads } from './upload-state.store.ts'

/** Marks pending uploads as failed after their 15 minutes, and removes their files. */
export async function expireUploads({ sql, clock, objects }: Services): Promise<void> {
  for (const { org_id, id } of await failExpiredUploads(sql, clock.now())) {
    await objects.remove(reportKey(org_id, id))
  }
}
