import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates, listFindings, rowVersions } from '../support/findings.ts'
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

let reports = 0
/**
 * What a report did and warned of. It comes a second after the one before; no two are the same
 * file.
 */
async function report(file: object) {
  api.clock.advance(1000)
  const upload = await uploadReport(api, caller, { ...file, properties: { number: ++reports } })
  assert.equal(upload.status, 'finished', upload.error)
  const { findings, created, updated, unchanged, resolved, openBySeverity } = upload.counts
  assert.equal(created + updated + unchanged, findings)
  const { open = 0 } = await countStates(api, caller)
  assert.equal(openBySeverity.medium, open)
  return { created, updated, resolved, open, warnings: upload.warnings.join('\n') }
}

const rules = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => sarifResult(`r${from + at}`))
const FULL = sarif(rules(0, 40))
const FEW = sarif(rules(0, 5))

test('a report that would close most of a stream while naming fewer rules closes nothing, and warns', async () => {
  await report(FULL)
  const held = await report(FEW)
  assert.deepEqual([held.resolved, held.open], [0, 40])
  assert.match(
    held.warnings,
    /^35 of 40 open findings of Linter are missing from this report, which names 5 rules\. The previous report named 40\./,
  )
})

test('the same content again in other bytes agrees, and closes them', async () => {
  await report(FULL)
  await report(FEW)
  const again = await report(FEW)
  assert.deepEqual([again.created, again.updated, again.resolved, again.open], [0, 0, 35, 5])
  assert.equal(again.warnings, '')
})

test('a complete report after a held one closes nothing, and all findings are open and seen now', async () => {
  await report(FULL)
  const commits = { versionControlProvenance: [] }
  await report(FEW)
  const absent = (await listFindings(api, caller)).find(({ rule_id }) => rule_id === 'r9')
  assert.equal(Date.parse(absent.last_seen_at), api.clock.now().getTime() - 1000)
  const full = await report(sarif(rules(0, 40), 'Linter', commits))
  assert.deepEqual([full.created, full.updated, full.resolved, full.open], [0, 35, 0, 40])
  const now = api.clock.now().toISOString()
  assert.ok((await listFindings(api, caller)).every(({ last_seen_at }) => last_seen_at === now))
  const rows = await rowVersions(api, caller)
  await report(FULL)
  assert.deepEqual(await rowVersions(api, caller), rows)
  assert.equal((await report(FEW)).resolved, 0)
})

test('after a held report only what is missing again is closed', async () => {
  await report(FULL)
  await report(FEW)
  const other = await report(sarif(rules(3, 10)))
  assert.deepEqual([other.resolved, other.open], [33, 7])
})

test('a report with as many rules as before, declared or named, closes the absent findings', async () => {
  const declared = { tool: { driver: { name: 'Linter', rules: rules(0, 40).map(({ ruleId }) => ({ id: ruleId })) } } }
  await report(FULL)
  assert.equal((await report(sarif(rules(0, 5), 'Linter', declared))).resolved, 35)
  const passed = rules(5, 40).map((result) => ({ ...result, kind: 'pass' }))
  await report(FULL)
  assert.equal((await report(sarif([...rules(0, 5), ...passed]))).resolved, 35)
})

test('half of a stream, and all of a stream with fewer than 20 findings, can be closed at once', async () => {
  await report(FULL)
  assert.equal((await report(sarif(rules(0, 20)))).resolved, 20)
  assert.equal((await report(sarif(rules(0, 19)))).resolved, 1)
  assert.equal((await report(sarif([]))).resolved, 19)
})

test('each tool of a report is judged separately', async () => {
  const both = (one: number, two: number) =>
    sarifReport([sarifRun(rules(0, one), 'One'), sarifRun(rules(100, 100 + two), 'Two')])
  await report(both(30, 30))
  const half = await report(both(1, 29))
  assert.deepEqual([half.resolved, half.open], [1, 59])
  assert.match(half.warnings, /^29 of 30 open findings of One /)
})

const UNSUCCESSFUL = { invocations: [{ executionSuccessful: false }] }
const notClosing: [string, file: object, warning: RegExp][] = [
  ['says that it failed', sarif([sarifResult('new')], 'Linter', UNSUCCESSFUL), /did not finish successfully/],
  ['holds results that cannot be read', sarif([sarifResult('new'), 7]), /skipped/],
  ['did not scan in every run', sarifReport([sarifRun([sarifResult('new')]), sarifRun(null)]), /did not scan/],
  ['holds a run that cannot be read', sarifReport([sarifRun([sarifResult('new')]), 7]), /could not be read/],
]
for (const [does, file, warning] of notClosing) {
  test(`a report that ${does} is applied without closing anything, and warns; the next one closes`, async () => {
    await report(sarif([sarifResult('a'), sarifResult('b')]))
    const held = await report(file)
    assert.deepEqual([held.created, held.resolved, held.open], [1, 0, 3])
    assert.match(held.warnings, /No findings of Linter were closed/)
    assert.match(held.warnings, warning)
    const whole = await report(sarif([sarifResult('new')]))
    assert.deepEqual([whole.resolved, whole.open, whole.warnings], [2, 1, ''])
  })
}

test('a tool whose runs have no results, null or absent, did not scan and closes nothing', async () => {
  await report(sarif([sarifResult('a')]))
  const rows = await rowVersions(api, caller)
  for (const results of [null, undefined]) {
    const upload = await uploadReport(api, caller, sarif(results))
    assert.deepEqual([upload.status, upload.counts.resolved], ['finished', 0])
  }
  assert.deepEqual(await rowVersions(api, caller), rows)
  assert.equal((await report(sarif([]))).resolved, 1)
})

test('a failed run that names no rule does not lower what the next report is compared with', async () => {
  await report(FULL)
  await report(sarif(rules(0, 39), 'Linter', UNSUCCESSFUL))
  assert.equal((await report(sarif(rules(0, 2)))).resolved, 1)
})
