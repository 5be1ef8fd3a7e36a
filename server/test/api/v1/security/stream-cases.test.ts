// No second chance: what closes findings.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { findPolicyFacts } from '../../../../src/security/issues/policy-facts.store.ts'
import { readReportFile } from '../../../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { listFindings } from '../../../support/findings.ts'
import { listIssues } from '../../../support/issues.ts'
import type { Json } from '../../../support/json.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../../../support/reports.ts'
import { placedResult, sarif } from '../../../support/sarif.ts'

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
  const facts = await findPolicyFacts(api.services.sql, caller.orgId, 'github.com/acme/app', 'main')
  const open = Object.values(facts.findings.open).reduce((sum, count) => sum + count, 0)
  assert.deepEqual([facts.scans.length, open], [2, 2], 'a policy sees the findings of both')
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
  assert.equal((await send('F18-2')).counts.resolved, 0)
  assert.ok((await states()).includes('b open'))
})

test('a report that begins to name its category continues the stream without one (F11)', async () => {
  await send('F11-1')
  const before = (await listFindings(api, caller)).map(({ id }) => id).sort()
  const { category, counts } = await send('F11-2')
  assert.deepEqual([category, counts.created, counts.resolved], ['nightly/app', 0, 1])
  assert.deepEqual(await states(), ['src/f0.py open', 'src/f1.py open', 'src/f2.py fixed'])
  assert.deepEqual((await listFindings(api, caller)).map(({ id }) => id).sort(), before)
  assert.equal(await countOpenIssues(), 2)
  const { body } = await api.request('GET', '/v1/security/streams', { key: caller.key })
  assert.deepEqual(
    body.data.map((stream: Json) => [stream.category, stream.status]),
    [
      ['nightly/app', 'active'],
      [null, 'ended'],
    ],
  )
})

const inDirectory = (directory: string, count: number) =>
  Array.from({ length: count }, (_, at) => placedResult({ rule: `${directory}${at}`, file: `${directory}/${at}.ts` }))

async function report(results: object[], fields: Json = {}): Promise<Json> {
  api.clock.advance(60_000)
  const upload = await uploadReport(api, caller, { ...sarif(results), properties: { number: ++reports } }, fields)
  assert.equal(upload.status, 'finished', upload.error)
  return upload
}
let reports = 0

test('each first report with a category continues its part of the stream without one, and closes only there', async () => {
  await report([...inDirectory('a', 4), ...inDirectory('b', 3)], { commitSha: '1111111' })
  const a = await report(inDirectory('a', 4), { category: 'a', commitSha: '2222222' })
  assert.deepEqual([a.counts.created, a.counts.resolved], [0, 0])
  const b = await report(inDirectory('b', 2), { category: 'b', commitSha: '2222222' })
  assert.deepEqual([b.counts.created, b.counts.resolved], [0, 1])
  const next = await report(inDirectory('a', 3), { category: 'a', commitSha: '3333333' })
  assert.equal(next.counts.resolved, 1)
  assert.deepEqual(
    (await states()).filter((state) => state.endsWith('fixed')),
    ['a/3.ts fixed', 'b/2.ts fixed'],
  )
})

test('a report with a category continues nothing of its own commit, nor what it has less than half of', async () => {
  await report(inDirectory('a', 4), { commitSha: '1111111' })
  assert.equal((await report(inDirectory('a', 4), { category: 'a', commitSha: '1111111' })).counts.created, 4)
  assert.equal((await report(inDirectory('a', 2), { category: 'b', commitSha: '2222222' })).counts.created, 2)
})

test('reports of one commit within an hour add up with a warning, unless they are complete', async () => {
  const commit = { commitSha: '1111111' }
  await report(inDirectory('a', 3), commit)
  const part = await report(inDirectory('b', 3), commit)
  assert.deepEqual([part.counts.resolved, part.held, part.warnings.length], [0, null, 1])
  assert.match(part.warnings[0], /adds to the one of the same commit/)
  assert.equal((await report(inDirectory('a', 3), { ...commit, complete: true })).counts.resolved, 3)
  api.clock.advance(61 * 60_000)
  assert.equal((await report(inDirectory('c', 3), commit)).counts.resolved, 3)
})

test('the first part of the next commit closes nothing that another part of the commit before had, only what none had', async () => {
  const resolved = async (directory: string, count: number, commitSha: string) =>
    (await report(inDirectory(directory, count), { commitSha })).counts.resolved
  await resolved('a', 3, '1111111')
  await resolved('b', 3, '1111111')
  api.clock.advance(2 * 60 * 60_000)
  const part = await report(inDirectory('a', 2), { commitSha: '2222222' })
  assert.deepEqual([part.counts.resolved, part.held, part.warnings.length], [0, null, 1])
  assert.match(part.warnings[0], /4 findings of other reports of the commit before stay open/)
  assert.equal(await resolved('b', 2, '2222222'), 0)
  assert.equal(await resolved('a', 2, '3333333'), 2)
  assert.deepEqual(await states(), [
    'a/0.ts open',
    'a/1.ts open',
    'a/2.ts fixed',
    'b/0.ts open',
    'b/1.ts open',
    'b/2.ts fixed',
  ])
})

test('equal results of two parts of one commit are two findings: nothing moved between their files', async () => {
  const lodash = (file: string) => placedResult({ rule: 'CVE-2021-23337', file, message: 'lodash@4.17.20' })
  const parts = async (commitSha: string, ...others: object[]) => {
    const added: string[] = []
    for (const file of ['a/yarn.lock', 'b/yarn.lock']) {
      const { counts } = await report([lodash(file), ...others], { commitSha })
      added.push(`${counts.created} ${counts.updated}`)
      others.length = 0
    }
    return added
  }
  assert.deepEqual(await parts('1111111'), ['1 0', '1 0'])
  assert.deepEqual(await states(), ['a/yarn.lock open', 'b/yarn.lock open'])
  const edited = (text: string) => placedResult({ rule: 'eval', file: 'a/x.ts', line: 9, snippet: text })
  assert.deepEqual(await parts('2222222', edited('eval(one)')), ['1 1', '0 1'])
  const [before] = await listFindings(api, caller, { path: 'a/x.ts' })
  await report([lodash('b/yarn.lock'), lodash('c/yarn.lock')], { commitSha: '3333333' })
  assert.deepEqual((await states()).filter((state) => state.includes('lock')).sort(), [
    'a/yarn.lock open',
    'b/yarn.lock open',
    'c/yarn.lock open',
  ])
  await report([lodash('a/yarn.lock'), edited('eval(two)')], { commitSha: '3333333' })
  const [after] = await listFindings(api, caller, { path: 'a/x.ts' })
  assert.deepEqual(
    [after?.id, after?.identity.method],
    [before?.id, 'edited_in_place'],
    'edited since the commit before',
  )
  await report([placedResult({ rule: 'eval', file: 'a/x.ts', line: 9, snippet: 'eval(three)' })], {
    commitSha: '3333333',
  })
  assert.equal((await listFindings(api, caller, { path: 'a/x.ts', state: 'open' })).length, 2, 'one commit, two texts')
})

test('equal results at two lines of two parts of one commit are two findings, of the next commit one that moved', async () => {
  const at = (line: number) => placedResult({ rule: 'eval', file: 'a/x.ts', line, snippet: 'eval(one)' })
  const parts = [at(10), placedResult({ rule: 'S' })]
  await report(parts, { commitSha: '1111111' })
  assert.equal((await report([at(40)], { commitSha: '1111111' })).counts.created, 1)
  assert.equal((await report([at(10)], { commitSha: '1111111' })).counts.created, 0)
  assert.deepEqual(await states(), ['a/x.ts open', 'a/x.ts open', 'src/a.ts open'])
  assert.equal((await report([at(12), at(42)], { commitSha: '2222222' })).counts.created, 0)
  await report([at(12), at(42), at(50)], { commitSha: '2222222' })
  assert.equal((await report([at(12), at(50)], { commitSha: '2222222' })).counts.created, 0, 'fewer of them')
})

test('a job that is run again for its commit is whole: the next commit closes what it lacks', async () => {
  const commit = { commitSha: '1111111' }
  await report(inDirectory('a', 3), commit)
  await report(inDirectory('a', 4), commit)
  assert.equal((await report(inDirectory('a', 3), { commitSha: '2222222' })).counts.resolved, 1)
})

test('a report without results that states that it failed is no scan for policies', async () => {
  const scans = async () => (await findPolicyFacts(api.services.sql, caller.orgId, 'github.com/acme/app', 'main')).scans
  await send('F14a-2')
  assert.deepEqual(await scans(), [])
  await send('F14a-1')
  assert.equal((await scans()).length, 1)
})

test('an issue that is open again is a new issue of the report, one that stays open is none', async () => {
  await report(inDirectory('a', 2))
  await report(inDirectory('a', 1))
  const back = await report(inDirectory('a', 2))
  assert.deepEqual([back.counts.created, back.counts.newIssues], [0, 1])
  assert.equal((await report(inDirectory('a', 2), { category: 'again' })).counts.newIssues, 0)
})

test('the part of a scan that was registered first and is read last adds to it, and closes nothing', async () => {
  const fields = { commitSha: '1111111', complete: true }
  const first = Buffer.from(JSON.stringify(sarif(inDirectory('a', 3))))
  const created = await createUpload(api, caller, first, fields)
  const newest = await report(inDirectory('b', 3), { commitSha: '1111111' })
  await putFile(created, first)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  const { status, counts, warnings } = await getUpload(api, caller, id)
  assert.deepEqual([status, counts.created, counts.resolved, warnings.length], ['finished', 3, 0, 1])
  assert.match(warnings[0], /adds to the one of the same commit/)
  assert.equal((await states()).filter((state) => state.endsWith(' open')).length, 6)
  const [stream] = await api.services.sql`
    select upload_id, reports
    from finding_streams
    where org_id = ${caller.orgId}`
  assert.deepEqual({ ...stream }, { upload_id: newest.id, reports: 2 })
})

test('categories that differ in numbers get a warning from the third on, the older ones are stale and can be ended (F12)', async () => {
  for (const number of [1, 2])
    assert.deepEqual((await send(`F12-${number}`, { category: `scan-${number}` })).warnings, [])
  for (const number of [3, 4]) {
    const { warnings } = await send(`F12-${number}`, { category: `scan-${number}` })
    assert.match(warnings.join(), new RegExp(`scan-${number} is one of ${number} that differ`))
  }
  const { body } = await api.request('GET', '/v1/security/streams?status=stale', { key: caller.key })
  assert.deepEqual(body.data.map(({ category }: Json) => category).sort(), ['scan-1', 'scan-2', 'scan-3'])
  for (const { id } of body.data) {
    const ending = { key: caller.key, body: { reason: 'One category from now on.' } }
    assert.equal((await api.request('POST', `/v1/security/streams/${id}/end`, ending)).status, 200)
  }
  assert.equal(await countOpenIssues(), 0)
})

test('categories of one commit, and those that are reported again, do not grow', async () => {
  const versions = [8, 11, 17]
  for (const commitSha of ['1111111', '2222222'])
    for (const version of versions) {
      const { warnings } = await report(inDirectory(`v${version}`, 1), { category: `java-${version}`, commitSha })
      assert.deepEqual(warnings, [])
    }
  const { body } = await api.request('GET', '/v1/security/streams?status=stale', { key: caller.key })
  assert.deepEqual(body.data, [])
})

test('findings of a pull request of a repository that is not linked open no issue, unless they are stated to be tracked (F13)', async () => {
  await send('F13-1', { gitRef: 'main' })
  const request = await send('F13-2', { gitRef: 'refs/pull/7/merge' })
  assert.deepEqual([request.tracked, request.counts.newIssues], [false, 0])
  await send('F13-3', { gitRef: 'main' })
  assert.equal(await countOpenIssues(), 1)
  assert.equal((await send('F13-2', { gitRef: 'refs/pull/8/merge', tracked: true })).tracked, true)
})
