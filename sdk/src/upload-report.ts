import type { CallOptions, Connection } from './api.ts'
import { hashSource } from './files/hash-source.ts'
import { sendToSlot } from './files/put-slot.ts'
import type { Source } from './files/source.ts'
import { sleep } from './http/deadline.ts'
import type { components, operations } from './openapi.ts'

export type SecurityUpload = components['schemas']['SecurityUpload']
type NewUpload = CallOptions<operations['createSecurityUpload']>['body']

export type UploadReportOptions = Pick<
  NewUpload,
  'repository' | 'category' | 'provider' | 'repositoryId' | 'format' | 'tracked'
> & {
  /** The branch or tag that was scanned. Defaults to the tracked branch of the repository. */
  ref?: string
  /** The commit that was scanned, as a full or abbreviated SHA. */
  commit?: string
  /** Waits until the report has been read, or has turned out not to be readable. Default: true. */
  wait?: boolean
  /** Called with the number of bytes that have been sent, at most ten times a second. */
  onProgress?: ((sentBytes: number) => void) | undefined
  /** Called with the upload whenever its status or its counts have changed. */
  onState?: ((upload: SecurityUpload) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Pauses between two looks at an upload that is being read. */
const POLL_MS = [250, 500, 1000, 2000]

/**
 * Sends a SARIF, CycloneDX or SPDX report. Returns the upload, with the status `finished` or
 * `failed` unless `wait` is false. A file that the server has already is not sent again.
 */
export async function uploadReport(
  connection: Connection,
  source: Source,
  { ref, commit, wait = true, onProgress, onState, signal, ...target }: UploadReportOptions,
): Promise<SecurityUpload> {
  const { api, settings } = connection
  const { size, sha256 } = await hashSource(source, { signal })
  const file = {
    filename: source.name,
    size,
    sha256,
    ...(ref && { gitRef: ref }),
    ...(commit && { commitSha: commit }),
  }
  const created = await api.POST('/v1/security/uploads', { body: { ...target, ...file }, signal })
  const { put: slot, upload } = created.data.data
  if (slot === null) return wait ? untilRead(connection, upload, { onState, signal }) : upload
  await sendToSlot(settings, slot, source, { onProgress, signals: [signal, settings.signal] })
  const params = { path: { uploadId: upload.id } }
  const completed = await api.POST('/v1/security/uploads/{uploadId}/complete', { params, signal })
  return wait ? untilRead(connection, completed.data.data.upload, { onState, signal }) : completed.data.data.upload
}

async function untilRead(
  { api, settings }: Connection,
  upload: SecurityUpload,
  { onState, signal }: Pick<UploadReportOptions, 'onState' | 'signal'>,
): Promise<SecurityUpload> {
  let state = upload
  for (let looks = 0; ; looks++) {
    onState?.(state)
    if (state.status === 'finished' || state.status === 'failed') return state
    await sleep(POLL_MS[Math.min(looks, POLL_MS.length - 1)] as number, [signal, settings.signal])
    const params = { path: { uploadId: upload.id } }
    state = (await api.GET('/v1/security/uploads/{uploadId}', { params, signal })).data.data
  }
}
