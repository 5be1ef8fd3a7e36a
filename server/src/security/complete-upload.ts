import type { Actor } from '../access/actor.ts'
import { ApiError, notFound } from '../platform/http/errors.ts'
import { enqueue } from '../platform/queue/enqueue.ts'
import type { Services } from '../services.ts'
import { reportKey } from './report-key.ts'
import { readUploadJob } from './read-upload-job.ts'
import { lockUpload, markFailed, markQueued, readUpload, type UploadToComplete } from './upload.store.ts'

/**
 * Checks the stored file and queues it for reading, once, however often and however simultaneously it is called. An
 * upload past `pending` is returned as it is. Errors: 404; 409 `file_missing`, after which the upload is still pending.
 */
export async function completeUpload(services: Services, actor: Actor, id: string): Promise<string> {
  const { sql, clock, objects } = services
  const now = clock.now()
  const key = reportKey(actor.org_id, id)
  const mismatch = await sql.begin(async (tx) => {
    const upload = await lockUpload(tx, actor.org_id, id)
    if (!upload) throw notFound('upload')
    if (upload.status !== 'pending' || upload.put_until <= now) return null
    const error = await findMismatch(services, key, upload)
    if (error === null) {
      await markQueued(tx, actor.org_id, id, now)
      await enqueue(tx, readUploadJob, { org_id: actor.org_id, upload_id: id })
    } else {
      await markFailed(tx, actor.org_id, id, { error, format: null }, now)
    }
    return error
  })
  if (mismatch !== null) await objects.remove(key)
  return (await readUpload(sql, actor.org_id, id, now)) as string
}

async function findMismatch({ objects }: Services, key: string, upload: UploadToComplete): Promise<string | null> {
  const stored = await objects.stat(key)
  if (!stored) throw new ApiError(409, 'file_missing', 'The file has not been PUT yet.')
  if (stored.sizeBytes !== upload.size)
    return `size mismatch: ${upload.size} bytes declared, ${stored.sizeBytes} stored`
  if (stored.sha256 !== null && stored.sha256 !== upload.sha256)
    return 'checksum mismatch: the stored file has another SHA-256'
  return null
}
