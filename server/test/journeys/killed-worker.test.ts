import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { expireUploadsJob } from '../../src/security/uploads/expire-uploads.job.ts'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { getReportKey } from '../../src/security/uploads/upload-file.ts'
import type { Services } from '../../src/services.ts'
import { startWork } from '../../src/start/work.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates } from '../support/findings.ts'
import { clearJobs, failJobs, listJobs, loseJobs, skipPauses } from '../support/queue.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { holdReports, startWorkerProcess } from '../support/workers.ts'

const RESULTS = 300
const POLLS_MAX = 20_000
/** A worker gives jobs that do not stop 10 s. */
const STOPS_WITHIN_MS = 5000

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  await clearJobs(api.services.sql)
})
after(() => api?.close())

const reportOf = (results: number) =>
  Buffer.from(JSON.stringify(sarif(Array.from({ length: results }, (_, at) => sarifResult(`r${at}`)))))
const SMALL = reportOf(2)

/** An upload that waits for its job. */
async function queueUpload(bytes: Buffer): Promise<string> {
  const created = await createUpload(api, caller, bytes)
  assert.equal(created.status, 201)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  const headers = { 'x-request-id': 'complete' }
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key, headers })
  return id
}

async function untilSettled(id: string) {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const upload = await getUpload(api, caller, id)
    if (upload.status === 'finished' || upload.status === 'failed') return upload
    await skipPauses(api.services.sql)
  }
  throw new Error('The upload was not settled.')
}

/** Works through the queue until the upload has ended. */
async function workUntilSettled(id: string, services: Services = api.services) {
  const worker = await startWork(services, api.database)
  try {
    return await untilSettled(id)
  } finally {
    await worker.close()
  }
}

async function jobs() {
  const found = await listJobs(api.services.sql, 'security.read-upload')
  return found.map(({ attempts, attempts_max, worker_id, interruptions, request_id }) => {
    return { attempts, attempts_max, worker_id, interruptions, request_id }
  })
}

const RETURNED = { attempts: 0, attempts_max: 5, worker_id: null, interruptions: 0, request_id: 'complete' }

const settleUploads = () => expireUploadsJob.run(api.services, {})

async function assertReadAgain(bytes: Buffer): Promise<void> {
  const again = await uploadReport(api, caller, bytes)
  assert.equal(again.status, 'finished', again.error)
}

test('a report whose reading was stopped five times and killed five times is read, once, and it is right', async () => {
  await uploadReport(api, caller, sarif([sarifResult('gone'), sarifResult('r1')]))
  await clearJobs(api.services.sql)
  api.clock.advance(1000)
  const id = await queueUpload(reportOf(RESULTS))
  await using lock = await holdReports(api)
  for (let stops = 1; stops <= 5; stops += 1) {
    await using worker = startWorkerProcess(api)
    await lock.untilWaiting(1)
    const stoppedAt = performance.now()
    assert.equal(await worker.end('SIGTERM'), 0)
    assert.ok(performance.now() - stoppedAt < STOPS_WITHIN_MS, 'reading holds up the stop')
    assert.deepEqual(await jobs(), [RETURNED])
  }
  for (let kills = 1; kills <= 5; kills += 1) {
    await using worker = startWorkerProcess(api)
    await lock.untilWaiting(kills)
    await worker.end('SIGKILL')
    assert.equal((await getUpload(api, caller, id)).status, 'parsing')
  }
  await lock.release()

  const { status, error, counts } = await workUntilSettled(id)
  assert.equal(status, 'finished', error)
  assert.deepEqual([counts.findings, counts.created, counts.unchanged, counts.resolved], [RESULTS, RESULTS - 1, 1, 1])
  assert.deepEqual(await countStates(api, caller), { fixed: 1, open: RESULTS })
})

test('a report that crashes its worker repeatedly fails with a reason, and can be uploaded again', async () => {
  const id = await queueUpload(SMALL)
  await loseJobs(api.services.sql, 9)
  const upload = await workUntilSettled(id)
  assert.deepEqual(
    [upload.status, upload.error],
    ['failed', 'The report could not be read, because it was interrupted 10 times. Upload it again.'],
  )
  assert.equal(await api.services.objects.stat(getReportKey(caller.orgId, id)), null)
  await assertReadAgain(SMALL)
})

test('a report whose reading fails every time fails after five tries, and can be uploaded again', async () => {
  const id = await queueUpload(SMALL)
  let tries = 0
  const read = () => {
    tries += 1
    throw new Error('The store is broken.')
  }
  const objects = Object.create(api.services.objects, { read: { value: read } })
  const upload = await workUntilSettled(id, { ...api.services, objects })
  assert.deepEqual([upload.status, tries], ['failed', 5])
  assert.match(upload.error, /because of an internal error/)
  await assertReadAgain(SMALL)
})

test('a report whose stored file is gone fails at the first try, and can be uploaded again', async () => {
  const id = await queueUpload(SMALL)
  await api.services.objects.remove(getReportKey(caller.orgId, id))
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  const upload = await getUpload(api, caller, id)
  assert.deepEqual([upload.status, upload.error], ['failed', 'The uploaded file is no longer stored. Upload it again.'])
  await assertReadAgain(SMALL)
})

for (const [lost, loseJob] of [
  ['is gone', () => clearJobs(api.services.sql)],
  ['has used up its tries', () => failJobs(api.services.sql)],
] as const) {
  for (const status of ['queued', 'parsing']) {
    test(`a ${status} upload whose job ${lost} fails within a minute, and can be created and read again`, async () => {
      const id = await queueUpload(SMALL)
      await api.services.sql`update security_uploads set status = ${status} where id = ${id}`
      await loseJob()
      await settleUploads()
      const upload = await getUpload(api, caller, id)
      assert.equal(upload.status, 'failed')
      assert.match(upload.error, /because of an internal error\. Upload it again\.$/)
      assert.equal(await api.services.objects.stat(getReportKey(caller.orgId, id)), null)
      await assertReadAgain(SMALL)
    })
  }
}

test('uploads whose jobs wait, run or will be tried again are left alone', async () => {
  const waiting = await queueUpload(SMALL)
  const running = await queueUpload(reportOf(3))
  await api.services.sql`
    update jobs
    set attempts = attempts_max, state = 'running', worker_id = 'worker'
    where payload ->> 'upload_id' = ${running}`
  await settleUploads()
  for (const id of [waiting, running]) assert.equal((await getUpload(api, caller, id)).status, 'queued')
})
