import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { parseBranchName } from '../../src/repositories/repository-identity.ts'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, statesByRule } from '../support/findings.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { sarif, sarifResult, scoredResult } from '../support/sarif.ts'

const POLLS_MAX = 20_000

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

type Fields = Record<string, unknown>

/** Uploads a report a second after the one before. */
async function report(rules: string[], options: Fields = {}, run: Fields = {}) {
  api.clock.advance(1000)
  return uploadReport(api, caller, toFile(rules, run), options)
}

/** Registers a report whose file is stored already. */
async function register(rules: string[], options: Fields = {}, run: Fields = {}) {
  const { body } = await createUpload(api, caller, Buffer.from(JSON.stringify(toFile(rules, run))), options)
  return body.data.upload
}

function toFile(rules: string[], run: Fields) {
  return sarif(
    rules.map((rule) => sarifResult(rule)),
    'Linter',
    run,
  )
}

test('main and refs/heads/main are one stream; uploads and findings show the ref as sent', async () => {
  const short = await report(['a', 'b'], { gitRef: 'main' })
  const long = await report(['a'], { gitRef: 'refs/heads/main' })
  assert.deepEqual([long.counts.created, long.counts.unchanged, long.counts.resolved], [0, 1, 1])
  assert.deepEqual([short.git_ref, long.git_ref], ['main', 'refs/heads/main'])
  for (const { git_ref } of await listFindings(api, caller)) assert.equal(git_ref, 'refs/heads/main')
  await report(['tag'], { gitRef: 'refs/tags/main' })
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'fixed', tag: 'open' })
})

test('the same file for the other form of a branch is the same upload, and becomes the newest report again', async () => {
  const first = await report(['a', 'b'], { gitRef: 'main' })
  await report(['a'], { gitRef: 'refs/heads/main' })
  api.clock.advance(1000)
  const again = await register(['a', 'b'], { gitRef: 'refs/heads/main' })
  assert.deepEqual([again.id, again.status], [first.id, 'queued'])
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: first.id })
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'open' })
})

test('reports without a ref belong to the tracked branch, in either form of its name', async () => {
  await report(['a', 'b'])
  await report(['c'], { gitRef: 'refs/heads/trunk' })
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app', trackedBranch: 'trunk' })
  const seen = await report(['c', 'd'])
  assert.deepEqual([seen.counts.created, seen.counts.unchanged], [1, 1])
})

const NAMED = { automationDetails: { id: 'nightly/linux/2026-03-04' } }

test('the category that a report states is shown on its upload and findings, and determines the stream', async () => {
  const named = await report(['a'], {}, NAMED)
  assert.equal(named.category, 'nightly/linux')
  assert.equal((await listFindings(api, caller))[0].category, 'nightly/linux')
  const sent = await report(['b'], { category: 'nightly/linux' })
  assert.deepEqual([sent.counts.created, sent.counts.resolved], [1, 1])
  assert.equal((await report(['c'], { category: 'own' }, NAMED)).category, 'own')
  assert.equal((await report([], {})).category, null)
})

test('a file that states its own category is the same upload without one, and becomes the newest report again', async () => {
  const first = await report(['a'], {}, NAMED)
  assert.equal((await report(['a'], {}, NAMED)).id, first.id)
  await report(['b'], { category: 'nightly/linux' })
  const again = await register(['a'], {}, NAMED)
  assert.deepEqual([again.id, again.status], [first.id, 'queued'])
})

test('findings that are only noted for their branch open no issue', async () => {
  const file = (mark: number) => sarif([scoredResult('a', 9.5), scoredResult('b', 7.5)], 'Linter', { marks: [mark] })
  const { counts } = await uploadReport(api, caller, file(1), { tracked: false })
  assert.deepEqual([counts.created, counts.newIssues, counts.newCritical, counts.newHigh], [2, 0, 0, 0])
  assert.deepEqual(counts.openBySeverity, { critical: 1, high: 1, medium: 0, low: 0 })
  const tracked = await uploadReport(api, caller, file(2), { tracked: true, category: 'x' })
  const { newIssues, newCritical, newHigh } = tracked.counts
  assert.deepEqual([newIssues, newCritical, newHigh], [2, 1, 1])
})

test('findings are created in the order in which reports lock their stream, not in which files are opened', async () => {
  api.clock.advance(1000)
  const bytes = Buffer.from(JSON.stringify(sarif([sarifResult('a')])))
  const created = await createUpload(api, caller, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  const holder = await api.services.sql.reserve()
  try {
    await holder`begin`
    await holder`lock table finding_streams in share row exclusive mode`
    const reading = readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
    await untilWaiting()
    api.clock.advance(60_000)
    await holder`rollback`
    await reading
  } finally {
    holder.release()
  }
  assert.equal((await getUpload(api, caller, id)).status, 'finished')
  assert.equal((await listFindings(api, caller))[0].first_seen_at, api.clock.now().toISOString())
})

/** Polls until a session waits for a lock of this database. */
async function untilWaiting(): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const waiting = await api.services.sql`
      select from pg_stat_activity
      where datname = current_database()
        and wait_event_type = 'Lock'`
    if (waiting.length > 0) return
  }
  throw new Error('Nobody waits.')
}

test('the database and the rule agree on the name of a branch, and the database separates other refs', async () => {
  for (const ref of ['main', 'refs/heads/main', 'release/1', 'refs/tags/v1', 'refs/pull/1/merge']) {
    const [row] = await api.services.sql`select branch_name(${ref}) as name`
    assert.equal(row?.name, parseBranchName(ref) ?? ref)
  }
})
