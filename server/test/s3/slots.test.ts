import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { S3ObjectStore } from '../../src/platform/objects/s3-object-store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createUpload, putFile } from '../support/reports.ts'
import { requireS3 } from '../support/s3-under-test.ts'

const FILE = Buffer.from('{"version":"2.1.0","runs":[]}')
let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

test("with S3 configured, the slot of an upload is a URL of the bucket, with S3's header", async () => {
  const { url, headers } = (await createUpload(api, caller, FILE)).body.data.put
  assert.ok(api.services.objects instanceof S3ObjectStore)
  assert.ok(url.startsWith(`${requireS3().endpoint}/${requireS3().bucket}/`))
  assert.deepEqual(Object.keys(headers), ['Content-Type', 'x-amz-checksum-sha256'])
})

test('with S3 configured, the storage routes of the API are 404', async () => {
  for (const method of ['PUT', 'GET']) {
    assert.equal((await fetch(`${api.url}/storage/objects?token=x`, { method })).status, 404)
  }
})

test('409 file_missing after a PUT that S3 refused, queued after one that it accepted', async () => {
  const created = await createUpload(api, caller, FILE)
  const complete = () =>
    api.request('POST', `/v1/security/uploads/${created.body.data.upload.id}/complete`, { key: caller.key })
  assert.equal((await putFile(created, Buffer.alloc(FILE.length))).status, 400)
  assert.equal((await complete()).body.error.code, 'file_missing')
  assert.equal((await putFile(created, FILE)).status, 200)
  assert.equal((await complete()).body.data.upload.status, 'queued')
})

test('200 from /readyz while the bucket can be written to, 503 that names the objects when it cannot', async () => {
  assert.equal((await fetch(`${api.url}/readyz`)).status, 200)
  const broken = await startTestApi({ env: { SHIPLOCK_S3_BUCKET: 'no-such-bucket' }, beside: api })
  try {
    const { status, text } = await broken.request('GET', '/readyz')
    assert.equal(status, 503)
    assert.match(text, /objects/)
    assert.ok(!text.includes(requireS3().secretAccessKey))
  } finally {
    await broken.close()
  }
})
