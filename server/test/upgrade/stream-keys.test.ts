import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import type { Json } from '../support/json.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult, sarifRun } from '../support/sarif.ts'

let api: TestApi
let caller: Caller
let reports = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

async function report(tool: string, rules: string[], fields: Json = {}): Promise<Json> {
  api.clock.advance(2 * 60 * 60 * 1000)
  const results = rules.map((rule) => sarifResult(rule))
  return uploadReport(api, caller, { ...sarif(results, tool), properties: { number: ++reports } }, fields)
}

/** The rows as they were stored before they had keys. Names of tools told streams apart. */
async function storeAsBefore(renamed: Record<string, string> = {}): Promise<void> {
  const { sql } = api.services
  for (const [category, tool] of Object.entries(renamed))
    await sql`
      update finding_streams
      set tool = ${tool}, category = null, tool_family = null
      where org_id = ${caller.orgId} and category = ${category}`
  await sql`
    update finding_streams
    set tool_family = null, format_family = null, subject = null, facts = null
    where org_id = ${caller.orgId}`
}

const states = async () => (await listFindings(api, caller)).map(({ rule_id, state }) => `${rule_id} ${state}`).sort()
const listStreams = async () =>
  (await api.request('GET', '/v1/security/streams', { key: caller.key })).body.data.map(({ tool }: Json) => tool)

test('a stored stream goes on under a new name of its tool, and the upgrade itself changes no finding', async () => {
  await report('Semgrep', ['a', 'b', 'c'])
  const before = await listFindings(api, caller)
  await storeAsBefore()
  assert.deepEqual(await listFindings(api, caller), before)
  const { counts } = await report('Semgrep OSS', ['a', 'b'])
  assert.deepEqual([counts.created, counts.resolved], [0, 1])
  assert.deepEqual(await listStreams(), ['Semgrep OSS'])
})

test('stored streams of one tool go on in the newest; what the next report lacks closes, and comes back', async () => {
  await report('semgrep', ['a', 'b'], { category: 'older' })
  await report('Semgrep OSS', ['a', 'c'])
  await storeAsBefore({ older: 'semgrep' })
  assert.deepEqual((await listStreams()).sort(), ['Semgrep OSS', 'semgrep'])
  assert.deepEqual(await states(), ['a open', 'a open', 'b open', 'c open'])
  const next = await report('Semgrep OSS', ['a', 'c', 'd'])
  assert.deepEqual([next.counts.created, next.counts.resolved], [1, 2])
  assert.deepEqual(await states(), ['a fixed', 'a open', 'b fixed', 'c open', 'd open'])
  assert.deepEqual(await listStreams(), ['Semgrep OSS'])
  const again = await report('Semgrep OSS', ['a', 'b', 'c', 'd'])
  assert.equal(again.counts.created, 0)
  assert.deepEqual(await states(), ['a fixed', 'a open', 'b open', 'c open', 'd open'])
})

test('what the newest stored file states of failures is normal for a stored stream', async () => {
  const stating = (exitCode: number) => ({ invocations: [{ executionSuccessful: false, exitCode }] })
  const send = (rules: string[], exitCode: number) => {
    api.clock.advance(2 * 60 * 60 * 1000)
    const results = rules.map((rule) => sarifResult(rule))
    return uploadReport(api, caller, { ...sarif(results, 'Bugs', stating(exitCode)), properties: { n: ++reports } })
  }
  await send(['a', 'b', 'c'], 7)
  await storeAsBefore()
  assert.equal((await send(['a', 'b'], 8)).held.findings, 1)
  assert.equal((await send(['a', 'b'], 7)).counts.resolved, 1)
})

test('a program of the version before, which knows no keys, makes no stream', async () => {
  const { sql } = api.services
  const [{ no }] = await sql<[{ no: number }]>`
    insert into reported_repositories (org_id, name, created_at)
    values (${caller.orgId}, 'acme/old', now())
    returning id as no`
  const made = sql`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, lane, source, origin, tracked, reported_at, seen_at
    )
    values (${caller.orgId}, ${no}, null, 'main', 'Trivy', 'key', 'sarif', 'upload', true, '-infinity', '-infinity')
    on conflict do nothing`
  await assert.rejects(Promise.resolve(made), { code: '23514', constraint: 'finding_streams_have_key' })
})

test('the files and rules that the newest stored file lists are normal for a stored stream', async () => {
  const listing = (files: number) => ({
    artifacts: Array.from({ length: files }, (_, at) => ({ location: { uri: `src/${at}.ts` } })),
  })
  const send = (rules: string[], files: number) => {
    api.clock.advance(2 * 60 * 60 * 1000)
    const results = rules.map((rule) => sarifResult(rule))
    return uploadReport(api, caller, { ...sarif(results, 'Bugs', listing(files)), properties: { n: ++reports } })
  }
  await send(['a', 'b'], 40)
  await storeAsBefore()
  assert.equal((await send(['a'], 10)).held.findings, 1)
})

test('two reports at once settle the stored streams once', async () => {
  const all = (number: number) => ({
    ...sarif([], 'One'),
    runs: ['One', 'Two', 'Three'].map((tool) => sarifRun([sarifResult(`${tool}-x`)], tool)),
    properties: { number },
  })
  await uploadReport(api, caller, all(1))
  await storeAsBefore()
  const both = await Promise.all([uploadReport(api, caller, all(2)), uploadReport(api, caller, all(3))])
  assert.deepEqual(
    both.map(({ status, error }) => [status, error]),
    [
      ['finished', null],
      ['finished', null],
    ],
  )
  assert.deepEqual((await listStreams()).sort(), ['One', 'Three', 'Two'])
  assert.deepEqual(await states(), ['One-x open', 'Three-x open', 'Two-x open'])
})
