import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { updateExpiredUploads, updateUnreadUploads } from './overdue-upload.store.ts'
import { getReportKey } from './upload-file.ts'

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
