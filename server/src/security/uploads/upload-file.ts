import { Readable } from 'node:stream'
import type { Services } from '../../services.ts'
import type { ReportSource } from '../formats/report/parsed-report.ts'

/** The type that every report is PUT with. Its format is detected from the contents. */
const CONTENT_TYPE = 'application/json'

/** The key of an upload's file in the object store. */
export function getReportKey(orgId: string, uploadId: string): string {
  return `uploads/${orgId}/${uploadId}`
}

export type PutAddress = { url: string; headers: Record<string, string> }

/** An address that accepts a PUT of exactly this file. */
export async function signReportPut(
  { objects }: Services,
  upload: { org_id: string; id: string; size: number; sha256: string },
  now: Date,
): Promise<PutAddress> {
  const expected = { sizeBytes: upload.size, sha256: upload.sha256, contentType: CONTENT_TYPE }
  const { url, headers } = await objects.presignPut(getReportKey(upload.org_id, upload.id), expected, now)
  return { url, headers }
}

/** A stored file whose reading throws when `stopping` is aborted. */
export function openUntilStopped({ objects }: Services, key: string, stopping: AbortSignal | undefined): ReportSource {
  if (!stopping) return { open: () => objects.read(key) }
  return { open: () => Readable.from(objects.read(key), { signal: stopping, highWaterMark: 1 }), stopping }
}
