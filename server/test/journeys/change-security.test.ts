import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { findChangeSecurity } from '../../src/security/issues/change-security.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { analyzeIssues, insertIssues } from '../support/many-issues.ts'
import { plansOf } from '../support/query-plans.ts'
import { uploadReport } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { sarif, scoredResult } from '../support/sarif.ts'

const CRITICAL = scoredResult('critical', 9.5)
const HIGH = scoredResult('high', 7.5)
const MEDIUM = scoredResult('medium', 5)
const HEAD = 'a'.repeat(40)
const NONE = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
const NOTHING_ADDED = { ...NONE, known_exploited: 0 }

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  await link(api, caller, { provider: 'github', id: '1001', name: 'acme/shop', trackedBranch: 'main' })
})

/** Reports the results of a ref, a minute after the previous report. */
async function report(results: unknown[], gitRef = 'main', options: Record<string, unknown> = {}): Promise<void> {
  api.clock.advance(60_000)
  await uploadReport(api, caller, sarif(results, 'Scanner'), { repository: 'acme/shop', gitRef, ...options })
}

const PULL = { number: 7, head_ref: 'feature', commits: [HEAD] }

function security(at: Date, pull: Parameters<typeof findChangeSecurity>[3] = PULL) {
  const repository = { org_id: caller.orgId, provider: 'github', repository_id: '1001', full_name: 'acme/shop' }
  return findChangeSecurity(api.services.sql, repository, at, pull)
}

test('without a report on the tracked branch, the state is unknown', async () => {
  await report([HIGH], 'feature')
  assert.equal(await security(api.clock.now()), null)
})

test('the open issues of the tracked branch are counted by severity', async () => {
  await report([CRITICAL, HIGH])
  await report([MEDIUM], 'other')
  assert.deepEqual(await security(api.clock.now()), {
    open: { ...NONE, critical: 1, high: 1 },
    known_exploited: 0,
    added: null,
  })
})

test('issues that were found or fixed after the landing count as they were when it landed', async () => {
  await report([HIGH])
  const landed = api.clock.now()
  await report([CRITICAL])
  assert.deepEqual((await security(landed))?.open, { ...NONE, high: 1 })
  assert.deepEqual((await security(api.clock.now()))?.open, { ...NONE, critical: 1 })
})

test('a report that came after the landing says nothing about it', async () => {
  const landed = api.clock.now()
  await report([HIGH])
  assert.equal(await security(landed), null)
})

for (const [title, gitRef, options] of [
  ['its branch', 'refs/heads/feature', {}],
  ['its ref', 'refs/pull/7/merge', {}],
  ['its commit', 'refs/heads/renamed', { commitSha: HEAD }],
] as const) {
  test(`a pull request adds the issues that a report about ${title} has and the tracked branch had not`, async () => {
    await report([HIGH])
    await report([HIGH, CRITICAL], gitRef, options)
    const landed = api.clock.now()
    await report([HIGH, CRITICAL, MEDIUM])
    const found = await security(landed)
    assert.deepEqual(found?.open, { ...NONE, high: 1 })
    assert.deepEqual(found?.added, { ...NOTHING_ADDED, critical: 1 })
    assert.equal((await security(landed, null))?.added, null)
    assert.equal((await security(landed, { number: 8, head_ref: null, commits: [] }))?.added, null)
  })
}

test('a pull request that was scanned and adds nothing adds no issues', async () => {
  await report([HIGH])
  await report([HIGH], 'feature')
  assert.deepEqual((await security(api.clock.now()))?.added, NOTHING_ADDED)
})

test('an issue in the KEV catalog is counted', async () => {
  await report([HIGH])
  await report([HIGH, CRITICAL], 'feature')
  await api.services.sql`update security_issues set kev = true where org_id = ${caller.orgId}`
  const found = await security(api.clock.now())
  assert.deepEqual([found?.known_exploited, found?.added?.known_exploited], [1, 1])
})

test("another organization's reports are not counted", async () => {
  await report([HIGH])
  const owner = caller
  caller = await api.caller()
  assert.equal(await security(api.clock.now()), null)
  assert.notEqual(owner.orgId, caller.orgId)
})

test('findings are read through the index of their stream', ON_ONE_SERVER, async () => {
  caller = await api.caller()
  await insertIssues(api, caller.orgId, 20_000, 200)
  await analyzeIssues(api)
  const repository = { org_id: caller.orgId, provider: 'github', repository_id: '7', full_name: 'acme/large-7' }
  const nodes = await plansOf(api, async (sql) => {
    const found = await findChangeSecurity(sql, repository, api.clock.now(), PULL)
    assert.ok(found !== null && found.open.high > 0)
  })
  const tables = ['findings', 'security_issues', 'finding_streams']
  for (const node of nodes.filter((each) => tables.includes(each['Relation Name'] ?? ''))) {
    const what = JSON.stringify({ ...node, Plans: undefined })
    assert.doesNotMatch(node['Node Type'], /Seq Scan/, what)
    assert.ok(node['Actual Rows'] * node['Actual Loops'] <= 200, what)
  }
})
