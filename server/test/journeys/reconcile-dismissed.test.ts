import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, rowVersions } from '../support/findings.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { dismissAll } from '../support/triage.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

let reports = 0
/** Uploads a report a second after the one before; no two are the same file. */
async function report(results: unknown[], options: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  const marks = { automationDetails: { guid: `${++reports}` } }
  const upload = await uploadReport(api, caller, sarif(results, 'Linter', marks), options)
  assert.equal(upload.status, 'finished', upload.error)
  return upload
}

const only = async () => (await listFindings(api, caller))[0]
const suppressed = (status?: string) => sarifResult('a', 1, { suppressions: [{ kind: 'external', status }] })

const dismiss = () =>
  dismissAll(api, caller.orgId, { reason: 'wont_fix', comment: 'known', by: { id: null, name: 'Kim' } })

test('a suppressed result arrives dismissed, counts as finding and is no new issue', async () => {
  const { counts } = await report([suppressed('accepted')])
  assert.deepEqual([counts.findings, counts.created, counts.newIssues], [1, 1, 0])
  assert.deepEqual(counts.openBySeverity, { critical: 0, high: 0, medium: 0, low: 0 })
  const finding = await only()
  assert.deepEqual([finding.state, finding.dismissal_source], ['dismissed', 'report'])
  assert.equal(finding.dismissed_at, api.clock.now().toISOString())
})

test('a suppression without status counts, one under review or rejected does not', async () => {
  for (const [status, state] of [
    [undefined, 'dismissed'],
    ['underReview', 'open'],
    ['rejected', 'open'],
  ]) {
    await report([suppressed(status)])
    assert.equal((await only()).state, state, status)
  }
})

test('a dismissal by a report follows the report: open when no longer suppressed, dismissed again, fixed when absent', async () => {
  await report([suppressed()])
  await report([sarifResult('a')])
  const open = await only()
  assert.deepEqual([open.state, open.dismissed_at, open.dismissal_source], ['open', null, null])
  await report([suppressed(), sarifResult('b', 1, { kind: 'pass' })])
  assert.equal((await only()).state, 'dismissed')
  await report([])
  assert.equal((await only()).state, 'fixed')
})

test('a dismissal by a person is kept when later reports contain the finding, changed or not', async () => {
  await report([sarifResult('a')])
  await dismiss()
  const dismissedAt = api.clock.now().toISOString()
  const before = await rowVersions(api, caller)
  await report([sarifResult('a')])
  await report([sarifResult('a'), sarifResult('b')])
  assert.deepEqual(
    (await rowVersions(api, caller)).filter(({ id }) => id === before[0]?.id),
    before,
  )
  await report([sarifResult('a', 30, { level: 'error' })])
  const finding = (await listFindings(api, caller)).find(({ rule_id }) => rule_id === 'a')
  assert.deepEqual(
    [finding.state, finding.dismissal_source, finding.dismiss_reason, finding.dismiss_comment],
    ['dismissed', 'shiplock', 'wont_fix', 'known'],
  )
  assert.deepEqual([finding.dismissed_by_name, finding.dismissed_at], ['Kim', dismissedAt])
  assert.deepEqual([finding.severity, finding.location.start_line], ['high', 30])
})

test("a person's dismissal outlives a suppression in the report, and its end", async () => {
  await report([sarifResult('a')])
  await dismiss()
  await report([suppressed()])
  assert.equal((await only()).dismissal_source, 'shiplock')
  await report([sarifResult('a', 2)])
  assert.deepEqual([(await only()).state, (await only()).dismissal_source], ['dismissed', 'shiplock'])
})

test('a dismissal by a person is kept while the finding is absent, which does not resolve it', async () => {
  await report([sarifResult('a')], { commitSha: 'aaaaaaa' })
  await dismiss()
  const seenAt = (await only()).last_seen_at
  const gone = await report([], { commitSha: 'bbbbbbb' })
  assert.equal(gone.counts.resolved, 0)
  const absent = await only()
  assert.deepEqual([absent.state, absent.last_seen_at, absent.commit_sha], ['dismissed', seenAt, 'aaaaaaa'])
  const before = await rowVersions(api, caller)
  await report([sarifResult('b')])
  assert.deepEqual(
    (await rowVersions(api, caller)).filter(({ id }) => id === before[0]?.id),
    before,
  )
  await report([sarifResult('a')])
  const back = (await listFindings(api, caller)).find(({ rule_id }) => rule_id === 'a')
  assert.deepEqual([back.state, back.last_seen_at], ['dismissed', api.clock.now().toISOString()])
})
