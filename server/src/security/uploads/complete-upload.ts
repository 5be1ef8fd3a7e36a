import type { Actor } from '../../access/actor.ts'
import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { fileMissing } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { findMismatch, type Mismatch } from '../../platform/objects/verify-object.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { listHeldLanes } from '../reconcile/finding-stream.store.ts'
import { readUploadJob } from './read-upload.job.ts'
import { checkUploadRepository } from './token-upload.ts'
import { updateConfirmedLanes } from './upload.store.ts'
import { getReportKey } from './upload-file.ts'
import {
  findUploadToComplete,
  lockUploadToComplete,
  type UploadKey,
  type UploadToComplete,
  updateFailed,
  updateQueued,
} from './upload-state.store.ts'
import { findUploadJson } from './upload-view.store.ts'

const REASONS = {
  size_mismatch: 'size mismatch: the stored file does not have the declared size',
  checksum_mismatch: 'checksum mismatch: the stored file does not have the declared SHA-256',
}

/**
 * Checks the stored file and queues it for reading. Repeated and concurrent calls queue it once: an
 * upload that is no longer pending is returned unchanged. Throws 403 for a token of another
 * repository, 404, and 409 `file_missing`, after which the upload is still pending.
 */
export async function completeUpload(services: Services, actor: Actor, id: string): Promise<string> {
  const { sql, clock, objects } = services
  const now = clock.now()
  const key = { org_id: actor.org_id, id }
  const file = getReportKey(actor.org_id, id)
  await checkUploadRepository(sql, actor, id)
  const upload = await findUploadToComplete(sql, key)
  if (!upload) throw createNotFoundError('upload')
  if (awaitsFile(upload, now)) {
    // Not under a lock: an object store without checksums has to read the whole file.
    const mismatch = await findMismatch(objects, file, { sizeBytes: upload.size, sha256: upload.sha256 })
    const { failed, json } = await sql.begin(async (tx) => {
      const failed = await settle(tx, key, mismatch, now)
      // As it is queued: afterwards, a worker may be reading it already.
      return { failed, json: await findUploadJson(tx, actor.org_id, id, { now }) }
    })
    if (failed) await objects.remove(file)
    return json as string
  }
  return (await findUploadJson(sql, actor.org_id, id, { now })) as string
}

/**
 * Lets a report close what it held: somebody who may triage vouches that it is complete. It is read
 * again. Returns false if the upload holds nothing, is cut or is no longer the newest report of its
 * streams.
 */
export async function confirmHeld(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  principal: Principal,
  key: UploadKey,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const upload = await lockUploadToComplete(tx, key)
    if (upload?.status !== 'finished') return false
    const lanes = await listHeldLanes(tx, key)
    if (lanes.length === 0) return false
    const now = clock.now()
    await updateConfirmedLanes(tx, key, lanes)
    await updateQueued(tx, key, now)
    await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
    const object = { type: 'security_upload', id: key.id }
    const entry = { principal, action: 'security_upload.confirm', object, reason: null }
    await insertAuditEntry(tx, key.org_id, entry, now)
    return true
  })
}

/**
 * Queues the upload or marks it as failed, unless another call did. Returns whether this call
 * marked it as failed.
 */
async function settle(tx: Tx, key: UploadKey, mismatch: Mismatch | null, now: Date): Promise<boolean> {
  const upload = await lockUploadToComplete(tx, key)
  if (!upload || !awaitsFile(upload, now)) return false
  if (mismatch === 'missing') throw fileMissing()
  if (mismatch !== null) {
    await updateFailed(tx, key, { error: REASONS[mismatch], format: null }, now)
    return true
  }
  await updateQueued(tx, key, now)
  await enqueue(tx, readUploadJob, { org_id: key.org_id, upload_id: key.id })
  return false
}

function awaitsFile({ status, put_until }: UploadToComplete, now: Date): boolean {
  return status === 'pending' && put_until > now
}
