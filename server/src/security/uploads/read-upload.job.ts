import { artifactKey } from '../../ci/artifacts/artifact-key.ts'
import type { Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { ReportError } from '../formats/report/parsed-report.ts'
import { applyReport } from './apply-report.ts'
import { type ReadUploadPayload, readUploadJob } from './read-upload-job.ts'
import { reportKey } from './upload-file.ts'
import { markFailed, startParsing, type UploadToRead } from './upload-state.store.ts'

const GIVEN_UP = 'The report could not be read because of an internal error. Upload it again.'

/**
 * Reads the file of a completed upload into findings. An upload with an unreadable file fails and
 * is not retried.
 */
export const readUpload: Job<Services, ReadUploadPayload> = {
  ...readUploadJob,
  async run(services, { org_id, upload_id }) {
    const upload = await startParsing(services.sql, org_id, upload_id, services.clock.now())
    if (!upload) return
    const source = { open: () => services.objects.read(objectKey(org_id, upload_id, upload)) }
    try {
      await applyReport(services, { org_id, id: upload_id }, upload, source)
    } catch (error) {
      if (!(error instanceof ReportError)) throw error
      await fail(services, org_id, upload_id, { error: error.message, format: error.format })
    }
  },
  async giveUp(services, { org_id, upload_id }) {
    await fail(services, org_id, upload_id, { error: GIVEN_UP, format: null })
  },
}

/** The file of an upload from a CI report is the artifact itself. */
function objectKey(orgId: string, uploadId: string, { artifact_id }: UploadToRead): string {
  return artifact_id === null ? reportKey(orgId, uploadId) : artifactKey(orgId, artifact_id)
}

/** Marks the upload as failed and removes its file. An artifact has another key and is kept. */
async function fail(
  services: Services,
  orgId: string,
  id: string,
  failure: Parameters<typeof markFailed>[3],
): Promise<void> {
  await markFailed(services.sql, orgId, id, failure, services.clock.now())
  await services.objects.remove(reportKey(orgId, id))
}
