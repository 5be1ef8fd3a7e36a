import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import type { IngestSlot } from '../support/ingest-client.ts'
import { requireS3 } from '../support/s3-under-test.ts'

let server: IngestServer
before(async () => {
  server = await startIngestServer()
})
after(() => server?.close())

test('slots of an S3 store have a Content-Length, so that the client of the protocol does not send chunks', async () => {
  const files = { 'large.bin': randomBytes(300_000), 'empty.txt': '' }
  const { report, results } = await server.client().send({}, files)
  const uploads: IngestSlot[] = report.body.uploads
  assert.ok(uploads.every(({ url }) => url.startsWith(`${requireS3().endpoint}/`)))
  assert.deepEqual(
    uploads.map(({ headers }) => headers['Content-Length']),
    ['300000', '0'],
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['uploaded', 'uploaded'],
  )
})
