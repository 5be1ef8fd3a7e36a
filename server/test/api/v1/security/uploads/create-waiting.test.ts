import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import {
  artifactOf,
  postAttestations,
  postComplete,
  postReport,
  putArtifact,
  scan,
} from '../../../../support/ci-reports.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import type { Json } from '../../../../support/json.ts'
import { newRunClaims, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const WAITING_MAX = 2000
const GIB = 1024 ** 3
const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001' }
const STRANGE = { event_name: 'pull_request_target' }

let api: TestApi
let caller: TokenCaller
let files = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
})
test.afterEach(() => caller.close())

function newFile(fields = {}) {
  files += 1
  const sha256 = files.toString(16).padStart(64, '0')
  return { filename: 'scan.sarif', size: 1000, sha256, ...REPOSITORY, ...fields }
}

const byKey = (body: Json = newFile(), { key }: Pick<Caller, 'key'> = caller) =>
  api.request('POST', '/v1/security/uploads', { key, body })
const byToken = (claims = {}, body = newFile()) =>
  caller.send('POST', '/v1/security/uploads', body, newRunClaims(claims))

/** Copies a waiting upload, until so many of its lane wait. */
async function fill(id: string, count: number, fields: { size?: number; status?: string } = {}): Promise<void> {
  const { size = 1, status = 'queued' } = fields
  await api.services.sql`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, commit_sha, tracked, trust,
      created_by_type, created_by_id, created_by_name, put_until, reported_at, created_at, updated_at, waiting_lane
    )
    select org_id, md5(id || number::text), repository_no, origin, ${status}, requested_format, filename, ${size},
      lpad(number::text, 64, 'a'), md5(number::text), tracked, trust, created_by_type, created_by_id, created_by_name,
      put_until, reported_at, created_at, updated_at, waiting_lane
    from security_uploads, generate_series(1, ${count - 1}::int) as number
    where org_id = ${caller.orgId}
      and id = ${id}`
}

test('429 with Retry-After when 2,000 uploads of the lane wait, until some are read; other lanes and organizations go on', async () => {
  const { body } = await byToken(STRANGE)
  await fill(body.data.upload.id, WAITING_MAX)
  const refused = await byToken(STRANGE)
  assertError(refused, 429, 'rate_limited')
  assert.equal(refused.headers.get('retry-after'), '60')
  const { details, message } = refused.body.error
  assert.deepEqual(details, { limit: WAITING_MAX, resetAt: null, reason: 'UPLOADS_WAITING' })
  assert.match(message, /2000 uploads/)
  for (const answer of [await byToken(), await byKey(), await byKey(newFile(), await api.caller())])
    assert.equal(answer.status, 201)
  await api.services.sql`
    update security_uploads
    set status = 'finished'
    where org_id = ${caller.orgId}
      and sha256 = lpad('1', 64, 'a')`
  assert.equal((await byToken(STRANGE)).status, 201)
})

const elsewhere = (index: number) => ({ ...plainFile(), repository: `acme/app-${index}` })
const plainFile = () => {
  const { filename, size, sha256 } = newFile()
  return { filename, size, sha256 }
}

test('of many requests at the same time no more are accepted than there is room, and none waits for another', async () => {
  const { body } = await byKey()
  await fill(body.data.upload.id, WAITING_MAX - 2)
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => byKey(elsewhere(index))))
  for (const { status } of answers) assert.ok(status === 201 || status === 429)
  const accepted = answers.filter(({ status }) => status === 201).length
  assert.ok(accepted >= 1 && accepted <= 2, `${accepted} were accepted`)
  for (let index = accepted; index < 2; index += 1) assert.equal((await byKey(elsewhere(10 + index))).status, 201)
  assertError(await byKey(), 429, 'rate_limited')
})

test('while another request is counted, one close to the limit is 429 for a second; far from it none is', async () => {
  const { body } = await byKey()
  const name = `waiting uploads ${caller.orgId} key`
  await api.services.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
    assert.equal((await byKey()).status, 201)
    await fill(body.data.upload.id, WAITING_MAX - 10)
    const refused = await byKey()
    assertError(refused, 429, 'rate_limited')
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal((await byToken()).status, 201)
  })
  assert.equal((await byKey()).status, 201)
})

test('a report of a CI job that names a file to be read is 429 when its lane is full, and can be completed later', async () => {
  const { body } = await byKey()
  await fill(body.data.upload.id, WAITING_MAX)
  const run = await createRun(api, caller)
  const bytes = '{"version": "2.1.0", "runs": []}'
  const report = { job: { name: 'scan' }, artifacts: [artifactOf('scan.sarif', bytes), artifactOf('log.txt', 'log')] }
  const { data } = (
    await postReport(api, caller, run.id, { ...report, attestations: [scan({ artifact: 'scan.sarif' })] })
  ).body
  const [file, log] = data.uploads
  for (const [slot, text] of [
    [file, bytes],
    [log, 'log'],
  ] as const)
    await putArtifact(slot, text)
  const named = { run_id: run.id, report_id: data.report_id }
  assert.equal((await postComplete(api, caller, named, [log.artifact_id])).status, 200)
  const refused = await postComplete(api, caller, named, [file.artifact_id])
  assertError(refused, 429, 'rate_limited')
  assert.equal(refused.body.error.details.reason, 'UPLOADS_WAITING')
  await api.services.sql`
    update security_uploads
    set status = 'finished'
    where org_id = ${caller.orgId}
      and sha256 = lpad('1', 64, 'a')`
  const completed = await postComplete(api, caller, named, [file.artifact_id])
  assert.deepEqual([completed.status, completed.body.data.results[0].status], [200, 'uploaded'])
})

test('a file that was sent before is 429 when an attestation names it and its lane is full', async () => {
  const { body } = await byKey()
  await fill(body.data.upload.id, WAITING_MAX)
  const run = await createRun(api, caller)
  const bytes = '{"version": "2.1.0", "runs": []}'
  const { data } = (await postReport(api, caller, run.id, { job: {}, artifacts: [artifactOf('a.sarif', bytes)] })).body
  await putArtifact(data.uploads[0], bytes)
  const named = { run_id: run.id, report_id: data.report_id }
  assert.equal((await postComplete(api, caller, named, [data.uploads[0].artifact_id])).status, 200)
  assertError(await postAttestations(api, caller, named, [scan({ artifact: 'a.sarif' })]), 429, 'rate_limited')
})

test('429 when 4 GiB of the lane would wait, also for a larger size of a file that waits', async () => {
  const { body } = await byKey()
  await fill(body.data.upload.id, 2, { size: 4 * GIB - 5000 })
  assertError(await byKey(newFile({ size: 5000 })), 429, 'rate_limited')
  const small = newFile({ size: 1000 })
  assert.equal((await byKey(small)).status, 201)
  assertError(await byKey({ ...small, size: 5000 }), 429, 'rate_limited')
  assert.equal((await byKey(small)).status, 200)
})

test('who sends files of another lane again fills the own lane only', async () => {
  const { body } = await byToken()
  const { id } = body.data.upload
  await api.services.sql`
    update security_uploads
    set status = 'finished', waiting_lane = 'verified'
    where org_id = ${caller.orgId}`
  const again = { filename: 'scan.sarif', size: 1000, sha256: files.toString(16).padStart(64, '0'), ...REPOSITORY }
  const { body: sent } = await byToken(STRANGE, again)
  assert.deepEqual([sent.data.upload.id, sent.data.upload.status], [id, 'queued'])
  await fill(id, WAITING_MAX)
  assertError(await byToken(STRANGE), 429, 'rate_limited')
  assert.equal((await byToken()).status, 201)
})
