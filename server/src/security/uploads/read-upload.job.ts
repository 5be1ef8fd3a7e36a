import { artifactKey } from '../../ci/artifacts/artifact-object.ts'
import type { Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { ReportError } from '../formats/report/parsed-report.ts'
import { applyReport } from './apply-report.ts'
import { type ReadUploadPayload, readUploadJob } from './read-upload-job.ts'
import { reportKey } from './report-key.ts'
import { markFailed, startParsing, type UploadToRead } from './upload-state.store.ts'

const GIVEN_UP = 'The report could not be read because of a failure on our side. Upload it again.'

/** Reads a completed upload's file into findings. A file that cannot be read is its sender's matter: it ends in `failed`. */
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

/** An artifact is read where its run keeps it. */
function objectKey(orgId: string, uploadId: string, { artifact_id }: UploadToRead): string {
  return artifact_id === null ? reportKey(orgId, uploadId) : artifactKey(orgId, artifact_id)
}

/** What was uploaded to be read is of no use now. An artifact has another key and stays. */
async function fail(
  services: Services,
  orgId: string,
  id: string,
  failure: Parameters<typeof markFailed>[3],
): Promise<void> {
  await markFailed(services.sql, orgId, id, failure, services.clock.now())
  await services.objects.remove(reportKey(orgId, id))
}
