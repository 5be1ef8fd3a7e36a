import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, rowVersions, statesByRule } from '../support/findings.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif, sarifReport, sarifResult, sarifRun } from '../support/sarif.ts'

const A = Buffer.from(JSON.stringify(sarif([sarifResult('a'), sarifResult('shared')])))
const B = Buffer.from(JSON.stringify(sarif([sarifResult('b'), sarifResult('shared')])))
const [FIRST, SECOND, THIRD] = ['1111111', '2222222', '3333333']

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const create = (file: Buffer, commitSha?: string) => createUpload(api, caller, file, commitSha ? { commitSha } : {})
const read = (id: string) => readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
const seen = async (query = {}) =>
  (await listFindings(api, caller, query)).map(({ rule_id, commit_sha, last_seen_at }) => [
    rule_id,
    commit_sha,
    Date.parse(last_seen_at),
  ])

test('an identical report for a new commit is seen in that commit now, and neither upload nor finding is written', async () => {
  const upload = await uploadReport(api, caller, A, { commitSha: FIRST })
  const rows = await rowVersions(api, caller)
  api.clock.advance(1000)
  const again = await create(A, SECOND)
  const { lanes, ...stored } = again.body.data.upload
  assert.deepEqual([again.status, { ...stored, lanes: upload.lanes }, again.body.data.put], [200, upload, null])
  const at = api.clock.now().getTime()
  assert.deepEqual((await seen()).sort(), [
    ['a', SECOND, at],
    ['shared', SECOND, at],
  ])
  assert.deepEqual(await rowVersions(api, caller), rows)
  assert.deepEqual(await getUpload(api, caller, upload.id), { ...upload, lanes })
  assert.equal(lanes[0].commit_sha, SECOND)
})

test('an identical report for the same commit, or without a commit, changes nothing', async () => {
  await uploadReport(api, caller, A, { commitSha: FIRST })
  const before = await seen()
  api.clock.advance(1000)
  await create(A, FIRST)
  await create(A)
  assert.deepEqual(await seen(), before)
})

test('findings that the report does not contain, and those of other tools, are not seen again', async () => {
  await uploadReport(api, caller, sarif([sarifResult('gone')]), { commitSha: FIRST })
  await uploadReport(api, caller, sarif([sarifResult('other')], 'Other'), { commitSha: FIRST, category: 'x' })
  api.clock.advance(1000)
  await uploadReport(api, caller, A, { commitSha: SECOND })
  api.clock.advance(1000)
  const before = Object.fromEntries((await seen()).map(([rule, ...last]) => [rule, last]))
  await create(A, THIRD)
  const now = Object.fromEntries((await seen()).map(([rule, ...last]) => [rule, last]))
  assert.deepEqual([now.gone, now.other], [before.gone, before.other])
  assert.equal(now.a?.[0], THIRD)
})

test('a report of two tools is seen again in both', async () => {
  const file = Buffer.from(
    JSON.stringify(sarifReport([sarifRun([sarifResult('one')], 'One'), sarifRun([sarifResult('two')], 'Two')])),
  )
  await uploadReport(api, caller, file, { commitSha: FIRST })
  api.clock.advance(1000)
  await create(file, SECOND)
  assert.deepEqual(
    (await seen()).map(([, commit]) => commit),
    [SECOND, SECOND],
  )
})

test('after a revert, the stored file is read again for the new commit, and the upload keeps its own', async () => {
  const { id, commit_sha, created_at } = await uploadReport(api, caller, A, { commitSha: FIRST })
  api.clock.advance(1000)
  await uploadReport(api, caller, B, { commitSha: SECOND })
  assert.deepEqual(await statesByRule(api, caller), { a: 'fixed', b: 'open', shared: 'open' })
  api.clock.advance(1000)
  const again = await create(A, THIRD)
  assert.deepEqual([again.status, again.body.data.put, again.body.data.upload.id], [200, null, id])
  await read(id)
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'fixed', shared: 'open' })
  assert.deepEqual(
    (await seen({ state: 'open' })).map(([, commit]) => commit),
    [THIRD, THIRD],
  )
  const upload = await getUpload(api, caller, id)
  assert.deepEqual([upload.status, upload.commit_sha, upload.created_at], ['finished', commit_sha, created_at])
})

test('a new commit that is named while the file is pending or queued is the one that its findings have', async () => {
  const created = await create(A, FIRST)
  await create(A, SECOND)
  await putFile(created, A)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  await create(A, THIRD)
  await read(id)
  assert.deepEqual(
    (await seen()).map(([, commit]) => commit),
    [THIRD, THIRD],
  )
  assert.equal((await getUpload(api, caller, id)).commit_sha, FIRST)
})

test('a new commit that is named while the file is read: it is read once more', async () => {
  const created = await create(A, FIRST)
  await putFile(created, A)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  const { sql } = api.services
  const reading = await sql.begin(async (tx) => {
    // The repository's lock stops the reading after its start.
    await tx`select from reported_repositories where org_id = ${caller.orgId} for update`
    const running = read(id)
    await untilParsing(id)
    await tx`
      update security_upload_lanes
      set commit_sha = ${SECOND}, reported_at = ${new Date(api.clock.now().getTime() + 1000)}
      where org_id = ${caller.orgId} and upload_id = ${id}`
    return { running }
  })
  await reading.running
  assert.equal((await getUpload(api, caller, id)).status, 'queued')
  await read(id)
  assert.equal((await getUpload(api, caller, id)).status, 'finished')
  assert.deepEqual(
    (await seen()).map(([, commit]) => commit),
    [SECOND, SECOND],
  )
})

async function untilParsing(id: string): Promise<void> {
  for (let tries = 0; tries < 5000; tries += 1) {
    if ((await getUpload(api, caller, id)).status === 'parsing') return
  }
  assert.fail('the upload is not being parsed')
}

test('simultaneous identical reports for several commits all succeed, and one commit is stored for all findings', async () => {
  await uploadReport(api, caller, A, { commitSha: FIRST })
  api.clock.advance(1000)
  const commits = Array.from({ length: 8 }, (_, index) => `abcdef${index}`)
  const answers = await Promise.all(commits.map((commit) => create(A, commit)))
  assert.ok(answers.every(({ status }) => status === 200))
  const stored = new Set((await seen()).map(([, commit]) => commit))
  assert.equal(stored.size, 1)
  assert.ok(commits.includes([...stored][0] as string))
})

test('identical reports for new commits and other reports of the repository at the same moment do not fail', async () => {
  for (let round = 0; round < 5; round += 1) {
    api.clock.advance(1000)
    const results = await Promise.all([
      create(A, `aaaaaa${round}`),
      uploadReport(api, caller, sarif([sarifResult(`r${round}`)], 'Other'), { category: 'other' }),
      create(B, `bbbbbb${round}`),
      uploadReport(api, caller, A, { commitSha: `cccccc${round}` }),
    ])
    assert.ok([200, 201].includes(results[0].status), results[0].text)
    assert.ok([200, 201].includes(results[2].status), results[2].text)
  }
})
