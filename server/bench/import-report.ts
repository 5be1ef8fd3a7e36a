import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Json } from '../test/support/json.ts'
import type { Setting } from './setting.ts'

const POLL_MS = 5

type Upload = { id: string; status: string; error: string | null; counts: { created: number } }

/** A report's file: its bytes, or a stream of them where they are many. */
export type ReportFile = { size: number; sha256: string; body: RequestInit['body'] }

/**
 * The three calls of an upload. Answers the milliseconds from the complete call until its findings
 * can be read.
 */
export function importReport(ours: Server, report: Buffer, repository: string): Promise<number> {
  const sha256 = createHash('sha256').update(report).digest('hex')
  return importFile(ours, { size: report.length, sha256, body: new Uint8Array(report) }, repository)
}

type Server = Pick<Setting['ours'], 'url' | 'key'>

export async function importFile({ url, key }: Server, report: ReportFile, repository: string): Promise<number> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: Json }).data
  }
  const { size, sha256, body } = report
  const file = { filename: 'report.sarif', size, sha256, repository }
  const { upload, put } = await call('POST', '/v1/security/uploads', file)
  const headers = { ...put.headers, 'content-length': String(size) }
  const stored = await fetch(put.url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit)
  if (!stored.ok) throw new Error(`PUT answered ${stored.status}: ${await stored.text()}`)
  const startedAt = performance.now()
  await call('POST', `/v1/security/uploads/${upload.id}/complete`)
  await finished(() => call('GET', `/v1/security/uploads/${upload.id}`))
  return performance.now() - startedAt
}

async function finished(read: () => Promise<Upload>): Promise<void> {
  for (;;) {
    const { status, error } = await read()
    if (status === 'finished') return
    if (status === 'failed') throw new Error(`the import failed: ${error}`)
    await delay(POLL_MS)
  }
}
