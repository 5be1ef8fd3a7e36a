import type { Db } from '../../platform/db/sql.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { updateExpiredUploads, updateUnreadUploads } from './overdue-upload.store.ts'
import { getReportKey } from './upload-file.ts'
import { listUploadIds } from './upload-state.store.ts'

/**
 * Runs every minute and fails the uploads that no client or worker will finish. Reads of pending
 * uploads do not depend on it: an expired upload is read as failed.
 */
export const expireUploadsJob = defineScheduledJob<Services>('security.expire-uploads', {
  schedule: '* * * * *',
  async run(services) {
    await expireUploads(services)
    await settleUnreadUploads(services)
  },
})

/** Fails uploads that were not completed within their 15 minutes, and removes their files. */
export async function expireUploads(services: Services): Promise<void> {
  await removeFiles(services, await updateExpiredUploads(services.sql, services.clock.now()))
}

/**
 * Fails uploads that wait for a job which will never come, and removes their files. The same report
 * can then be uploaded again.
 */
async function settleUnreadUploads(services: Services): Promise<void> {
  const { sql, clock, log } = services
  const uploads = await updateUnreadUploads(sql, clock.now())
  if (uploads.length > 0) log.error({ uploads: uploads.map(({ id }) => id) }, 'Uploads without a job have failed')
  await removeFiles(services, uploads)
}

async function removeFiles({ objects }: Services, uploads: { org_id: string; id: string }[]): Promise<void> {
  for (const { org_id, id } of uploads) await objects.remove(getReportKey(org_id, id))
}

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
