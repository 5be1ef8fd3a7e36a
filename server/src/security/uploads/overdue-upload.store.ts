import { buildSpreadCondition, isSpread, runAcrossOrganizations, runByOrganization } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import { hasLiveJob } from '../../platform/queue/queue.store.ts'
import { readUploadJob } from './read-upload.job.ts'
import { OUR_FAILURE, UPLOAD_EXPIRED, type UploadKey } from './upload-state.store.ts'

const SETTLED_AT_ONCE_MAX = 500

/** Fails pending uploads that were not completed in time. Returns their ids. */
export async function updateExpiredUploads(db: Db, now: Date): Promise<UploadKey[]> {
  return runAcrossOrganizations(
    db,
    db`security_uploads where status = 'pending' and put_until <= ${now}`,
    (orgId) => db<UploadKey[]>`
      update security_uploads upload
      set status = 'failed', error = ${UPLOAD_EXPIRED}, updated_at = upload.put_until
      from (
        select org_id, id
        from security_uploads pending
        where status = 'pending'
          and put_until <= ${now} ${buildSpreadCondition(db, 'pending', orgId)}
        order by put_until
        limit ${SETTLED_AT_ONCE_MAX}
        for update skip locked
      ) expired
      where (upload.org_id, upload.id) = (expired.org_id, expired.id) ${buildSpreadCondition(db, 'upload', orgId)}
      returning upload.org_id, upload.id`,
  )
}

/**
 * Fails queued and parsing uploads that no job will read: theirs has used up its tries or is not
 * there. Status and job are always stored together, so one statement sees both or neither. Returns
 * their ids.
 */
export async function updateUnreadUploads(db: Db, now: Date): Promise<UploadKey[]> {
  if (!isSpread()) return failUnread(db, now, { condition: hasNoJob(db), orgId: null })
  return runByOrganization(await listUnread(db), (unread, orgId) => {
    const condition: ReturnType<Db> = db`upload.id = any(${unread.map(({ id }) => id)}::text[])`
    return failUnread(db, now, { condition, orgId })
  })
}

type Unread = { condition: ReturnType<Db>; orgId: string | null }

async function failUnread(db: Db, now: Date, { condition, orgId }: Unread): Promise<UploadKey[]> {
  return db<UploadKey[]>`
    update security_uploads upload
    set status = 'failed', error = ${OUR_FAILURE}, findings = 0, components = 0, updated_at = ${now}
    from (
      select org_id, id
      from security_uploads upload
      where status in ('queued', 'parsing') ${buildSpreadCondition(db, 'upload', orgId)}
        and ${condition}
      order by created_at
      limit ${SETTLED_AT_ONCE_MAX}
      for update skip locked
    ) unread
    where (upload.org_id, upload.id) = (unread.org_id, unread.id) ${buildSpreadCondition(db, 'upload', orgId)}
    returning upload.org_id, upload.id`
}

function hasNoJob(db: Db): ReturnType<Db> {
  return db`not ${hasLiveJob(db, readUploadJob.name, db`job.payload ->> 'upload_id' = upload.id`)}`
}

const WAITING_READ_MAX = 10_000

/**
 * The jobs are on another server than the uploads if there are several. They are read after the
 * uploads: an upload that is queued meanwhile is never found without its job.
 */
async function listUnread(db: Db): Promise<UploadKey[]> {
  const waiting = await db<UploadKey[]>`
    select org_id, id
    from security_uploads
    where status in ('queued', 'parsing')
    order by created_at
    limit ${WAITING_READ_MAX}`
  return db<UploadKey[]>`
    select org_id, id
    from json_to_recordset(${db.json([...waiting])}::json) as upload (org_id uuid, id text)
    where ${hasNoJob(db)}
    limit ${SETTLED_AT_ONCE_MAX}`
}
