import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Json } from '../test/support/json.ts'
import type { Setting } from './setting.ts'

/** Polls take time from what is measured: 200 a second were a tenth of two cores. */
const POLL_MS = 20
/** A report of 1 GB needs a few minutes. */
const IMPORT_MS_MAX = 15 * 60_000

type Upload = { id: string; status: string; error: string | null; counts: { created: number } }

/** A report's file: its bytes, or a stream of them where they are many. */
export type ReportFile = { size: number; sha256: string; body: RequestInit['body'] }

/** What the upload states about the report: fields of its create call. */
type Declared = string | { repository: string; category: string; commitSha: string }

/**
 * The three calls of an upload. Answers the milliseconds from the complete call until its findings
 * can be read; 0 if the same file is imported already.
 */
export function importReport(ours: Server, report: Buffer, declared: Declared, pollMs = POLL_MS): Promise<number> {
  const sha256 = createHash('sha256').update(report).digest('hex')
  return importFile(ours, { size: report.length, sha256, body: new Uint8Array(report) }, declared, pollMs)
}

export type Server = Pick<Setting['ours'], 'url' | 'key'>

export async function importFile(
  { url, key }: Server,
  report: ReportFile,
  declared: Declared,
  pollMs = POLL_MS,
): Promise<number> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: Json }).data
  }
  const { size, sha256, body } = report
  const fields = typeof declared === 'string' ? { repository: declared } : declared
  const { upload, put } = await call('POST', '/v1/security/uploads', {
    filename: 'report.sarif',
    size,
    sha256,
    ...fields,
  })
  if (put === null) {
    await finished(() => call('GET', `/v1/security/uploads/${upload.id}`), pollMs)
    return 0
  }
  const headers = { ...put.headers, 'content-length': String(size) }
  const stored = await fetch(put.url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit)
  if (!stored.ok) throw new Error(`PUT answered ${stored.status}: ${await stored.text()}`)
  const startedAt = performance.now()
  await call('POST', `/v1/security/uploads/${upload.id}/complete`)
  await finished(() => call('GET', `/v1/security/uploads/${upload.id}`), pollMs)
  return performance.now() - startedAt
}

async function finished(read: () => Promise<Upload>, pollMs: number): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < IMPORT_MS_MAX) {
    const { status, error } = await read()
    if (status === 'finished') return
    if (status === 'failed') throw new Error(`the import failed: ${error}`)
    await delay(pollMs)
  }
  throw new Error(`the import did not end within ${IMPORT_MS_MAX / 60_000} minutes`)
}
