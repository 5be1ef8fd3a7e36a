import type { Services } from '../../services.ts'
import { reportKey } from './report-key.ts'
import { failExpiredUploads } from './upload-state.store.ts'

/** Ends uploads whose 15 minutes are over, and removes what was PUT for them. */
export async function expireUploads({ sql, clock, objects }: Services): Promise<void> {
  for (const { org_id, id } of await failExpiredUploads(sql, clock.now())) {
    await objects.remove(reportKey(org_id, id))
  }
}
