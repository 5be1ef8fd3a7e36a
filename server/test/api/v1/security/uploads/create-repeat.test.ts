import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { onTheServersClock } from '../../../../support/s3-under-test.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const MINUTE_MS = 60_000
const FILE = Buffer.from(JSON.stringify(sarif([sarifResult('a'), sarifResult('b')])))

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const create = (fields: Record<string, unknown> = {}, file = FILE) => createUpload(api, caller, file, fields)
const idOf = async (fields: Record<string, unknown> = {}) => (await create(fields)).body.data.upload.id

test('200 with the same upload and a fresh put while the same file is pending', async () => {
  const first = await create()
  api.clock.advance(14 * MINUTE_MS)
  const second = await create({ filename: 'another-name.sarif', commitSha: 'abcdef0' })
  assert.equal(second.status, 200)
  assert.equal(second.body.data.upload.id, first.body.data.upload.id)
  assert.equal(second.body.data.upload.status, 'pending')
  assert.equal(second.body.data.upload.filename, 'report.sarif')
  assert.notEqual(second.body.data.put.url, first.body.data.put.url)
  api.clock.advance(14 * MINUTE_MS)
  assert.equal((await putFile(second, FILE)).status, 200)
  const { id } = first.body.data.upload
  const completed = await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  assert.equal(completed.body.data.upload.status, 'queued')
})

test('a fresh put does not prolong the one before', onTheServersClock, async () => {
  const first = await create()
  api.clock.advance(14 * MINUTE_MS)
  await create()
  api.clock.advance(MINUTE_MS)
  assert.equal((await putFile(first, FILE)).status, 403)
})

test('200 with put null and nothing new counted once the same file is queued or finished', async () => {
  const first = await create()
  await putFile(first, FILE)
  const { id } = first.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  const queued = await create()
  assert.deepEqual([queued.status, queued.body.data.put], [200, null])
  assert.deepEqual([queued.body.data.upload.id, queued.body.data.upload.status], [id, 'queued'])
  const other = await api.caller()
  const finished = await uploadReport(api, other, FILE)
  api.clock.advance(24 * 60 * MINUTE_MS)
  const again = await createUpload(api, other, FILE)
  assert.deepEqual([again.status, again.body.data], [200, { upload: finished, put: null }])
})

test('201 with a new upload after the same file failed', async () => {
  const broken = Buffer.from('no report')
  const failed = await uploadReport(api, caller, broken)
  assert.equal(failed.status, 'failed')
  const again = await create({}, broken)
  assert.equal(again.status, 201)
  assert.notEqual(again.body.data.upload.id, failed.id)
  assert.ok(again.body.data.put)
})

test('201 with a new upload once the pending one has expired', async () => {
  const first = await create()
  api.clock.advance(15 * MINUTE_MS)
  const second = await create()
  assert.equal(second.status, 201)
  assert.notEqual(second.body.data.upload.id, first.body.data.upload.id)
  assert.equal((await getUpload(api, caller, first.body.data.upload.id)).error, 'upload expired')
})

test('twelve simultaneous identical creates: one 201, eleven 200, one id', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => create()))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201])
  assert.equal(new Set(answers.map(({ body }) => body.data.upload.id)).size, 1)
  assert.ok(answers.every(({ body }) => body.data.put.url))
})

test('another category, ref, repository, provider or content makes it another upload', async () => {
  const others = [
    {},
    { category: 'a' },
    { category: 'b' },
    { gitRef: 'main' },
    { gitRef: 'refs/tags/v1' },
    { repository: 'acme/other' },
    { provider: 'github' },
    { provider: 'github', repositoryId: '1' },
    { provider: 'gitlab', repositoryId: '1' },
  ]
  const ids = new Set(await Promise.all(others.map((fields) => idOf(fields))))
  ids.add((await create({}, Buffer.from('{}'))).body.data.upload.id)
  assert.equal(ids.size, others.length + 1)
})

test('another format, commit, filename or tracked does not make it another upload', async () => {
  const id = await idOf()
  const others = [
    { format: 'sarif' },
    { commitSha: 'abcdef0' },
    { filename: 'x' },
    { tracked: false },
    { category: '' },
  ]
  for (const fields of others) assert.equal(await idOf(fields), id, JSON.stringify(fields))
})

test('an empty gitRef and the name of the tracked branch are the same ref', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app', trackedBranch: 'trunk' })
  const id = await idOf()
  for (const gitRef of ['', 'trunk']) assert.equal(await idOf({ gitRef }), id)
  assert.notEqual(await idOf({ gitRef: 'feature' }), id)
})

test("another organization's identical file is its own upload", async () => {
  const id = await idOf()
  const other = await createUpload(api, await api.caller(), FILE)
  assert.equal(other.status, 201)
  assert.notEqual(other.body.data.upload.id, id)
})

test('a wrong size can be corrected while the upload is pending', async () => {
  const wrong = await create({ size: FILE.length + 1 })
  const right = await create()
  assert.equal(right.status, 200)
  assert.equal(right.body.data.upload.id, wrong.body.data.upload.id)
  assert.equal(right.body.data.upload.size, FILE.length)
  assert.equal((await putFile(right, FILE)).status, 200)
  const { id } = right.body.data.upload
  const completed = await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  assert.equal(completed.body.data.upload.status, 'queued')
})
