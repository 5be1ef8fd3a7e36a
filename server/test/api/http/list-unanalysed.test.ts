import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RunPages } from '../../../src/ci/pipeline-runs/run-pages.ts'
import { listResults } from '../../../src/compliance/results/result.store.ts'
import { listDeployments } from '../../../src/deployments/deployment-list.store.ts'
import type { Sql } from '../../../src/platform/db/sql.ts'
import type { Page, PageRow } from '../../../src/platform/http/lists.ts'
import { getLowestUuid } from '../../../src/platform/ids.ts'
import { type ChangeSelection, listChanges } from '../../../src/provenance/changes/change-list.store.ts'
import { listAlerts } from '../../../src/security/alerts/alert.store.ts'
import { listFindings } from '../../../src/security/findings/finding.store.ts'
import type { FindingSelection } from '../../../src/security/findings/finding-page.store.ts'
import { listIssues } from '../../../src/security/issues/issue.store.ts'
import type { IssueSelection } from '../../../src/security/issues/issue-page.store.ts'
import { type RepositoryQuery, selectRepositories } from '../../../src/security/repositories/select-repository.ts'
import { listUploads } from '../../../src/security/uploads/upload-view.store.ts'
import type { UploadStatus } from '../../../src/security/vocabulary/finding.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { ALL_FINDINGS } from '../../support/findings.ts'
import { RARE } from '../../support/many-issues.ts'
import { type PlanNode, plansOf } from '../../support/query-plans.ts'
import { insertUnanalysed, LARGE_TABLES } from '../../support/unanalysed.ts'

const ROWS = 20_000
const REPOSITORIES = 200
const LIMIT = 20
const PAGE = LIMIT + 1
/**
 * A page's own rows, the newest of some facets or repositories that it is chosen from, and
 * look-ups.
 */
const ROWS_READ_MAX = 20 * PAGE

/** Where several filters are combined, or 200 streams are read. */
const PROBED = 7000

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await insertUnanalysed(api, ROWS, REPOSITORIES)
})
after(() => api?.close())

type List = (sql: Sql) => Promise<PageRow<string | Buffer>[]>

function page(after: Page['after'] = null): Page {
  const until = api.clock.now()
  return { since: new Date(0), until, retentionClamped: false, limit: LIMIT, asked: [null, null], after }
}

/** The last row of the previous page, in the middle of the list. */
function middle(sort_value: number | null = null): Page['after'] {
  const created_at = new Date(api.clock.now().getTime() - ROWS / 2)
  return { created_at, id: getLowestUuid(created_at), sort_value }
}

type Filter = RepositoryQuery & Omit<Partial<IssueSelection>, 'repositoryNos' | 'provider'>

async function selectionOf({ repository, provider, ...filters }: Filter): Promise<IssueSelection> {
  const query = { ...(repository && { repository }), ...(provider && { provider }) }
  return {
    ...(await selectRepositories(api.services.sql, caller.orgId, query)),
    ...{
      severity: null,
      status: null,
      kind: null,
      kev: null,
      urgent: null,
      epssMin: null,
      vulnIds: null,
      buckets: null,
      sort: 'newest',
    },
    ...filters,
  }
}

type FindingFilter = RepositoryQuery & Omit<Partial<FindingSelection>, 'repositoryNos' | 'provider'>

function findings(filter: FindingFilter, after: () => Page['after'] = () => null): List {
  const { repository, provider, ...filters } = filter
  const query = { ...(repository && { repository }), ...(provider && { provider }) }
  return async (sql) => {
    const repositories = await selectRepositories(api.services.sql, caller.orgId, query)
    return listFindings(sql, caller.orgId, page(after()), { ...ALL_FINDINGS, ...repositories, ...filters })
  }
}

function issues(filter: Filter, after: () => Page['after'] = () => null): List {
  return async (sql) => listIssues(sql, caller.orgId, page(after()), await selectionOf(filter))
}

function uploads(filter: RepositoryQuery & { status?: UploadStatus }): List {
  const { status = null, ...query } = filter
  return async (sql) => {
    const repositories = await selectRepositories(api.services.sql, caller.orgId, query)
    return listUploads(sql, caller.orgId, page(), { ...repositories, status, runId: null, now: api.clock.now() })
  }
}

const ALL_CHANGES: ChangeSelection = { repositories: null, branch: null, deviation: null, commit: null }

function changes(filters: Partial<ChangeSelection>, after: () => Page['after'] = () => null): List {
  return (sql) => listChanges(sql, caller.orgId, page(after()), { ...ALL_CHANGES, ...filters })
}

/** The ids of changes are not UUIDs. */
function middleOfChanges(): Page['after'] {
  return { created_at: new Date(api.clock.now().getTime() - (ROWS / 2) * 1000), id: 'chg_' }
}

const LISTS: [title: string, list: List, rows?: number, readMax?: number][] = [
  ['findings', findings({})],
  ['findings on a later page', findings({}, middle)],
  ['findings of a repository', findings({ repository: 'acme/large-7' })],
  ['findings of a repository on a later page', findings({ repository: 'acme/large-7' }, middle)],
  ['findings of a repository with few', findings({ repository: 'acme/small' }), RARE],
  ['findings of a provider', findings({ provider: 'github' })],
  ['findings of a provider with few', findings({ provider: 'gitlab' }), RARE],
  ['findings of a state', findings({ state: 'open' })],
  ['findings of a rare state', findings({ state: 'dismissed' }), RARE],
  ['findings of a rare state on a later page', findings({ state: 'dismissed' }, middle), 1],
  ['findings of a severity', findings({ severity: 'high' })],
  ['findings of a severity that no finding has', findings({ severity: 'critical' }), 0],
  ['findings of a kind', findings({ kind: 'dependency' })],
  ['findings of a kind that no finding has', findings({ kind: 'license' }), 0],
  ['findings of a state, a severity and a kind', findings({ state: 'fixed', severity: 'high', kind: 'code' })],
  ['findings of a state in a repository', findings({ state: 'open', repository: 'acme/large-7' }), PAGE, PROBED],
  ['findings of a rare state of a provider', findings({ state: 'dismissed', provider: 'gitlab' }), 0],
  ['findings of a rare scanner', findings({ scanner: 'Rare' }), RARE],
  ['findings of no scanner', findings({ scanner: 'rare' }), 0],
  ['findings of a rare category', findings({ category: 'rare' }), RARE],
  ['findings of a rare branch', findings({ gitRef: 'rare' }), RARE],
  ['findings of a scanner in a repository', findings({ scanner: 'Scanner', repository: 'acme/large-7' })],
  ['findings in a frequent directory', findings({ path: 'src/' })],
  ['findings in a rare directory', findings({ path: 'legacy' }), RARE],
  ['findings in a rare file', findings({ path: 'legacy/old.ts' }), RARE],
  ['findings in a rare file of a state', findings({ path: 'legacy/old.ts', state: 'open' }), 0, PROBED],
  ['findings of a frequent scanner', findings({ scanner: 'Scanner' }), PAGE, PROBED],
  ['findings of a frequent scanner and severity', findings({ scanner: 'Scanner', severity: 'high' }), PAGE, PROBED],
  ['findings in a frequent directory of a state', findings({ path: 'src', state: 'open' }), PAGE, PROBED],
  ['findings in a frequent directory of a rare kind', findings({ path: 'src', kind: 'license' }), 0],
  ['findings of a frequent scanner and a rare kind', findings({ scanner: 'Scanner', kind: 'license' }), 0],
  ['findings of a frequent branch and a rare state', findings({ gitRef: 'main', state: 'dismissed' }), RARE],
  ['findings of no issue', findings({ issueId: '00000000-0000-7000-8000-000000000000' }), 0],
  ['findings first seen since now', findings({ firstSeenSince: new Date(8640000000000000) }), 0],
  ['issues', issues({})],
  ['issues on a later page', issues({}, middle)],
  ['issues by severity', issues({ sort: 'severity' })],
  ['issues by severity on a later page', issues({ sort: 'severity' }, () => middle(2))],
  ['issues by EPSS score', issues({ sort: 'epss' })],
  ['issues by EPSS score on a later page', issues({ sort: 'epss' }, () => middle(0.0002))],
  ['issues of a severity', issues({ severity: 'high' })],
  ['issues of a status', issues({ status: 'dismissed' }), RARE],
  ['issues of a kind', issues({ kind: 'secret' })],
  ['issues in KEV', issues({ kev: true })],
  ['issues of a repository', issues({ repository: 'acme/large-7' })],
  ['issues of a repository with few', issues({ repository: 'acme/small' }), RARE],
  ['issues of a provider', issues({ provider: 'github' })],
  ['issues of a provider with few', issues({ provider: 'gitlab' }), RARE],
  ['uploads', uploads({})],
  ['uploads of a status', uploads({ status: 'finished' })],
  ['uploads of a rare status', uploads({ status: 'failed' }), 20],
  ['uploads of a status that no upload has', uploads({ status: 'parsing' }), 0],
  ['uploads of a repository', uploads({ repository: 'acme/large-7' })],
  ['uploads of a repository and a status', uploads({ repository: 'acme/large-7', status: 'finished' })],
  ['uploads of a provider', uploads({ provider: 'github' })],
  ['runs', (sql) => new RunPages().list(sql, caller.orgId, page(), { now: api.clock.now() })],
  ['alerts', (sql) => listAlerts(sql, caller.orgId, page(), {})],
  ['alerts of a status', (sql) => listAlerts(sql, caller.orgId, page(), { status: 'fixed' })],
  ['alerts of a severity', (sql) => listAlerts(sql, caller.orgId, page(), { severity: 'low' })],
  ['compliance results', (sql) => listResults(sql, caller.orgId, page(), {})],
  ['compliance results of a status', (sql) => listResults(sql, caller.orgId, page(), { status: 'failing' })],
  ['deployments', (sql) => listDeployments(sql, caller.orgId, page(), { filter: {}, now: api.clock.now() })],
  ['changes', changes({})],
  ['changes on a later page', changes({}, middleOfChanges)],
  ['changes of a repository', changes({ repositories: [{ provider: 'github', id: '1001' }] })],
  ['changes of a repository with few', changes({ repositories: [{ provider: 'github', id: '2002' }] })],
  ['changes of a branch', changes({ branch: 'main' })],
  ['changes of a rare branch', changes({ branch: 'rare' })],
  ['changes with a deviation', changes({ deviation: 'direct_push' })],
  ['changes with a rare deviation', changes({ deviation: 'unsigned_commit' })],
  ['changes with a deviation that no change has', changes({ deviation: 'stale_review' }), 0],
  ['changes of a branch with a rare deviation', changes({ branch: 'main', deviation: 'unsigned_commit' }), 0],
  ['changes of a rare commit', changes({ commit: 'c'.repeat(40) })],
  ['changes of a commit that no change has', changes({ commit: 'd'.repeat(40) }), 0],
  [
    'deployments of an environment',
    (sql) => listDeployments(sql, caller.orgId, page(), { filter: { environment: 'rare' }, now: api.clock.now() }),
  ],
  [
    'deployments of a status',
    (sql) => listDeployments(sql, caller.orgId, page(), { filter: { status: 'success' }, now: api.clock.now() }),
  ],
]

const TABLES = [...LARGE_TABLES, 'finding_streams', 'reported_repositories']

/**
 * The tables that the planner knows the size of. PostgreSQL has -1 where a table was never
 * analysed.
 */
async function analysedTables(): Promise<string[]> {
  const rows = await api.services.sql<{ relname: string }[]>`
    select relname
    from pg_class
    where relname = any(${TABLES})
      and reltuples >= 0`
  return rows.map(({ relname }) => relname)
}

function rowsRead(nodes: PlanNode[], table: string): number {
  const scans = nodes.filter((node) => node['Relation Name'] === table)
  const rows = scans.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  return Math.round(rows.reduce((sum, of) => sum + of, 0))
}

async function assertReadsOnePage(list: List, found = PAGE, readMax = ROWS_READ_MAX): Promise<void> {
  const nodes = await plansOf(api, async (sql) => assert.equal((await list(sql)).length, found))
  for (const table of LARGE_TABLES) {
    const rows = rowsRead(nodes, table)
    assert.ok(rows <= readMax, `${rows} rows of ${table}`)
  }
}

for (const [title, list, found, readMax] of LISTS) {
  test(`where nothing was analysed, a list of ${title} reads one page`, async () => {
    assert.deepEqual(await analysedTables(), [])
    await assertReadsOnePage(list, found, readMax)
  })
}

for (const [title, list, found, readMax] of LISTS) {
  test(`where only large tables were analysed, a list of ${title} reads one page`, async () => {
    const { sql } = api.services
    if ((await analysedTables()).length === 0) await sql`analyze ${sql(LARGE_TABLES)}`
    assert.deepEqual(new Set(await analysedTables()), new Set(LARGE_TABLES))
    await assertReadsOnePage(list, found, readMax)
  })
}
