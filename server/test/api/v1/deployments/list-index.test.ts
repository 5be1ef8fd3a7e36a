import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type DeploymentFilter, listDeployments } from '../../../../src/deployments/deployment-list.store.ts'
import type { Page } from '../../../../src/platform/http/lists.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { configureGate, openGate } from '../../../support/gates.ts'
import { plansOf } from '../../../support/query-plans.ts'

const LIMIT = 20

let api: TestApi
let caller: Caller

/** 6,000 deployments of two organizations, a second apart. Every hundredth matches the filters. */
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  for (const owner of [caller, await api.caller()]) {
    await configureGate(api, owner)
    const { id: run_id } = await createRun(api, owner)
    await openGate(api, owner, { run_id })
  }
  await copyDeployments(3000)
  await api.services.sql`analyze`
})
after(() => api?.close())

const MEANT: DeploymentFilter = {
  status: 'approved',
  environment: 'eu',
  repository_full_name: 'acme/web',
  workflow_name: 'Deploy',
  workflow_path: '.ci/deploy.yml',
  pipeline_run_id: 'run_meant',
}

async function copyDeployments(copies: number): Promise<void> {
  const { sql } = api.services
  await sql`
    insert into deployments
    select (jsonb_populate_record(deployment, jsonb_build_object(
      'id', deployment.id || '_' || number,
      'created_at', deployment.created_at - number * interval '1 second'
    ) || case when number % 100 = 0 then ${sql.json({ ...MEANT, answer_until: null })}::jsonb else '{}' end)).*
    from deployments deployment
    cross join generate_series(1, ${copies}::int) number`
  await sql`
    insert into live_deployments (org_id, unit, lane, deployment_id, since)
    select org_id, json_build_array(id)::text, 'verified', id, created_at
    from deployments
    on conflict do nothing`
}

function firstPage(): Page {
  const now = api.clock.now()
  const since = new Date(now.getTime() - 86_400_000)
  return { since, until: now, retentionClamped: false, limit: LIMIT, asked: [null, null], after: null }
}

const CASES: [index: string, filter: DeploymentFilter][] = [
  ['deployments_by_creation', {}],
  ['deployments_by_status', { status: 'approved' }],
  ['deployments_by_environment', { environment: 'eu' }],
  ['deployments_by_repository', { repository_full_name: 'acme/web' }],
  ['deployments_by_workflow', { workflow_name: 'Deploy' }],
  ['deployments_by_workflow_path', { workflow_path: '.ci/deploy.yml' }],
  ['deployments_by_run', { pipeline_run_id: 'run_meant' }],
]
for (const [index, filter] of CASES) {
  test(`a page of deployments filtered by ${Object.keys(filter)[0] ?? 'nothing'} reads only its own rows through ${index}`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      const rows = await listDeployments(sql, caller.orgId, firstPage(), { filter, now: api.clock.now() })
      assert.equal(rows.length, LIMIT + 1)
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

test('combined filters return deployments that match all of them', async () => {
  const rows = await listDeployments(api.services.sql, caller.orgId, firstPage(), {
    filter: MEANT,
    now: api.clock.now(),
  })
  assert.equal(rows.length, LIMIT + 1)
})
