import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from '../../../../../src/platform/http/lists.ts'
import { getLowestUuid } from '../../../../../src/platform/ids.ts'
import { computePackageBuckets } from '../../../../../src/security/issues/grouping/bucket.ts'
import { listIssues } from '../../../../../src/security/issues/issue.store.ts'
import type { IssueSelection } from '../../../../../src/security/issues/issue-page.store.ts'
import { selectRepositories } from '../../../../../src/security/repositories/select-repository.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { analyzeIssues, insertIssues, RARE } from '../../../../support/many-issues.ts'
import { type PlanNode, plansOf } from '../../../../support/query-plans.ts'

const ISSUES = 20_000
const LIMIT = 10
/** Issues of one facet that a page may look at: the page's own, and one more. */
const OF_A_FACET_MAX = LIMIT + 1

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  await insertIssues(api, caller.orgId, ISSUES)
  await analyzeIssues(api)
})
after(() => api?.close())

const ALL: IssueSelection = {
  ...{ repositoryNos: null, provider: null, severity: null, status: null, kind: null },
  ...{ kev: null, urgent: null, epssMin: null, vulnIds: null, buckets: null, sort: 'newest' },
}

/** How one page reads the issues, through the statement that the route sends. */
async function scansOf(selection: Partial<IssueSelection>, after: Page['after'] = null): Promise<PlanNode[]> {
  const page: Page = {
    ...{ since: new Date(0), until: api.clock.now(), retentionClamped: false },
    ...{ asked: [null, null], limit: LIMIT, after },
  }
  const plan = await plansOf(api, (sql) => listIssues(sql, caller.orgId, page, { ...ALL, ...selection }))
  return plan.filter((node) => node['Relation Name'] === 'security_issues' && node['Actual Loops'] > 0)
}

/** The scans that find the page. The others look up what was found, by its id. */
function assertReadBy(scans: PlanNode[], index: string): PlanNode[] {
  const finding = scans.filter((node) => node['Index Name'] !== 'security_issues_pkey')
  assert.ok(finding.length > 0)
  for (const scan of finding) {
    assert.equal(scan['Index Name'], index)
    assert.ok(scan['Actual Rows'] <= OF_A_FACET_MAX, `${scan['Actual Rows']} rows of a facet`)
    assert.equal(scan['Rows Removed by Filter'] ?? 0, 0)
  }
  return finding
}

test('the list without filters reads one page of an index', async () => {
  const [scan] = assertReadBy(await scansOf({}), 'security_issues_by_creation')
  assert.deepEqual([scan?.['Actual Rows'], scan?.['Actual Loops']], [LIMIT + 1, 1])
})

const FACETED: [title: string, selection: Partial<IssueSelection>][] = [
  ['by severity', { severity: 'critical' }],
  ['by status', { status: 'open' }],
  ['by kind', { kind: 'secret' }],
  ['by KEV', { kev: true }],
  ['of urgent issues', { urgent: true }],
  ['by all of them', { severity: 'low', status: 'fixed', kind: 'dependency', kev: false }],
  ['sorted by severity', { sort: 'severity' }],
]

for (const [title, selection] of FACETED) {
  test(`${title} it reads no more than a page of each facet`, async () => {
    assertReadBy(await scansOf(selection), 'security_issues_by_facet')
  })
}

test('rare values are found without reading other rows', async () => {
  const scans = assertReadBy(await scansOf({ status: 'dismissed' }), 'security_issues_by_facet')
  const rows = scans.reduce((sum, node) => sum + Math.round(node['Actual Rows'] * node['Actual Loops']), 0)
  assert.ok(rows <= RARE + 1, `${rows} rows`)
})

test('of a repository, or of a provider with few of them, it reads only their issues', async () => {
  const [row] = await api.services.sql`select id from reported_repositories where name = 'acme/small'`
  for (const query of [{ repository: 'acme/small' }, { provider: 'gitlab' } as const]) {
    const selection = await selectRepositories(api.services.sql, caller.orgId, query)
    assert.deepEqual(selection.repositoryNos, [row?.id])
    assertReadBy(await scansOf(selection), 'security_issues_by_repository')
    assertReadBy(await scansOf({ ...selection, severity: 'high' }), 'security_issues_by_repository')
  }
})

test('the same holds for a repository without planner statistics', async () => {
  const { sql } = api.services
  const [large] = await sql`select id from reported_repositories where name = 'acme/large-0'`
  const [small] = await sql`select id from reported_repositories where name = 'acme/small'`
  const rows =
    await sql`update security_issues set repository_no = ${large?.id} where repository_no = ${small?.id} returning id`
  await sql`analyze security_issues`
  await sql`update security_issues set repository_no = ${small?.id} where id = any(${rows.map(({ id }) => id)}::uuid[])`
  for (const sort of ['newest', 'severity'] as const) {
    assertReadBy(await scansOf({ repositoryNos: [small?.id], sort }), 'security_issues_by_repository')
  }
})

test('by EPSS it reads scored issues in their order, and the others in theirs', async () => {
  const scans = await scansOf({ sort: 'epss' })
  const used = new Set(scans.map((node) => node['Index Name']))
  assert.deepEqual(used, new Set(['security_issues_by_epss', 'security_issues_by_facet', 'security_issues_pkey']))
  for (const scan of scans) assert.ok(scan['Actual Rows'] <= OF_A_FACET_MAX)
})

test('a later page reads as much as the first, in every order', async () => {
  const created_at = new Date(api.clock.now().getTime() - ISSUES / 2)
  const after = { created_at, id: getLowestUuid(created_at) }
  assertReadBy(await scansOf({}, after), 'security_issues_by_creation')
  assertReadBy(await scansOf({ sort: 'severity' }, { ...after, sort_value: 3 }), 'security_issues_by_facet')
  for (const scan of await scansOf({ sort: 'epss' }, { ...after, sort_value: 0.0002 })) {
    assert.ok(scan['Actual Rows'] <= OF_A_FACET_MAX)
    assert.equal(scan['Rows Removed by Filter'] ?? 0, 0)
  }
})

test('with a least EPSS score it reads what an index by score has, where few are as high', async () => {
  for (const scan of await scansOf({ epssMin: 0.5 })) {
    assert.match(scan['Index Name'] ?? '', /^security_issues_(by_epss|pkey)$/)
    assert.equal(scan['Rows Removed by Filter'] ?? 0, 0)
  }
})

test('of a vulnerability or a package it reads only their issues, in every order', async () => {
  const name = 'made-package'
  const { sql } = api.services
  await sql`
    update security_issues
    set bucket = decode(${computePackageBuckets(name)[0] as string}, 'hex')
    where vuln_ids && array['CVE-2024-100', 'CVE-2024-200']`
  for (const sort of ['newest', 'severity', 'epss'] as const) {
    for (const scan of await scansOf({ vulnIds: ['CVE-2024-100', 'GHSA-1'], sort })) {
      assert.match(scan['Index Name'] ?? 'security_issues_by_vulnerability', /by_vulnerability|pkey/)
      assert.ok(scan['Actual Rows'] <= 1, `${scan['Actual Rows']} rows`)
    }
    for (const scan of await scansOf({ buckets: computePackageBuckets(name), sort })) {
      assert.match(scan['Index Name'] ?? '', /by_bucket|pkey/)
      assert.ok(scan['Actual Rows'] <= 2, `${scan['Actual Rows']} rows`)
    }
  }
})
