import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { countStates, listFindings, rowVersions } from '../support/findings.ts'
import { createUpload, getUpload, uploadReport } from '../support/reports.ts'
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

let reports = 0
/**
 * What a report did and warned of. It comes a second after the one before; no two are the same
 * file.
 */
async function report(file: object, fields: object = {}) {
  api.clock.advance(1000)
  const upload = await uploadReport(api, caller, { ...file, properties: { number: ++reports } }, { ...fields })
  assert.equal(upload.status, 'finished', upload.error)
  const { findings, created, updated, unchanged, resolved, openBySeverity } = upload.counts
  assert.equal(created + updated + unchanged, findings)
  const { open = 0 } = await countStates(api, caller)
  assert.equal(openBySeverity.medium, open)
  return { created, updated, resolved, open, held: upload.held, warnings: upload.warnings.join('\n') }
}

const confirm = (id: string) => api.request('POST', `/v1/security/uploads/${id}/confirm`, { key: caller.key })

const rules = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => sarifResult(`r${from + at}`))
const UNSUCCESSFUL = { invocations: [{ executionSuccessful: false }] }
const FULL = sarif(rules(0, 40))
const FEW = sarif(rules(0, 5))

test('a report that would close most of a stream closes nothing, and warns', async () => {
  await report(FULL)
  const held = await report(FEW)
  assert.deepEqual([held.resolved, held.open], [0, 40])
  assert.equal(held.warnings, 'No findings of Linter were closed. 35 of 40 open findings are missing from the report.')
  assert.deepEqual(held.held, { findings: 35, reasons: ['35 of 40 open findings are missing from the report.'] })
})

test('the same content again in other bytes agrees, and closes them', async () => {
  await report(FULL)
  await report(FEW)
  const again = await report(FEW)
  assert.deepEqual([again.created, again.updated, again.resolved, again.open], [0, 0, 35, 5])
  assert.deepEqual([again.warnings, again.held], ['', null])
})

test('a report with under nine tenths of the results of the held one, or without any, does not agree', async () => {
  await report(FULL)
  await report(sarif(rules(0, 10)))
  assert.equal((await report(sarif([]))).resolved, 0)
  assert.equal((await report(sarif([]))).resolved, 0)
  await report(sarif(rules(0, 10)))
  assert.equal((await report(sarif(rules(0, 8)))).resolved, 0)
  assert.equal((await report(sarif(rules(0, 8)))).resolved, 32)
})

test('a report of other files does not agree: it has what the held one lacked', async () => {
  await report(FULL)
  await report(sarif(rules(0, 5)))
  const other = await report(sarif(rules(10, 15)))
  assert.deepEqual([other.resolved, other.open], [0, 40])
})

test('a report without results in the directories concerned does not agree there', async () => {
  const inDirectory = (directory: string, count: number) =>
    Array.from({ length: count }, (_, at) => placedResult({ rule: `${directory}${at}`, file: `${directory}/${at}.ts` }))
  await report(sarif([...inDirectory('a', 20), ...inDirectory('b', 20)]))
  await report(sarif(inDirectory('a', 5)))
  const again = await report(sarif(inDirectory('a', 5)))
  assert.deepEqual([again.resolved, again.open], [15, 25])
  assert.match(again.warnings, /20 of 25 open findings are missing/)
})

test('a failed or partial report before it is nothing to agree with', async () => {
  await report(FULL)
  await report(sarif(rules(0, 5), 'Linter', UNSUCCESSFUL))
  assert.equal((await report(FEW)).resolved, 0)
  assert.equal((await report(FEW, { complete: false })).resolved, 0)
  assert.equal((await report(FEW)).resolved, 0)
  assert.equal((await report(FEW)).resolved, 35)
})

test('complete: true closes what only looks wrong, and not what a stated failure or a cut holds', async () => {
  await report(FULL)
  for (const file of [sarif(rules(0, 5), 'Linter', UNSUCCESSFUL), sarif([...rules(0, 5), 7])])
    assert.equal((await report(file, { complete: true })).resolved, 0)
  assert.equal((await report(FEW, { complete: true })).resolved, 35)
})

test('the same file with complete: true is read again, and closes what it held', async () => {
  await report(FULL)
  const file = { ...FEW, properties: { number: 'again' } }
  const held = await uploadReport(api, caller, file)
  assert.equal(held.counts.resolved, 0)
  api.clock.advance(1000)
  const { upload } = (await createUpload(api, caller, Buffer.from(JSON.stringify(file)), { complete: true })).body.data
  assert.deepEqual([upload.id, upload.status], [held.id, 'queued'])
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: held.id })
  const { counts, held: after, lanes } = await getUpload(api, caller, held.id)
  assert.deepEqual([counts.resolved, after, lanes[0].complete], [35, null, true])
})

test('complete: false closes nothing', async () => {
  await report(sarif(rules(0, 2)))
  const part = await report(sarif(rules(0, 1)), { complete: false })
  assert.deepEqual([part.resolved, part.held?.findings], [0, 1])
  assert.equal((await report(sarif(rules(0, 1)))).resolved, 1)
})

test('five findings of which most are gone close with a warning', async () => {
  await report(sarif(rules(0, 6)))
  const { resolved, warnings } = await report(sarif(rules(0, 2)))
  assert.deepEqual(
    [resolved, warnings],
    [4, 'Linter: 4 of 6 open findings are missing from the report. They were closed.'],
  )
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

test('the next report that lacks the same closes it, and what it lacks beyond that', async () => {
  await report(FULL)
  await report(FEW)
  const other = await report(sarif([...rules(0, 4), ...rules(50, 53)]))
  assert.deepEqual([other.resolved, other.open], [36, 7])
})

test('a report that lists fewer rules keeps the findings of those that it does not list', async () => {
  const listing = (from: number, to: number) => ({
    tool: { driver: { name: 'Linter', rules: rules(from, to).map(({ ruleId }) => ({ id: ruleId })) } },
  })
  await report(sarif(rules(0, 10), 'Linter', listing(0, 40)))
  const held = await report(sarif(rules(0, 7), 'Linter', listing(0, 8)))
  assert.deepEqual([held.resolved, held.open, held.held?.findings], [1, 9, 2])
  assert.match(held.warnings, /2 of 3 missing .* 1 rules without results; the last complete one listed 30\./)
  assert.equal((await report(sarif(rules(0, 7), 'Linter', listing(0, 8)))).resolved, 2)
})

test('a report that lists fewer files keeps the findings of those that it does not list', async () => {
  const listing = (from: number, to: number) => ({
    artifacts: rules(from, to).map(({ ruleId }) => ({ location: { uri: `src/${ruleId}.ts` } })),
  })
  await report(sarif(rules(0, 3), 'Linter', listing(0, 40)))
  const held = await report(sarif([], 'Linter', listing(0, 2)))
  assert.deepEqual([held.resolved, held.open], [2, 1])
  assert.equal((await report(sarif([], 'Linter', listing(0, 39)))).resolved, 1)
})

test('half of a stream, and all of a stream with fewer than 20 findings, can be closed at once', async () => {
  await report(FULL)
  assert.equal((await report(sarif(rules(0, 20)))).resolved, 20)
  assert.equal((await report(sarif(rules(0, 19)))).resolved, 1)
  const all = await report(sarif([]))
  assert.deepEqual(
    [all.resolved, all.warnings],
    [19, 'Linter: 19 of 19 open findings are missing from the report. They were closed.'],
  )
})

test('each tool of a report is judged separately', async () => {
  const both = (one: number, two: number) =>
    sarifReport([sarifRun(rules(0, one), 'One'), sarifRun(rules(100, 100 + two), 'Two')])
  await report(both(30, 30))
  const half = await report(both(1, 29))
  assert.deepEqual([half.resolved, half.open], [1, 59])
  assert.match(half.warnings, /^No findings of One were closed\. 29 of 30 /)
})

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

test('a tool whose runs have no results, null or absent, did not scan and closes nothing, and is held', async () => {
  assert.equal((await report(sarif(undefined))).held, null)
  await report(sarif([sarifResult('a')]))
  const rows = await rowVersions(api, caller)
  for (const results of [null, undefined]) {
    for (const complete of [null, true]) {
      const file = sarifReport([sarifRun(results, 'Linter', { properties: { complete } })])
      const { status, counts, held, warnings } = await uploadReport(
        api,
        caller,
        file,
        complete === null ? {} : { complete },
      )
      const reasons = ['A run of the tool has no results, so it did not scan.']
      assert.deepEqual([status, counts.resolved, held], ['finished', 0, { findings: 1, reasons }])
      assert.match(warnings[0], /^No findings of Linter were closed\./)
    }
  }
  assert.deepEqual(await rowVersions(api, caller), rows)
  const other = sarifRun([sarifResult('b')], 'Other')
  const beside = await uploadReport(api, caller, sarifReport([sarifRun(undefined), other]))
  assert.deepEqual([beside.counts.created, beside.held.findings], [1, 1])
  assert.equal((await uploadReport(api, caller, sarif([]))).counts.resolved, 1)
})

test('what the last complete report stated too, or else the first, is normal for the tool', async () => {
  const stating = (exitCode: number) => ({ invocations: [{ executionSuccessful: true, exitCode }] })
  await report(sarif(rules(0, 3), 'Linter', stating(7)))
  assert.equal((await report(sarif(rules(0, 2), 'Linter', stating(7)))).resolved, 1)
  const other = await report(sarif(rules(0, 1), 'Linter', stating(8)))
  assert.deepEqual([other.resolved, other.held?.findings], [0, 1])
  assert.match(other.warnings, /did not finish successfully: the exit code is 8\./)
  assert.equal((await report(sarif(rules(0, 1), 'Linter', stating(8)))).resolved, 0)
  assert.equal((await report(sarif(rules(0, 1), 'Linter', stating(0)))).resolved, 1)
})

test('a rule that could not be run keeps its findings, and the others close', async () => {
  const failing = {
    invocations: [
      {
        executionSuccessful: true,
        toolConfigurationNotifications: [{ level: 'error', message: { text: 'x' }, associatedRule: { id: 'r1' } }],
      },
    ],
  }
  await report(sarif(rules(0, 4)))
  const { resolved, open, held } = await report(sarif(rules(0, 1), 'Linter', failing))
  assert.deepEqual([resolved, open, held?.findings], [2, 2, 1])
})

test('a confirmed upload closes what it held, also what it held for a stated failure', async () => {
  for (const fields of [{}, UNSUCCESSFUL]) {
    await report(FULL)
    await report(FULL)
    api.clock.advance(1000)
    const held = await uploadReport(api, caller, {
      ...sarif(rules(0, 5), 'Linter', fields),
      properties: { n: ++reports },
    })
    assert.equal(held.held.findings, 35)
    const { status, text, body } = await confirm(held.id)
    assert.deepEqual([status, body.data?.upload.status], [200, 'queued'], text)
    await readReportFile(api.services, { org_id: caller.orgId, upload_id: held.id })
    const { counts, held: after } = await getUpload(api, caller, held.id)
    assert.deepEqual([counts.resolved, after], [35, null])
    assertError(await confirm(held.id), 409, 'not_proposed')
  }
})

test('what was cut cannot be confirmed, and a report that is no longer the newest neither', async () => {
  await report(FULL)
  api.clock.advance(1000)
  const cut = await uploadReport(api, caller, sarif([...rules(0, 5), 7]))
  assertError(await confirm(cut.id), 409, 'not_proposed')
  api.clock.advance(1000)
  const held = await uploadReport(api, caller, FEW)
  await report(FULL)
  assertError(await confirm(held.id), 409, 'not_proposed')
  const { key } = await api.caller({ orgId: caller.orgId, scopes: ['read:security'] })
  assert.equal((await api.request('POST', `/v1/security/uploads/${held.id}/confirm`, { key })).status, 403)
})
