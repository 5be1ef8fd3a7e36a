import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listMembers } from '../../../src/access/members/member-list.store.ts'
import { listOwnDeliveries } from '../../../src/codehosts/deliveries/delivery.store.ts'
import { listResults } from '../../../src/compliance/results/result.store.ts'
import type { Sql } from '../../../src/platform/db/sql.ts'
import type { Page } from '../../../src/platform/http/lists.ts'
import { createUuid } from '../../../src/platform/ids.ts'
import { listTriages } from '../../../src/security/triage/triage-list.store.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { plansOf } from '../../support/query-plans.ts'

const LIMIT = 20
const ROWS = 5000

let api: TestApi
let caller: Caller

/** 5,000 members, triages, deliveries and compliance results of each of two organizations. */
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const { sql } = api.services
  const now = api.clock.now()
  for (const { orgId } of [caller, await api.caller()]) {
    const ids = Array.from({ length: ROWS }, (_, at) => createUuid(new Date(now.getTime() - at * 1000)))
    await sql`
      with person as (
        insert into users (id, email, name, created_at)
        select gen_random_uuid(), ${orgId} || number || '@example.com', 'Ada', ${now}
        from generate_series(1, ${ROWS}::int) number
        returning id
      )
      insert into members (org_id, user_id, built_in_role, created_at)
      select ${orgId}, id, 'viewer', ${now}::timestamptz - row_number() over () * interval '1 second'
      from person`
    await sql`
      insert into triages (org_id, id, action, source, target_type, target_ids, created_at, created_by_name)
      select ${orgId}, id, 'reopen', 'shiplock', 'finding', '{}', ${now}, 'Ada'
      from unnest(${ids}::uuid[]) as id`
    await sql`
      insert into codehost_connections (
        org_id, id, provider, host, installation_id, account_id, account_login, account_type, repositories, status,
        connected_at
      )
      values (
        ${orgId}, gen_random_uuid(), 'github', 'github.com', ${orgId}, ${orgId}, 'acme', 'organization', 'all', 'active',
        ${now}
      )`
    await sql`
      insert into codehost_deliveries (id, provider, installation_id, event, lane, received_at, applied_at, shard, status)
      select gen_random_uuid(), 'github', ${orgId}, 'push', 'lane', ${now}::timestamptz - number * interval '1 second',
        ${now}, 0, 'applied'
      from generate_series(1, ${ROWS}::int) number`
    await sql`
      insert into compliance_results (
        org_id, id, policy_id, policy_name, repository, status, evaluated_at, created_at, updated_at
      )
      select ${orgId}, 'result_' || number, 'policy_' || number % 50, 'Tested', 'acme/api-' || number / 50, 'passing', at,
        at, at
      from generate_series(1, ${ROWS}::int) number
      cross join lateral (select ${now}::timestamptz - number % 97 * interval '1 second' as at) time`
  }
  await sql`analyze`
})
after(() => api?.close())

function firstPage(): Page {
  const now = api.clock.now()
  const since = new Date(now.getTime() - 30 * 86_400_000)
  return { since, until: now, retentionClamped: false, limit: LIMIT, asked: [null, null], after: null }
}

const ofPolicy = { policy_id: 'policy_7' }
const ofRepository = { repository: 'acme/api-7' }

const LISTS: [name: string, table: string, list: (sql: Sql) => Promise<unknown[]>][] = [
  ['members', 'members', (sql) => listMembers(sql, caller.orgId, firstPage(), {})],
  ['triages', 'triages', (sql) => listTriages(sql, caller.orgId, firstPage(), {})],
  ['deliveries', 'codehost_deliveries', (sql) => listOwnDeliveries(sql, caller.orgId, firstPage(), undefined)],
  ['results of a policy', 'compliance_results', (sql) => listResults(sql, caller.orgId, firstPage(), ofPolicy)],
  ['results of a repository', 'compliance_results', (sql) => listResults(sql, caller.orgId, firstPage(), ofRepository)],
]
for (const [name, table, list] of LISTS) {
  test(`a page of ${name} reads only its own rows through an index`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      assert.equal((await list(sql)).length, LIMIT + 1)
    })
    const reads = nodes.filter((node) => node['Relation Name'] === table)
    assert.ok(reads.length > 0)
    for (const node of reads) {
      const what = JSON.stringify({ ...node, Plans: undefined })
      assert.match(node['Node Type'], /^Index/, what)
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= LIMIT + 1, what)
    }
  })
}
