import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates, listFindings, rowVersions, statesByRule } from '../support/findings.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifReport, sarifResult, sarifRun } from '../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

/** Uploads a report a second after the one before. */
async function report(file: string | Buffer | object, options: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  return uploadReport(api, caller, file, options)
}

/** What a report did, and that it adds up. */
async function outcome(file: object, options: Record<string, unknown> = {}) {
  const upload = await report(file, options)
  assert.equal(upload.status, 'finished', upload.error)
  const { findings, created, updated, unchanged, resolved } = upload.counts
  assert.equal(created + updated + unchanged, findings)
  return { created, updated, unchanged, resolved }
}

const only = async () => {
  const [finding, ...others] = await listFindings(api, caller)
  assert.equal(others.length, 0)
  return finding
}

test('created, updated, unchanged and resolved add up to what changed', async () => {
  const [a, b, c] = [sarifResult('a'), sarifResult('b'), sarifResult('c')]
  assert.deepEqual(await outcome(sarif([a, b, c])), { created: 3, updated: 0, unchanged: 0, resolved: 0 })
  const moved = { ...b, level: 'error' }
  assert.deepEqual(await outcome(sarif([a, moved, sarifResult('d')])), {
    created: 1,
    updated: 1,
    unchanged: 1,
    resolved: 1,
  })
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'open', c: 'fixed', d: 'open' })
})

test('the same content in other bytes writes no finding row and closes nothing', async () => {
  const results = Array.from({ length: 50 }, (_, index) => sarifResult(`r${index}`, index + 1))
  await report(sarif(results))
  const before = await rowVersions(api, caller)
  const invocations = [{ executionSuccessful: true, endTimeUtc: '2026-01-01T00:00:00Z' }]
  const others = [
    JSON.stringify(sarif(results), null, 2),
    JSON.stringify(sarif(results.toReversed())),
    JSON.stringify(sarif(results, 'Linter', { invocations })),
    `\ufeff${JSON.stringify(sarif(results))}`,
  ]
  for (const file of others) {
    const { counts } = await report(file)
    assert.deepEqual(
      [counts.created, counts.updated, counts.unchanged, counts.resolved, counts.newIssues],
      [0, 0, 50, 0, 0],
    )
  }
  assert.deepEqual(await rowVersions(api, caller), before)
})

test('a finding that is still present was last seen now, by the newest commit', async () => {
  await report(sarif([sarifResult('a')]), { commitSha: 'aaaaaaa' })
  const first = await only()
  await report(sarif([sarifResult('a'), sarifResult('b')]), { commitSha: 'bbbbbbb' })
  await report(sarif([sarifResult('a'), sarifResult('c')]), { commitSha: 'ccccccc' })
  const findings = await listFindings(api, caller)
  const [a, b] = ['a', 'b'].map((rule) => findings.find(({ rule_id }) => rule_id === rule))
  assert.equal(a.first_seen_at, first.first_seen_at)
  assert.equal(a.last_seen_at, api.clock.now().toISOString())
  assert.equal(a.commit_sha, 'ccccccc')
  assert.equal(Date.parse(b.last_seen_at), api.clock.now().getTime() - 1000)
  assert.deepEqual([b.state, b.commit_sha], ['fixed', 'bbbbbbb'])
})

test('an absent finding is fixed; when it returns, the same finding is open with its first_seen_at', async () => {
  await report(sarif([sarifResult('a')]))
  const first = await only()
  assert.deepEqual(await outcome(sarif([])), { created: 0, updated: 0, unchanged: 0, resolved: 1 })
  assert.equal((await only()).state, 'fixed')
  const still = sarif([], 'Linter', { invocations: [] })
  assert.deepEqual(await outcome(still), { created: 0, updated: 0, unchanged: 0, resolved: 0 })
  const back = sarif([sarifResult('a', 9)])
  assert.deepEqual(await outcome(back), { created: 0, updated: 1, unchanged: 0, resolved: 0 })
  const again = await only()
  assert.deepEqual([again.id, again.state, again.first_seen_at], [first.id, 'open', first.first_seen_at])
})

test('a moved line is not a new finding, and is shown at its new location', async () => {
  await report(sarif([sarifResult('a', 1)]))
  assert.deepEqual(await outcome(sarif([sarifResult('a', 40)])), { created: 0, updated: 1, unchanged: 0, resolved: 0 })
  assert.deepEqual((await only()).location, { path: 'src/a.ts', start_line: 40, end_line: 40 })
})

test('severity at detection stays what it was when the severity changes', async () => {
  await report(sarif([sarifResult('a', 1, { level: 'note' })]))
  await report(sarif([sarifResult('a', 1, { level: 'error' })]))
  const finding = await only()
  assert.deepEqual([finding.severity, finding.intel_at_detection.severity], ['high', 'low'])
  assert.equal(finding.intel_at_detection.at, finding.first_seen_at)
})

test('a tool without results closes its own findings, and none of another tool, category, ref or repository', async () => {
  const untouched: [file: object, options: object][] = [
    [sarif([sarifResult('other-tool')], 'Other'), {}],
    [sarif([sarifResult('other-category')]), { category: 'x' }],
    [sarif([sarifResult('other-ref')]), { gitRef: 'feature' }],
    [sarif([sarifResult('other-repository')]), { repository: 'acme/other' }],
    [sarif([sarifResult('other-provider')]), { provider: 'github' }],
  ]
  for (const [file, options] of untouched) await report(file, options as Record<string, unknown>)
  await report(sarif([sarifResult('mine')]))
  await report(sarifReport([]))
  assert.equal((await countStates(api, caller)).open, 6)
  assert.equal((await outcome(sarif([]))).resolved, 1)
  assert.deepEqual(await statesByRule(api, caller), {
    mine: 'fixed',
    'other-category': 'open',
    'other-provider': 'open',
    'other-ref': 'open',
    'other-repository': 'open',
    'other-tool': 'open',
  })
})

test('two tools in one file are two streams, and runs of one tool are one', async () => {
  const both = sarifReport([
    sarifRun([sarifResult('a')], 'One'),
    sarifRun([sarifResult('b')], 'Two'),
    sarifRun([sarifResult('c')], 'One'),
  ])
  await report(both)
  assert.equal((await outcome(sarif([sarifResult('a')], 'One'))).resolved, 1)
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'open', c: 'fixed' })
})

test('results that report no problem, or that the baseline marks as absent, are not findings', async () => {
  const kinds = ['pass', 'notApplicable', 'informational'].map((kind) => sarifResult(kind, 1, { kind }))
  const kept = ['fail', 'open', 'review'].map((kind) => sarifResult(kind, 1, { kind }))
  const absent = sarifResult('absent', 1, { baselineState: 'absent' })
  const upload = await report(sarif([...kinds, ...kept, absent, sarifResult('plain')]))
  assert.equal(upload.counts.findings, 4)
  assert.deepEqual(Object.keys(await statesByRule(api, caller)), ['fail', 'open', 'plain', 'review'])
})

test('a broken report changes nothing, even if it breaks after thousands of valid results', async () => {
  await report(sarif([sarifResult('a')]))
  const before = await rowVersions(api, caller)
  const many = JSON.stringify(sarif(Array.from({ length: 5000 }, (_, index) => sarifResult(`r${index}`))))
  for (const file of [
    many.slice(0, -3),
    `${many}x`,
    many.replace('"r4999"', '"r4999'),
    '{"version":"2.1.0","runs":7}',
  ]) {
    const upload = await report(file)
    assert.equal(upload.status, 'failed')
    assert.ok(upload.error)
  }
  assert.deepEqual(await rowVersions(api, caller), before)
  assert.equal((await only()).state, 'open')
})

test('a report whose results cannot be read fails, and closes nothing', async () => {
  await report(sarif([sarifResult('a')]))
  const upload = await report(sarif([7, null, {}]))
  assert.deepEqual([upload.status, (await only()).state], ['failed', 'open'])
})
