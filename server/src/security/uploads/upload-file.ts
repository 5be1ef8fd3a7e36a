import type { Event } from '../../platform/queue/event.ts'
import { payloadOf } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'

/** The type that every report is PUT with. Its format is detected from the contents. */
const CONTENT_TYPE = 'application/json'

/** The key of an upload's file in the object store. */
export function reportKey(orgId: string, uploadId: string): string {
  return `uploads/${orgId}/${uploadId}`
}

export type PutAddress = { url: string; headers: Record<string, string> }

/** An address that accepts a PUT of exactly this file. */
export async function presignReport(
  { objects }: Services,
  upload: { org_id: string; id: string; size: number; sha256: string },
  now: Date,
): Promise<PutAddress> {
  const expected = { sizeBytes: upload.size, sha256: upload.sha256, contentType: CONTENT_TYPE }
  const { url, headers } = await objects.presignPut(reportKey(upload.org_id, upload.id), expected, now)
  return { url, headers }
}

export type ReadUploadPayload = { org_id: string; upload_id: string }

/**
 * Queued when an upload is complete. `read-report-file.ts` does the work: the API does not load it.
 */
export const readUploadJob = {
  name: 'security.read-upload',
  class: 'bulk' as const,
  payload: payloadOf('org_id', 'upload_id'),
  attemptsMax: 5,
}

type UploadFinished = { org_id: string; upload_id: string }

/** Published when the findings of a report are stored, or were seen again in another commit. */
export const uploadFinished: Event<UploadFinished> = {
  name: 'security.upload.finished',
  payload: payloadOf('org_id', 'upload_id'),
}
