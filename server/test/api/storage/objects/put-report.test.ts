import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createUpload, getUpload, putFile } from '../../../support/reports.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'

const MINUTE_MS = 60_000
const FILE = Buffer.from(JSON.stringify(sarif([sarifResult('a')])))

let api: TestApi
let caller: Caller
let created: Answer

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  created = await createUpload(api, caller, FILE)
})

const complete = () =>
  api.request('POST', `/v1/security/uploads/${created.body.data.upload.id}/complete`, { key: caller.key })

/** The created upload with other headers for its PUT. */
function withHeaders(headers: Record<string, string>): Answer {
  const { put } = created.body.data
  return { ...created, body: { data: { put: { ...put, headers } } } }
}

async function assertRefused(response: Response, status: number, code: string): Promise<void> {
  assert.equal(response.status, status)
  const { error } = (await response.json()) as { error: { code: string } }
  assert.equal(error.code, code)
  assertError(await complete(), 409, 'file_missing')
}

test('200 with exactly the headers that the upload named and without an API key', async () => {
  assert.equal((await putFile(created, FILE)).status, 200)
  assert.equal((await complete()).body.data.upload.status, 'queued')
})

test('403 when a header is missing or different, and nothing is stored', async () => {
  const { headers } = created.body.data.put
  const names = Object.keys(headers)
  assert.equal(names.length, 2)
  for (const name of names) {
    const { [name]: _, ...others } = headers
    await assertRefused(await putFile(withHeaders(others), FILE), 403, 'invalid_signature')
    const different = { ...headers, [name]: `${headers[name]}x` }
    await assertRefused(await putFile(withHeaders(different), FILE), 403, 'invalid_signature')
  }
})

test('413 or 400 for another size, 400 for other bytes of the same size, and nothing is stored', async () => {
  await assertRefused(await putFile(created, Buffer.concat([FILE, FILE])), 413, 'payload_too_large')
  await assertRefused(await putFile(created, FILE.subarray(1)), 400, 'size_mismatch')
  await assertRefused(await putFile(created, Buffer.alloc(FILE.length)), 400, 'checksum_mismatch')
  assert.equal((await putFile(created, FILE)).status, 200)
})

test('200 until the last millisecond of the 15 minutes, 403 url_expired from then on', async () => {
  api.clock.advance(15 * MINUTE_MS - 1)
  assert.equal((await putFile(created, FILE)).status, 200)
  api.clock.advance(1)
  const late = await putFile(created, FILE)
  assert.equal(late.status, 403)
  assert.match(await late.text(), /url_expired/)
  assert.equal((await getUpload(api, caller, created.body.data.upload.id)).status, 'failed')
})

test('200 again for the same bytes: a PUT that was cut off can be repeated', async () => {
  for (const _ of [1, 2]) assert.equal((await putFile(created, FILE)).status, 200)
  assert.equal((await complete()).body.data.upload.status, 'queued')
})
