import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, rowVersions, statesByRule } from '../support/findings.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { placedResult, sarif, sarifReport, sarifResult, sarifRun } from '../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

/** An upload that is queued, a second after the one before; `read` is what the worker does. */
async function queue(file: object, options: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  const bytes = Buffer.from(JSON.stringify(file))
  const created = await createUpload(api, caller, bytes, options)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  const completed = await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  assert.equal(completed.body.data.upload.status, 'queued')
  return {
    id,
    read: () => readReportFile(api.services, { org_id: caller.orgId, upload_id: id }),
    get: () => getUpload(api, caller, id),
  }
}

const letters = ['a', 'b', 'c', 'd']
const subset = fc.subarray(letters)

test('two equal results stay two findings, and are closed and reopened one by one', async () => {
  const twin = sarifResult('twin')
  for (const [round, copies] of [2, 3, 1, 2].entries()) {
    api.clock.advance(1000)
    const marks = { automationDetails: { guid: `${round}` } }
    const upload = await uploadReport(api, caller, sarif(Array(copies).fill(twin), 'Linter', marks))
    assert.equal(upload.counts.findings, copies)
    const open = (await listFindings(api, caller)).filter(({ state }) => state === 'open')
    assert.equal(open.length, copies)
  }
  assert.equal((await listFindings(api, caller)).length, 3)
})

test('property: a report in any order writes nothing, equal results included', async () => {
  // Three that share a fingerprint at different lines, two that are equal in all, and others.
  const results = [
    ...[3, 1, 2].map((line) => sarifResult('same', line)),
    sarifResult('twin'),
    sarifResult('twin'),
    ...letters.map((letter) => sarifResult(letter)),
  ]
  await uploadReport(api, caller, sarif(results))
  const before = await rowVersions(api, caller)
  assert.equal(before.length, results.length)
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(results, { minLength: results.length }), async (shuffled) => {
      api.clock.advance(1000)
      const { counts } = await uploadReport(api, caller, sarif(shuffled))
      assert.deepEqual([counts.unchanged, counts.resolved], [results.length, 0])
      assert.deepEqual(await rowVersions(api, caller), before)
    }),
    { numRuns: 15 },
  )
})

test('property: after any series of reports, the open findings are those of the newest report, and the counts add up', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(subset, { minLength: 1, maxLength: 5 }), async (reports) => {
      caller = await api.caller()
      for (const [index, rules] of reports.entries()) {
        const marks = { automationDetails: { guid: `${index}` } }
        api.clock.advance(1000)
        const upload = await uploadReport(
          api,
          caller,
          sarif(
            rules.map((rule) => sarifResult(rule)),
            'Linter',
            marks,
          ),
        )
        const { findings, created, updated, unchanged, openBySeverity } = upload.counts
        assert.deepEqual([findings, created + updated + unchanged], [rules.length, rules.length])
        assert.equal(openBySeverity.medium, rules.length)
      }
      const ever = new Set(reports.flat())
      const newest = new Set(reports.at(-1))
      const expected = [...ever].sort().map((rule) => [rule, newest.has(rule) ? 'open' : 'fixed'])
      assert.deepEqual(await statesByRule(api, caller), Object.fromEntries(expected))
    }),
    { numRuns: 10 },
  )
})

test('an older upload that is read after a newer one changes nothing and has a warning', async () => {
  const older = await queue(sarif([sarifResult('gone')]))
  const newer = await queue(sarif([sarifResult('here')]))
  await newer.read()
  const before = await rowVersions(api, caller)
  await older.read()
  const { status, counts, warnings } = await older.get()
  assert.equal(status, 'finished')
  assert.deepEqual([counts.created, counts.updated, counts.resolved], [0, 0, 0])
  assert.match(warnings.join(), /newer report/)
  assert.deepEqual(await rowVersions(api, caller), before)
  assert.equal(counts.openBySeverity.medium, 1)
})

test('of an older upload read late, only the tools of newer reports are skipped', async () => {
  const older = await queue(
    sarifReport([sarifRun([sarifResult('one-old')], 'One'), sarifRun([sarifResult('two')], 'Two')]),
  )
  const newer = await queue(sarif([sarifResult('one-new')], 'One'))
  await newer.read()
  await older.read()
  assert.deepEqual(await statesByRule(api, caller), { 'one-new': 'open', two: 'open' })
  const { counts } = await older.get()
  assert.deepEqual([counts.findings, counts.created, counts.updated + counts.unchanged], [2, 1, 1])
})

test('after two uploads of one stream are read at the same time, the newer one applies', async () => {
  for (let round = 0; round < 5; round += 1) {
    caller = await api.caller()
    const shared = Array.from({ length: 20 }, (_, index) => sarifResult(`shared${index}`))
    const older = await queue(sarif([...shared, sarifResult('older')]))
    const newer = await queue(sarif([...shared, sarifResult('newer')]))
    await Promise.all(round % 2 ? [older.read(), newer.read()] : [newer.read(), older.read()])
    const states = await statesByRule(api, caller)
    assert.equal(states.newer, 'open')
    assert.notEqual(states.older, 'open')
    assert.equal(Object.keys(states).filter((rule) => rule.startsWith('shared')).length, 20)
    assert.equal((await older.get()).status, 'finished')
    assert.equal((await newer.get()).status, 'finished')
  }
})

test('two reports that move equal findings, read at the same time, keep every finding once', async () => {
  const equal = (...lines: number[]) => lines.map((line) => placedResult({ line, snippet: 'eval(x)' }))
  for (let round = 0; round < 5; round += 1) {
    caller = await api.caller()
    await uploadReport(api, caller, sarif(equal(10, 20, 30, 40)))
    const first = await listFindings(api, caller)
    const older = await queue(sarif(equal(20, 30, 40)))
    const newer = await queue(sarif(equal(15, 25, 35, 45, 50)))
    await Promise.all(round % 2 ? [older.read(), newer.read()] : [newer.read(), older.read()])
    assert.deepEqual([(await older.get()).status, (await newer.get()).status], ['finished', 'finished'])
    const findings = await listFindings(api, caller)
    assert.equal(findings.filter(({ state }) => state === 'open').length, 5)
    const ids = new Set(findings.map(({ id }) => id))
    for (const { id } of first) assert.ok(ids.has(id))
    assert.equal(findings.length, 5)
  }
})

test('reports of two tools in opposite order, read at the same instant, both finish', async () => {
  for (let round = 0; round < 5; round += 1) {
    caller = await api.caller()
    const run = (tool: string) => sarifRun([sarifResult(tool)], tool)
    const first = await queue(sarifReport([run('One'), run('Two')]))
    const second = await queue(sarifReport([run('Two'), run('One')]))
    await Promise.all([first.read(), second.read()])
    assert.deepEqual([(await first.get()).status, (await second.get()).status], ['finished', 'finished'])
    assert.deepEqual(await statesByRule(api, caller), { One: 'open', Two: 'open' })
  }
})

test('a job that runs twice, one after the other or at the same instant, stores everything once', async () => {
  const upload = await queue(sarif([sarifResult('a'), sarifResult('b')]))
  await Promise.allSettled([upload.read(), upload.read(), upload.read()])
  const finished = await upload.get()
  assert.deepEqual([finished.status, finished.counts.created], ['finished', 2])
  const before = await rowVersions(api, caller)
  await upload.read()
  assert.deepEqual(await rowVersions(api, caller), before)
  assert.deepEqual(await upload.get(), finished)
})

test('more than 100,000 results: the first 100,000 are kept, and nothing is closed', { timeout: 60_000 }, async () => {
  const LIMIT = 100_000
  await uploadReport(api, caller, sarif([{ ruleId: 'old' }, { ruleId: 'r7' }]))
  api.clock.advance(1000)
  const results = Array.from({ length: LIMIT + 1 }, (_, index) => ({ ruleId: `r${index}` }))
  const upload = await uploadReport(api, caller, sarif(results))
  assert.deepEqual([upload.status, upload.truncated], ['finished', true])
  const { findings, created, unchanged, resolved } = upload.counts
  assert.deepEqual([findings, created, unchanged, resolved], [LIMIT, LIMIT - 1, 1, 0])
  const [old] = await api.services.sql`
    select state
    from findings
    where org_id = ${caller.orgId}
      and rule_id = 'old'`
  assert.equal(old?.state, 'open')
  assert.ok(upload.warnings.length > 0)
})
