import { type BuildRunning, buildIsAboutRunning, buildIsNewestSbom } from '../../inventory/sboms/sbom.store.ts'
import { defineExpiringWithParts, type Expiring } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { insertAbandonedObjects } from '../../platform/objects/abandoned-objects.store.ts'
import { getReportKey } from './upload-file.ts'

/**
 * SQL: true for an upload that is not over, or was not at `since`. The last report of a branch that
 * is tracked stays with its file, because policies read its trust, and the same file can be
 * submitted again. So does that of any other branch whose findings were confirmed since, and the
 * last VEX document of a series.
 */
export function buildIsOpenUpload(db: Db, row: ReturnType<Db>, since: Date): ReturnType<Db> {
  return db`(
    ${row}.status in ('queued', 'parsing')
    or ${row}.updated_at >= ${since}
    or exists (
      select from finding_streams stream
      where stream.org_id = ${row}.org_id
        and stream.upload_id = ${row}.id
        and (stream.tracked or stream.seen_at >= ${since})
    )
    or ${buildIsNewestSbom(db, row, since)}
    or exists (
      select from vex_documents document
      where document.org_id = ${row}.org_id
        and document.upload_id = ${row}.id
    )
  )`
}

/**
 * Uploads that have ended, with their files. The bills of materials of what runs stay.
 */
export function buildExpiringUploads(buildRunning: BuildRunning): Expiring[] {
  return (['finished', 'failed'] as const).map((status) => expiringOfStatus(status, buildRunning))
}

/** One status at a time: the index by status then states the order (ADR 11). */
function expiringOfStatus(status: 'finished' | 'failed', buildRunning: BuildRunning) {
  return defineExpiringWithParts(
    {
      kind: 'uploads',
      table: 'security_uploads',
      order: 'created_at',
      isExpired: (db, { org_id, before }) => db`
      item.status = ${status}
      and item.created_at < ${before}
      and not ${buildIsOpenUpload(db, db`item`, before)}
      and not ${buildIsAboutRunning(db, db`item`, buildRunning(db, org_id))}`,
    },
    abandonFiles,
  )
}

/** An upload from a CI report has no file of its own: its file is that of the artifact. */
async function abandonFiles(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
  const files = await tx<{ id: string; put_until: Date }[]>`
    select id, put_until
    from security_uploads
    where org_id = ${orgId}
      and id = any(${[...ids]})
      and artifact_id is null`
  const objects = files.map(({ id, put_until }) => ({ object_key: getReportKey(orgId, id), remove_after: put_until }))
  await insertAbandonedObjects(tx, objects)
}

/**
 * SQL: the objects of all uploads, and whether each one must exist. Those of CI reports are
 * artifacts.
 */
export function buildUploadObjects(db: Db) {
  return db`
    select format(${getReportKey('%s', '%s')}, org_id, id) as key, size, sha256,
      status in ('queued', 'parsing', 'finished') as is_required
    from security_uploads
    where origin <> 'report'`
}
