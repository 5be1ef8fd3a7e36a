import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startWork } from '../../src/start/work.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { countStates, listFindings } from '../support/findings.ts'
import { listJobs } from '../support/queue.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'

const FIXTURES = new URL('../fixtures/sarif/', import.meta.url)
const POLLS_MAX = 20_000

type Figures = { results: number; not_findings: number; dismissed: number; tools: string[]; warning?: string }
/** What an independent program counted in the files. */
const figures: Record<string, Figures> = JSON.parse(readFileSync(new URL('expected.json', FIXTURES), 'utf8'))

/** Its invocation was not successful, so that it closes nothing. */
const SAYS_IT_FAILED = 'spotbugs.sarif'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

for (const [file, { results, not_findings, dismissed, tools, warning }] of Object.entries(figures)) {
  test(`${file} gives ${results - not_findings} findings, and nothing new when it comes again in other bytes`, async () => {
    const caller = await api.caller()
    const bytes = readFileSync(new URL(file, FIXTURES))
    const upload = await uploadReport(api, caller, bytes, { filename: file })
    assert.deepEqual([upload.status, upload.format], ['finished', 'sarif'])
    assert.equal(
      upload.warnings.length,
      file === SAYS_IT_FAILED || warning !== undefined ? 1 : 0,
      upload.warnings.join(),
    )
    const expected = results - not_findings
    assert.deepEqual([upload.counts.findings, upload.counts.created], [expected, expected])
    const findings = await listFindings(api, caller)
    assert.equal(findings.length, expected)
    assert.ok(findings.every(({ scanner, title }) => tools.includes(scanner) && title.length > 0))
    assert.equal((await countStates(api, caller)).dismissed ?? 0, dismissed)
    const again = await uploadReport(api, caller, Buffer.concat([bytes, Buffer.from('\n')]))
    assert.deepEqual([again.counts.unchanged, again.counts.resolved], [expected, 0])
  })
}

test('every tool of a repository has its own stream: its next report without results that is complete closes its findings only', async () => {
  const caller = await api.caller()
  const files = ['spotbugs.sarif', 'gosec.sarif', 'snyk.sarif'] as const
  for (const file of files) await uploadReport(api, caller, readFileSync(new URL(file, FIXTURES)))
  const total = files.reduce((sum, file) => sum + (figures[file]?.results ?? 0), 0)
  assert.deepEqual(await countStates(api, caller), { open: total })
  const empty = async (guid: string, fields = {}) => {
    api.clock.advance(1)
    const report = sarif([], 'SpotBugs', { automationDetails: { guid } })
    return (await uploadReport(api, caller, report, fields)).counts.resolved
  }
  // It would close everything, and another one without results does not agree: the sender has to say so.
  assert.deepEqual([await empty('1'), await empty('2'), await empty('3', { complete: true })], [0, 0, 56])
  assert.deepEqual(await countStates(api, caller), { fixed: 56, open: total - 56 })
})

test('from create over PUT and complete to findings, read by a real worker', { timeout: 60_000 }, async () => {
  const caller = await api.caller()
  const worker = await startWork(api.services, api.database)
  try {
    const bytes = readFileSync(new URL('spotbugs.sarif', FIXTURES))
    const created = await createUpload(api, caller, bytes, { format: 'sarif', commitSha: 'abcdef0' })
    assert.equal(created.status, 201)
    assert.equal((await putFile(created, bytes)).status, 200)
    const { id } = created.body.data.upload
    const completed = await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
    assert.equal(completed.status, 200)
    let upload = completed.body.data.upload
    const seen = new Set([upload.status])
    for (let polls = 0; polls < POLLS_MAX && upload.status !== 'finished'; polls += 1) {
      upload = await getUpload(api, caller, id)
      seen.add(upload.status)
    }
    assert.equal(upload.status, 'finished')
    assert.ok([...seen].every((status) => ['queued', 'parsing', 'finished'].includes(status)))
    assert.equal((await listFindings(api, caller)).length, 56)
  } finally {
    await worker.close()
  }
})

test('a broken file ends as failed with a real worker too, and is not tried again', { timeout: 60_000 }, async () => {
  const caller = await api.caller()
  const worker = await startWork(api.services, api.database)
  try {
    const bytes = Buffer.from('{"version":"2.1.0","runs":[{]}')
    const created = await createUpload(api, caller, bytes)
    await putFile(created, bytes)
    const { id } = created.body.data.upload
    await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
    let upload = await getUpload(api, caller, id)
    for (let polls = 0; polls < POLLS_MAX && upload.status !== 'failed'; polls += 1) {
      upload = await getUpload(api, caller, id)
    }
    assert.equal(upload.status, 'failed')
  } finally {
    await worker.close()
  }
  const tryAgain = (await listJobs(api.services.sql)).filter(({ last_error }) => last_error !== null)
  assert.equal(tryAgain.length, 0)
})
