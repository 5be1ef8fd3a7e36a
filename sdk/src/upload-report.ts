import type { CallOptions, Connection } from './api.ts'
import { hashSource } from './files/hash-source.ts'
import { sendToSlot } from './files/put-slot.ts'
import type { Source } from './files/source.ts'
import { sleep } from './http/deadline.ts'
import type { components, operations } from './openapi.ts'

export type SecurityUpload = components['schemas']['SecurityUpload']
type NewUpload = CallOptions<operations['createSecurityUpload']>['body']

type OptionalTarget = 'category' | 'provider' | 'repositoryId' | 'format' | 'tracked' | 'complete'

export type UploadReportOptions = { [Field in OptionalTarget]?: NewUpload[Field] | undefined } & {
  /** The repository as `owner/name`. */
  repository: string
  /** The branch or tag that was scanned. Defaults to the tracked branch of the repository. */
  ref?: string | undefined
  /** The commit that was scanned, as a full or abbreviated SHA. */
  commit?: string | undefined
  /** Waits until the report has been read, or has turned out not to be readable. Default: true. */
  wait?: boolean | undefined
  /** Called with the number of bytes that have been sent, at most ten times a second. */
  onProgress?: ((sentBytes: number) => void) | undefined
  /** Called with the completed upload, and again whenever it has changed. */
  onState?: ((upload: SecurityUpload) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Pauses between two looks at an upload that is being read. */
const POLL_MS = [250, 500, 1000, 2000]

/**
 * Sends a SARIF, CycloneDX or SPDX report, or a VEX document. Returns the upload, with the status
 * `finished` or `failed` unless `wait` is false. A file that the server has already is not sent again.
 */
export async function uploadReport(
  connection: Connection,
  source: Source,
  options: UploadReportOptions,
): Promise<SecurityUpload> {
  const { onProgress, signal } = options
  const { api, settings } = connection
  const created = await api.POST('/v1/security/uploads', { body: await describe(source, options), signal })
  const { put, upload } = created.data.data
  if (put === null) return options.wait === false ? upload : untilRead(connection, upload, options)
  await sendToSlot(settings, put, source, { onProgress, signals: [signal, settings.signal] })
  const params = { path: { uploadId: upload.id } }
  const completed = (await api.POST('/v1/security/uploads/{uploadId}/complete', { params, signal })).data.data.upload
  return options.wait === false ? completed : untilRead(connection, completed, options)
}

/** The body of createSecurityUpload. JSON leaves out what is undefined. */
async function describe(source: Source, options: UploadReportOptions): Promise<NewUpload> {
  const { repository, provider, repositoryId, category, format, tracked, complete, signal } = options
  const target = { repository, provider, repositoryId, category, gitRef: options.ref, commitSha: options.commit }
  const { size, sha256 } = await hashSource(source, { signal })
  return { filename: source.name, size, sha256, format, ...target, tracked, complete } as NewUpload
}

async function untilRead(
  { api, settings }: Connection,
  upload: SecurityUpload,
  { onState, signal }: UploadReportOptions,
): Promise<SecurityUpload> {
  const params = { path: { uploadId: upload.id } }
  let state = upload
  onState?.(state)
  for (let looks = 0; state.status !== 'finished' && state.status !== 'failed'; looks++) {
    await sleep(POLL_MS[Math.min(looks, POLL_MS.length - 1)] as number, [signal, settings.signal])
    const next = (await api.GET('/v1/security/uploads/{uploadId}', { params, signal })).data.data
    if (JSON.stringify(next) !== JSON.stringify(state)) onState?.(next)
    state = next
  }
  return state
}
