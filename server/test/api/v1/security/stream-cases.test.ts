// No second chance: what closes findings.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { listFindings } from '../../../support/findings.ts'
import { listIssues } from '../../../support/issues.ts'
import type { Json } from '../../../support/json.ts'
import { uploadReport } from '../../../support/reports.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

/** Uploads a file of `fixtures/cases`, two hours after the one before. */
async function send(file: string, fields: Json = {}): Promise<Json> {
  api.clock.advance(2 * 60 * 60 * 1000)
  const report = readFileSync(new URL(`../../../fixtures/cases/${file}.json`, import.meta.url))
  const upload = await uploadReport(api, caller, report, fields)
  assert.equal(upload.status, 'finished', upload.error)
  return upload
}

async function states(): Promise<string[]> {
  const findings = await listFindings(api, caller)
  return findings.map((finding) => `${finding.package_name ?? finding.location.path} ${finding.state}`).sort()
}
const countOpenIssues = async () => (await listIssues(api, caller, { status: 'open' })).length

test('a scanner that is renamed by its edition goes on in its stream (F09)', async () => {
  await send('F09-1')
  await send('F09-2')
  assert.deepEqual(await states(), ['src/f0.py open', 'src/f1.py open', 'src/f2.py fixed'])
  assert.equal(await countOpenIssues(), 2)
})

test('reports about two images close nothing of each other, without a category (F16a)', async () => {
  await send('F16a-1')
  await send('F16a-2')
  assert.deepEqual(await states(), ['pkg-01 open', 'pkg-02 open'])
  const { body } = await api.request('GET', '/v1/security/streams', { key: caller.key })
  assert.deepEqual(body.data.map(({ subject }: Json) => subject).sort(), ['acme/pay', 'acme/web'])
})

test('a report and a bill of materials of one run close nothing of each other (F17)', async () => {
  await send('F17-1')
  await send('F17-2')
  assert.deepEqual(await states(), ['zlib open', 'zlib open'])
})

test('a report that states an error and an exit code, and has no results, closes nothing and warns (F14a)', async () => {
  await send('F14a-1')
  const before = await states()
  const { counts, held, warnings } = await send('F14a-2')
  assert.deepEqual([counts.resolved, held.findings, await states()], [0, before.length, before])
  assert.match(
    warnings.join(' '),
    /the exit code is 2 without results, and it states the error "Could not download rules"/,
  )
})

test('a scan of two of thirty files with the same rules is held back (F15)', async () => {
  await send('F15-1')
  const { counts, held, warnings } = await send('F15-2')
  assert.deepEqual([counts.resolved, held.findings, warnings.length], [0, 28, 1])
  assert.equal(
    (await states()).every((state) => state.endsWith(' open')),
    true,
  )
})

test('a document without tool and components closes nothing of another one (F18)', async () => {
  await send('F18-1')
  const { held } = await send('F18-2')
  assert.equal(held.findings, 1)
  assert.ok((await states()).includes('b open'))
})
