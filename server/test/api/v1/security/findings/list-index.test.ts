import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from '../../../../../src/platform/http/lists.ts'
import { getLowestUuid } from '../../../../../src/platform/ids.ts'
import { listFindings } from '../../../../../src/security/findings/finding.store.ts'
import { type RepositoryQuery, selectRepositories } from '../../../../../src/security/repositories/select-repository.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { ALL_FINDINGS } from '../../../../support/findings.ts'
import { type PlanNode, plansOf } from '../../../../support/query-plans.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const REPOSITORIES = 4
const FINDINGS_EACH = 1500
/** A page and one row more. */
const PAGE = 101

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const results = Array.from({ length: FINDINGS_EACH }, (_, index) => sarifResult(`r${index}`))
  for (let number = 1; number <= REPOSITORIES; number += 1) {
    await uploadReport(api, caller, sarif(results), { provider: 'github', repositoryId: `${number}` })
    api.clock.advance(1000)
  }
  await api.services.sql`analyze findings, finding_streams, reported_repositories`
})
after(() => api?.close())

/** The plan of one page, read through the statement that the route sends. */
async function planOf(query: RepositoryQuery, after: Page['after'] = null): Promise<PlanNode[]> {
  const selection = await selectRepositories(api.services.sql, caller.orgId, query)
  const page: Page = {
    since: new Date(0),
    until: api.clock.now(),
    retentionClamped: false,
    asked: [null, null],
    limit: PAGE - 1,
    after,
  }
  return plansOf(api, (sql) => listFindings(sql, caller.orgId, page, { ...ALL_FINDINGS, ...selection }))
}

/** The page is read from this index in the order of its ids. Of each stream it reads a page. */
function assertReadBy(plan: PlanNode[], index: string, streams = 0): void {
  // Intel is sorted too, but only looked up for findings that name a vulnerability.
  const run = plan.filter((node) => node['Actual Loops'] > 0)
  assert.ok(!run.some((node) => /Bitmap/.test(node['Node Type'])))
  const sorted = run.filter((node) => /Sort/.test(node['Node Type']))
  for (const node of sorted) assert.ok(node['Actual Rows'] <= PAGE * streams, `${node['Actual Rows']} rows sorted`)
  const scans = run.filter((node) => node['Relation Name'] === 'findings')
  const lookUp = scans.pop()
  assert.deepEqual([lookUp?.['Index Name'], lookUp?.['Actual Loops']], ['findings_pkey', PAGE])
  for (const scan of scans) {
    assert.equal(scan['Index Name'], index)
    assert.ok(scan['Actual Rows'] * scan['Actual Loops'] <= PAGE * Math.max(1, streams), `${scan['Actual Rows']} rows`)
    assert.equal(scan['Rows Removed by Filter'] ?? 0, 0)
  }
}

test('the list reads its rows in the order of their ids, on the first page and on a later one', async () => {
  assertReadBy(await planOf({}), 'findings_pkey')
  const created_at = new Date(api.clock.now().getTime() - 2000)
  const after = { created_at, id: getLowestUuid(created_at) }
  assertReadBy(await planOf({}, after), 'findings_pkey')
})

test('narrowed to a repository it reads them by its streams', async () => {
  assertReadBy(await planOf({ provider: 'github', repository_id: '1' }), 'findings_by_stream', 1)
})

test('narrowed to a provider with few streams it reads a page of each', async () => {
  assertReadBy(await planOf({ provider: 'github' }), 'findings_by_stream', REPOSITORIES)
})

test('a list reads intelligence only by its keys', async () => {
  const { sql } = api.services
  const caller = await api.caller()
  const results = Array.from({ length: 200 }, (_, at) => sarifResult(`CVE-2024-${5000 + at}`))
  await uploadReport(api, caller, sarif(results))
  await sql`
    insert into intel_epss (cve_id, score, percentile)
    select 'CVE-2024-' || number, 0.5, 0.5 from generate_series(5000, 15000) number`
  await sql`
    insert into vulnerability_aliases (id, canonical_id)
    select 'GO-2024-' || number, 'CVE-2024-' || number from generate_series(5000, 15000) number`
  await sql`analyze`
  const window = { since: new Date(0), until: api.clock.now() }
  const page = { ...window, retentionClamped: false, asked: [null, null] as [null, null], limit: 100, after: null }
  const plan = await plansOf(api, (db) => listFindings(db, caller.orgId, page, ALL_FINDINGS))
  for (const table of ['intel_epss', 'vulnerability_aliases']) {
    const scans = plan.filter((node) => node['Relation Name'] === table)
    assert.ok(scans.length > 0)
    for (const scan of scans) assert.match(scan['Node Type'], /^Index/)
  }
})
