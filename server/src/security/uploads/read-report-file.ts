import { formatArtifactKey } from '../../ci/reports/artifact-object.ts'
import { defineCounter, defineHistogram } from '../../platform/metrics.ts'
import { ObjectNotFoundError } from '../../platform/objects/object-store.ts'
import type { GiveUpCause } from '../../platform/queue/job.ts'
import { withSpan } from '../../platform/tracing.ts'
import type { Services } from '../../services.ts'
import { ReportError, type ReportSource } from '../formats/report/parsed-report.ts'
import { applyReport } from './apply-report.ts'
import { listUnreadLanes, listUploadLanes } from './upload.store.ts'
import { getReportKey, openUntilStopped } from './upload-file.ts'
import { OUR_FAILURE, type UploadFailure, type UploadKey, updateFailed, updateParsing } from './upload-state.store.ts'

const FILE_GONE = 'The uploaded file is no longer stored. Upload it again.'

/**
 * Reads the file of a completed upload into findings. A file that cannot be read fails its upload.
 * Throws, with nothing changed, when `stopping` is aborted.
 */
export async function readReportFile(
  services: Services,
  { org_id, upload_id }: { org_id: string; upload_id: string },
  stopping?: AbortSignal,
): Promise<void> {
  const uploadKey = { org_id, id: upload_id }
  // Read first: a lane that sends the file from now on is noticed at the end.
  const unread = await listUnreadLanes(services.sql, uploadKey)
  const lanes = unread.length > 0 ? unread : (await listUploadLanes(services.sql, uploadKey)).slice(-1)
  const upload = await updateParsing(services.sql, uploadKey, services.clock.now())
  if (!upload) return
  const { artifact_id } = upload
  // An artifact is read where its run keeps it.
  const key = artifact_id === null ? getReportKey(org_id, upload_id) : formatArtifactKey(org_id, artifact_id)
  const source = openUntilStopped(services, key, stopping)
  const measured = measureReading(source)
  try {
    const format = await withSpan('read report', 'internal', {}, async (span) => {
      const read = await applyReport(services, uploadKey, { ...upload, lanes }, measured.source)
      span?.set('shiplock.report_format', read)
      return read
    })
    measured.end(format, 'finished')
  } catch (error) {
    const failure = stopping?.aborted ? null : toUploadFailure(error)
    measured.end(failure?.format ?? 'unknown', failure === null ? 'interrupted' : 'refused')
    if (failure === null) throw error
    await fail(services, { org_id, id: upload_id }, failure)
  }
}

/** What the uploader is told. Null for a failure of ours, after which the job is tried again. */
function toUploadFailure(error: unknown): UploadFailure | null {
  if (error instanceof ReportError) return { error: error.message, format: error.format }
  if (error instanceof ObjectNotFoundError) return { error: FILE_GONE, format: null }
  return null
}

/** Fails an upload whose job will not be tried again. Its file can be uploaded again. */
export async function abandonUnreadReport(
  services: Services,
  { org_id, upload_id }: { org_id: string; upload_id: string },
  reason: GiveUpCause,
): Promise<void> {
  const error =
    reason.cause === 'interrupted'
      ? `The report could not be read, because it was interrupted ${reason.times} times. Upload it again.`
      : OUR_FAILURE
  await fail(services, { org_id, id: upload_id }, { error, format: null })
}

/**
 * Removes the uploaded file, which is no longer needed. An artifact is stored under another key and
 * is kept.
 */
async function fail(services: Services, key: UploadKey, failure: UploadFailure): Promise<void> {
  await updateFailed(services.sql, key, failure, services.clock.now())
  await services.objects.remove(getReportKey(key.org_id, key.id))
}

const seconds = defineHistogram(
  'shiplock_report_duration_seconds',
  'Time to read a report and to store what it says, by format and outcome: finished, refused or interrupted.',
  ['format', 'outcome'],
  [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
)
const bytes = defineCounter('shiplock_report_bytes_total', 'Bytes of reports that were read, once for each pass.', [
  'format',
])

/** A source that counts what is read from it, and the function that notes the end. */
function measureReading(source: ReportSource) {
  const startedAt = performance.now()
  let read = 0
  async function* count(): AsyncIterable<Uint8Array> {
    for await (const chunk of source.open()) {
      read += chunk.byteLength
      yield chunk
    }
  }
  return {
    source: { ...source, open: count },
    end: (format: string, outcome: 'finished' | 'refused' | 'interrupted') => {
      seconds.observe({ format, outcome }, (performance.now() - startedAt) / 1000)
      bytes.inc({ format }, read)
    },
  }
}
