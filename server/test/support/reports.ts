import { createHash } from 'node:crypto'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import type { Answer, Caller, TestApi } from './api.ts'

export type UploadOptions = Record<string, unknown>

/** The three calls of an upload, as a client makes them. `file` is the report itself. */
export async function uploadReport(
  api: TestApi,
  caller: Caller,
  file: string | Buffer | object,
  options: UploadOptions = {},
) {
  const bytes = Buffer.isBuffer(file) ? file : Buffer.from(typeof file === 'string' ? file : JSON.stringify(file))
  const created = await createUpload(api, caller, bytes, options)
  if (created.status >= 300) return created.body.data?.upload
  const { upload, put } = created.body.data
  const { id } = upload
  // A file that is stored already is read again if its sender has a lane of its own.
  if (put === null && upload.status !== 'queued') return upload
  if (put !== null) {
    await putFile(created, bytes)
    await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  }
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  return getUpload(api, caller, id)
}

export function createUpload(
  api: TestApi,
  caller: Caller,
  bytes: Buffer,
  options: UploadOptions = {},
): Promise<Answer> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { filename: 'report.sarif', size: bytes.length, sha256, repository: 'acme/app', ...options }
  return api.request('POST', '/v1/security/uploads', { key: caller.key, body })
}

/** PUTs the bytes with exactly the headers that the upload named. */
export async function putFile(created: Answer, bytes: Buffer): Promise<Response> {
  const { url, headers } = created.body.data.put
  return fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) })
}

export async function getUpload(api: TestApi, caller: Caller, id: string) {
  return (await api.request('GET', `/v1/security/uploads/${id}`, { key: caller.key })).body.data
}
