import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type AuditFilter, listAuditEntries } from '../../../../src/audit/audit.store.ts'
import type { Page } from '../../../../src/platform/http/lists.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { plansOf } from '../../../support/query-plans.ts'

const LIMIT = 20

let api: TestApi
let caller: Caller

/** 20,000 entries of two organizations. Every hundredth matches the filters. */
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const { sql } = api.services
  for (const { orgId } of [caller, await api.caller()])
    await sql`
      insert into audit_entries (
        org_id, id, at, principal_type, principal_id, principal_name, action, object_type, object_id
      )
      select ${orgId}, gen_random_uuid(), ${api.clock.now()}::timestamptz - number * interval '1 second',
        case when number % 100 = 0 then 'user' else 'api_key' end,
        case when number % 100 = 0 then 'ada' else 'key ' || number % 50 end, 'name',
        case when number % 100 = 0 then 'policy.apply' else 'deployment.approve' end,
        case when number % 100 = 0 then 'policy' else 'deployment' end,
        case when number % 100 = 0 then 'meant' else number::text end
      from generate_series(1, 10000) number`
  await sql`analyze`
})
after(() => api?.close())

function firstPage(): Page {
  const now = api.clock.now()
  const since = new Date(now.getTime() - 86_400_000)
  return { since, until: now, retentionClamped: false, limit: LIMIT, asked: [null, null], after: null }
}

/** The page after the entry of so many seconds ago. */
function pageAfter(seconds: number): Page {
  const created_at = new Date(api.clock.now().getTime() - seconds * 1000)
  return { ...firstPage(), after: { created_at, id: '00000000-0000-0000-0000-000000000000' } }
}

const CASES: [index: string, filter: AuditFilter][] = [
  ['audit_entries_by_time', {}],
  ['audit_entries_by_principal_type', { principal_type: 'user' }],
  ['audit_entries_by_principal', { principal_id: 'ada' }],
  ['audit_entries_by_action', { action: 'policy.apply' }],
  ['audit_entries_by_object_type', { object_type: 'policy' }],
  ['audit_entries_by_object', { object_id: 'meant' }],
]
for (const [index, filter] of CASES) {
  test(`a page of the audit log filtered by ${Object.keys(filter)[0] ?? 'nothing'} reads only its own rows through ${index}`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      assert.equal((await listAuditEntries(sql, caller.orgId, firstPage(), filter)).length, LIMIT + 1)
    })
    assert.ok(nodes.some((node) => node['Index Name'] === index))
    for (const node of nodes) {
      const what = JSON.stringify({ ...node, Plans: undefined })
      assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap|Sort/, what)
      if (node['Relation Name'] === undefined) continue
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= LIMIT + 1, what)
      assert.equal(node['Rows Removed by Filter'] ?? 0, 0, what)
    }
  })
}

test('a page in the depth reads as few blocks as a page near the start', async () => {
  const blocks = async (page: Page) => {
    const [top] = await plansOf(api, (sql) => listAuditEntries(sql, caller.orgId, page, {}))
    return (top?.['Shared Hit Blocks'] ?? 0) + (top?.['Shared Read Blocks'] ?? 0)
  }
  const [near, deep] = [await blocks(pageAfter(1)), await blocks(pageAfter(9900))]
  assert.ok(near > 0 && deep <= near + 5, `${near} and ${deep} blocks`)
})
