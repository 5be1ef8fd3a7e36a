import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from '../../../../src/platform/http/lists.ts'
import { type ChangeSelection, listChanges } from '../../../../src/provenance/changes/change-list.store.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { insertChanges } from '../../../support/many-changes.ts'
import { plansOf } from '../../../support/query-plans.ts'

const LIMIT = 20
const PAGE = LIMIT + 1
/** The numbers of `deviation_facet`. */
const FACETS = 128
/** Those that the inserted changes have. A page is chosen from the newest changes of each. */
const STORED_FACETS = 3

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  for (const owner of [caller, await api.caller()]) await insertChanges(api, owner, 3000)
  await api.services.sql`analyze`
})
after(() => api?.close())

function page(after: Page['after'] = null): Page {
  return {
    since: new Date(0),
    until: api.clock.now(),
    retentionClamped: false,
    limit: LIMIT,
    asked: [null, null],
    after,
  }
}

const ALL: ChangeSelection = { repositories: null, branch: null, deviation: null, commit: null }
const RARE = [{ provider: 'github', id: '2002' }]
const FREQUENT = [{ provider: 'github', id: '1001' }]

const CASES: [index: string, filters: Partial<ChangeSelection>][] = [
  ['changes_by_creation', {}],
  ['changes_by_repository', { repositories: RARE }],
  ['changes_by_repository', { repositories: [...RARE, ...FREQUENT] }],
  ['changes_by_branch', { branch: 'rare' }],
  ['changes_by_facet', { deviation: 'unsigned_commit' }],
  ['changes_by_facet', { deviation: 'direct_push' }],
  ['changes_by_branch_facet', { deviation: 'unsigned_commit', branch: 'rare' }],
  ['changes_by_repository', { deviation: 'unsigned_commit', repositories: RARE }],
  ['change_commits_by_sha', { commit: 'c'.repeat(40) }],
]

for (const [index, filters] of CASES) {
  const title = JSON.stringify(filters)
  test(`a page of changes filtered by ${title} reads only its own rows through ${index}`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      assert.equal((await listChanges(sql, caller.orgId, page(), { ...ALL, ...filters })).length, PAGE)
    })
    assert.ok(nodes.some((node) => node['Index Name'] === index))
    const tables = ['changes', 'chain_links', 'change_commits']
    for (const node of nodes.filter((each) => tables.includes(each['Relation Name'] ?? ''))) {
      const what = JSON.stringify({ ...node, Plans: undefined })
      assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap/, what)
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= PAGE * STORED_FACETS + 1, what)
      assert.equal(node['Rows Removed by Filter'] ?? 0, 0, what)
      assert.ok(node['Actual Loops'] <= FACETS * (filters.repositories?.length ?? 1), what)
    }
  })
}

test('a later page reads its own rows', async () => {
  const at = new Date(api.clock.now().getTime() - 1_500_000)
  const nodes = await plansOf(api, async (sql) => {
    assert.equal((await listChanges(sql, caller.orgId, page({ created_at: at, id: 'chg_' }), ALL)).length, PAGE)
  })
  for (const node of nodes.filter((each) => each['Relation Name'] === 'changes'))
    assert.ok(node['Actual Rows'] <= PAGE && (node['Rows Removed by Filter'] ?? 0) === 0, JSON.stringify(node))
})
