import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { findMismatch, type Mismatch } from '../../platform/objects/verify-object.ts'
import { enqueue } from '../../platform/queue/enqueue.ts'
import type { Services } from '../../services.ts'
import { readUploadJob } from './read-upload.job.ts'
import { reportKey } from './report-key.ts'
import {
  findUploadToComplete,
  lockUploadToComplete,
  markFailed,
  markQueued,
  type UploadToComplete,
} from './upload-state.store.ts'
import { findUploadJson } from './upload-view.store.ts'

const REASONS = {
  size_mismatch: 'size mismatch: the stored file has another size than was declared',
  checksum_mismatch: 'checksum mismatch: the stored file has another SHA-256',
}

/**
 * Checks the stored file and queues it for reading, once, however often and however simultaneously it is called. An
 * upload past `pending` is returned as it is. Errors: 404; 409 `file_missing`, after which the upload is still pending.
 */
export async function completeUpload(services: Services, actor: Actor, id: string): Promise<string> {
  const { sql, clock, objects } = services
  const now = clock.now()
  const key = reportKey(actor.org_id, id)
  const upload = await findUploadToComplete(sql, actor.org_id, id)
  if (!upload) throw notFound('upload')
  if (awaitsFile(upload, now)) {
    // Before anything is locked: a store that cannot tell checksums has the file read through.
    const mismatch = await findMismatch(objects, key, { sizeBytes: upload.size, sha256: upload.sha256 })
    const failed = await sql.begin((tx) => settle(tx, actor.org_id, id, mismatch, now))
    if (failed) await objects.remove(key)
  }
  return (await findUploadJson(sql, actor.org_id, id, now)) as string
}

/** Whether this call is the one that ended the upload as failed. Another may have settled it meanwhile. */
async function settle(tx: Tx, orgId: string, id: string, mismatch: Mismatch | null, now: Date): Promise<boolean> {
  const upload = await lockUploadToComplete(tx, orgId, id)
  if (!upload || !awaitsFile(upload, now)) return false
  if (mismatch === 'missing') throw new ApiError(409, 'file_missing', 'The file has not been PUT yet.')
  if (mismatch !== null) {
    await markFailed(tx, orgId, id, { error: REASONS[mismatch], format: null }, now)
    return true
  }
  await markQueued(tx, orgId, id, now)
  await enqueue(tx, readUploadJob, { org_id: orgId, upload_id: id })
  return false
}

function awaitsFile({ status, put_until }: UploadToComplete, now: Date): boolean {
  return status === 'pending' && put_until > now
}
