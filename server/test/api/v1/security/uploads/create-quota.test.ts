import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { BUILT_IN_PLANS } from '../../../../../src/organizations/plan.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createUpload, uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const PER_COMMIT_MAX = 3
const COMMIT = 'abcdef0'
const HOUR_MS = 3_600_000

let api: TestApi
let directory: string
let caller: Caller

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-plans-'))
  const file = join(directory, 'plans.json')
  const small = { security_uploads_per_commit_max: PER_COMMIT_MAX, security_report_bytes_max: 1000 }
  await writeFile(file, JSON.stringify(BUILT_IN_PLANS.map((plan) => ({ ...plan, ...small }))))
  api = await startTestApi({ env: { SHIPLOCK_PLANS_FILE: file } })
})
after(async () => {
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  caller = await api.caller()
})

let files = 0
const newFile = () => Buffer.from(`a file that was never sent before: ${++files}`)
const create = (fields: Record<string, unknown> = {}, file = newFile()) => createUpload(api, caller, file, fields)

async function useUp(fields: Record<string, unknown> = {}): Promise<void> {
  for (let used = 0; used < PER_COMMIT_MAX; used += 1) assert.equal((await create(fields)).status, 201)
}

test("429 rate_limited past the plan's uploads per repository and commit", async () => {
  await useUp({ commitSha: COMMIT })
  const details = assertError(await create({ commitSha: COMMIT }), 429, 'rate_limited')
  assert.deepEqual(details, { limit: PER_COMMIT_MAX, resetAt: null, reason: 'UPLOADS_PER_COMMIT' })
})

test('another commit, no commit and another repository are counted apart', async () => {
  await useUp({ commitSha: COMMIT })
  for (const fields of [{ commitSha: 'abcdef1' }, {}, { commitSha: COMMIT, repository: 'acme/other' }]) {
    assert.equal((await create(fields)).status, 201)
  }
  assert.equal((await createUpload(api, await api.caller(), newFile(), { commitSha: COMMIT })).status, 201)
})

test('another category, ref or format is counted with the rest', async () => {
  await useUp({ commitSha: COMMIT })
  for (const fields of [{ category: 'x' }, { gitRef: 'x' }, { format: 'spdx' }, { repository: 'ACME/App' }]) {
    assertError(await create({ commitSha: COMMIT, ...fields }), 429, 'rate_limited')
  }
})

/**
 * Uses everything up with uploads that are finished: those that nobody completes fail in time, and
 * count no more.
 */
async function finishAll(fields: Record<string, unknown> = {}): Promise<void> {
  for (let used = 0; used < PER_COMMIT_MAX; used += 1) {
    const upload = await uploadReport(api, caller, sarif([sarifResult(`rule-${++files}`)]), fields)
    assert.equal(upload.status, 'finished')
  }
}

const advanceTo = (time: string) => api.clock.advance(Date.parse(time) - api.clock.now().getTime())

test('without commitSha, uploads are counted per UTC day', async () => {
  await finishAll()
  const details = assertError(await create(), 429, 'rate_limited')
  assert.equal(details.resetAt, '2026-03-05T00:00:00.000Z')
  advanceTo('2026-03-04T23:59:59.999Z')
  assertError(await create(), 429, 'rate_limited')
  advanceTo('2026-03-05T00:00:00.000Z')
  assert.equal((await create()).status, 201)
})

test('the limit of a commit does not reset on the next day', async () => {
  await finishAll({ commitSha: COMMIT })
  api.clock.advance(24 * HOUR_MS)
  assertError(await create({ commitSha: COMMIT }), 429, 'rate_limited')
})

test('a repeat is free, also when everything is used up', async () => {
  const file = newFile()
  assert.equal((await create({ commitSha: COMMIT }, file)).status, 201)
  for (let repeated = 0; repeated < 5; repeated += 1) {
    assert.equal((await create({ commitSha: COMMIT }, file)).status, 200)
  }
  assert.equal((await create({ commitSha: COMMIT })).status, 201)
  assert.equal((await create({ commitSha: COMMIT })).status, 201)
  assertError(await create({ commitSha: COMMIT }), 429, 'rate_limited')
  assert.equal((await create({ commitSha: COMMIT }, file)).status, 200)
})

test('a failed upload is not counted, one that is refused neither', async () => {
  assert.equal((await uploadReport(api, caller, newFile(), { commitSha: COMMIT })).status, 'failed')
  assertError(await create({ commitSha: COMMIT, size: 1001 }), 413, 'payload_too_large')
  await useUp({ commitSha: COMMIT })
})

test('exact under twenty simultaneous creates', async () => {
  for (const fields of [{ commitSha: COMMIT }, {}]) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(fields)))
    const created = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 429)
    assert.deepEqual([created.length, refused.length], [PER_COMMIT_MAX, 20 - PER_COMMIT_MAX])
  }
})
