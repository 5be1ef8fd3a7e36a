import { formatArtifactKey } from '../../ci/reports/artifact-object.ts'
import { ObjectNotFoundError } from '../../platform/objects/object-store.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { isMixedFormat, VEX_FORMATS } from '../formats/catalogue.ts'
import { type DetectedFile, readFormat } from '../formats/read-report.ts'
import { ReportError } from '../formats/report/parsed-report.ts'
import { readUploadJob } from './read-upload.job.ts'
import { getReportKey, openUntilStopped } from './upload-file.ts'
import { listReportsWithoutComponents, lockFinished, type UploadKey, updateQueued } from './upload-state.store.ts'
import { findUploadFile } from './upload-view.store.ts'

/**
 * Queues the newest reports of an organization's streams that are VEX documents, which earlier
 * versions of the program read as reports (decisions §8, M7). May be interrupted and repeated: an
 * upload is queued once.
 */
export async function enqueueStoredDocuments(services: Services, { org_id }: { org_id: string }): Promise<void> {
  const formats = VEX_FORMATS.filter(isMixedFormat)
  const listAfter = (after: string) => listReportsWithoutComponents(services.sql, org_id, { formats, after })
  for (let ids = await listAfter(''); ids.length > 0; ids = await listAfter(ids.at(-1) as string)) {
    for (const id of ids) {
      if (!(await detectStored(services, { org_id, id }))?.isVex) continue
      await services.sql.begin(async (tx) => {
        if (!(await lockFinished(tx, { org_id, id }))) return
        await updateQueued(tx, { org_id, id }, services.clock.now())
        await enqueue(tx, readUploadJob, { org_id, upload_id: id })
      })
    }
  }
}

/** What a stored file is. Null if it is gone or cannot be read any more. */
async function detectStored(services: Services, key: UploadKey): Promise<DetectedFile | null> {
  const source = await openStored(services, key)
  if (source === null) return null
  try {
    return await readFormat(source, 'auto')
  } catch (error) {
    if (error instanceof ReportError || error instanceof ObjectNotFoundError) return null
    throw error
  }
}

/** The stored file of an upload; null if it was removed. */
export async function openStored(services: Services, { org_id, id }: UploadKey, stopping?: AbortSignal) {
  const file = await findUploadFile(services.sql, org_id, id, null)
  if (file === null) return null
  const key = file.artifact_id === null ? getReportKey(org_id, id) : formatArtifactKey(org_id, file.artifact_id)
  return openUntilStopped(services, key, stopping)
}
