import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { updatePlan } from '../../../../../src/organizations/organization.store.ts'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { readUploadJob } from '../../../../../src/security/uploads/read-upload.job.ts'
import { getReportKey } from '../../../../../src/security/uploads/upload-file.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listJobs } from '../../../../support/queue.ts'
import { createUpload, getUpload, putFile } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const FILE = Buffer.from(JSON.stringify(sarif([sarifResult('a')])))

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const complete = (id: string, { key }: Caller = caller) =>
  api.request('POST', `/v1/security/uploads/${id}/complete`, { key })

/** The id of an upload whose file is there. */
async function createAndPut(): Promise<string> {
  const created = await createUpload(api, caller, FILE)
  assert.equal((await putFile(created, FILE)).status, 200)
  return created.body.data.upload.id
}

/** Jobs that read the upload's file. */
async function jobsOf(uploadId: string): Promise<number> {
  const jobs = await listJobs(api.services.sql, readUploadJob.name)
  return jobs.filter(({ payload }) => payload.upload_id === uploadId).length
}

/**
 * Stores other bytes where the upload's file belongs, as a store that went wrong would have them.
 */
async function putOtherBytes(id: string, bytes: Buffer): Promise<void> {
  const expected = {
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    contentType: 'application/json',
  }
  const put = await api.services.objects.presignPut(getReportKey(caller.orgId, id), expected, api.clock.now())
  const answer = { body: { data: { put } } } as Answer
  assert.equal((await putFile(answer, bytes)).status, 200)
}

test('200 with the upload in an envelope, queued for reading', async () => {
  const id = await createAndPut()
  const answer = await complete(id)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(Object.keys(answer.body.data), ['upload'])
  assert.equal(answer.body.data.upload.status, 'queued')
  assert.deepEqual(answer.body.data.upload, await getUpload(api, caller, id))
  assert.equal(await jobsOf(id), 1)
})

test('409 file_missing before the PUT, and the upload is still pending', async () => {
  const created = await createUpload(api, caller, FILE)
  const { id } = created.body.data.upload
  assertError(await complete(id), 409, 'file_missing')
  assert.equal((await getUpload(api, caller, id)).status, 'pending')
  assert.equal(await jobsOf(id), 0)
  await putFile(created, FILE)
  assert.equal((await complete(id)).body.data.upload.status, 'queued')
})

test('a stored file of another size or checksum is deleted, and the upload failed with the reason', async () => {
  const other = Buffer.from(FILE)
  other[0] = 0x20
  const cases: [Buffer, RegExp][] = [
    [FILE.subarray(1), /size mismatch/],
    [other, /checksum mismatch/],
  ]
  for (const [bytes, reason] of cases) {
    const { id } = (await createUpload(api, caller, FILE)).body.data.upload
    await putOtherBytes(id, bytes)
    const { status, body } = await complete(id)
    assert.deepEqual([status, body.data.upload.status], [200, 'failed'])
    assert.match(body.data.upload.error, reason)
    assert.equal(await api.services.objects.stat(getReportKey(caller.orgId, id)), null)
    assert.equal(await jobsOf(id), 0)
    assert.deepEqual((await complete(id)).body.data.upload, body.data.upload)
  }
})

test('ten simultaneous completes queue one job, and all answer 200', async () => {
  const id = await createAndPut()
  const answers = await Promise.all(Array.from({ length: 10 }, () => complete(id)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.deepEqual(new Set(answers.map(({ body }) => body.data.upload.status)), new Set(['queued']))
  assert.equal(await jobsOf(id), 1)
})

test('200 unchanged past pending: queued, finished and failed', async () => {
  const id = await createAndPut()
  const queued = (await complete(id)).body
  api.clock.advance(1000)
  assert.deepEqual((await complete(id)).body, queued)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  const finished = await getUpload(api, caller, id)
  assert.equal(finished.status, 'finished')
  api.clock.advance(3_600_000)
  assert.deepEqual((await complete(id)).body.data.upload, finished)
  assert.equal(await jobsOf(id), 1)
})

test('200 with a failed upload after its 15 minutes, even if the file was sent; nothing is queued', async () => {
  const id = await createAndPut()
  api.clock.advance(15 * 60_000)
  const { status, body } = await complete(id)
  assert.deepEqual([status, body.data.upload.status, body.data.upload.error], [200, 'failed', 'upload expired'])
  assert.equal(await jobsOf(id), 0)
})

test("404 for an unknown id and for another organization's upload, which does not change", async () => {
  assertError(await complete('0'.repeat(32)), 404, 'not_found')
  const id = await createAndPut()
  assertError(await complete(id, await api.caller()), 404, 'not_found')
  assert.equal((await getUpload(api, caller, id)).status, 'pending')
})

test('400 for an id that is not 32 lowercase hex characters', async () => {
  for (const id of ['0'.repeat(31), '0'.repeat(33), 'A'.repeat(32), 'g'.repeat(32)]) {
    assertInvalid(await complete(id), '/path/uploadId')
  }
})

test('402 after the organization changed to a plan without uploads, 200 on team', async () => {
  const team = await api.caller({ plan: 'team' })
  const created = await createUpload(api, team, FILE)
  await putFile(created, FILE)
  const { id } = created.body.data.upload
  assert.equal((await complete(id, team)).status, 200)
  await updatePlan(api.services.sql, team.slug, 'free')
  const free = await api.caller({ orgId: team.orgId })
  assertError(await complete(id, free), 402, 'plan_required')
})
