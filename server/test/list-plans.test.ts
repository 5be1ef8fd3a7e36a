import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RunFilter } from '../src/ci/pipeline-runs/pipeline-run.store.ts'
import { RunPages } from '../src/ci/pipeline-runs/run-pages.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Page } from '../src/platform/http/lists.ts'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { createRun } from './support/ci-runs.ts'
import { plansOf } from './support/query-plans.ts'

const LIMIT = 20

let api: TestApi
let caller: Caller

/**
 * 4,000 runs of two attempts, a second apart, of two organizations by turns. Every eightieth run is
 * of another repository and branch, and has another status.
 */
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const other = await api.caller()
  for (const owner of [caller, other]) {
    for (const attempt of [1, 2]) await createRun(api, owner, { external_run_id: 'copied', attempt })
  }
  await copyRuns(2000)
  await api.services.sql`analyze`
})
after(() => api?.close())

const RARE = {
  repository: 'gitlab.com/acme/web/shop',
  ref: 'refs/heads/fix',
  status: 'failure',
  completed_at: '2026-03-04T05:06:07.890Z',
}

async function copyRuns(copies: number): Promise<void> {
  await api.services.sql`
    with copied as (
      insert into ci_runs
      select (jsonb_populate_record(run, jsonb_build_object(
        'id', run.id || '_' || number, 'external_run_id', 'copy_' || number, 'day', run.day - number,
        'created_at', run.created_at - number * interval '1 second'
      ) || case when number % 80 = 0 then ${api.services.sql.json(RARE)}::jsonb else '{}' end)).*
      from ci_runs run
      cross join generate_series(1, ${copies}::int) number
      returning org_id, id
    )
    insert into ci_run_attempts
    select (jsonb_populate_record(attempt, jsonb_build_object('run_id', copied.id))).*
    from copied
    join ci_run_attempts attempt using (org_id)`
}

function pageAfter(seconds: number | null): Page {
  const now = api.clock.now()
  const at = (ago: number) => new Date(now.getTime() - ago * 1000)
  const after = seconds === null ? null : { created_at: at(seconds), id: 'run_z' }
  return { since: at(86_400), until: now, retentionClamped: false, limit: LIMIT, asked: [null, null], after }
}

for (const [title, seconds] of [
  ['the first page', null],
  ['a page in the depth', 1500],
] as const) {
  test(`${title} of runs reads its own rows through the index, sorts nothing and skips nothing`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      const rows = await new RunPages().list(sql, caller.orgId, pageAfter(seconds), { now: api.clock.now() })
      assert.equal(rows.length, LIMIT + 1)
    })
    assert.ok(nodes.some((node) => node['Index Name'] === 'ci_runs_by_creation'))
    // The facts of runs of code hosts are read for such runs only.
    for (const node of nodes.filter((each) => each['Actual Loops'] > 0)) {
      const what = JSON.stringify({ ...node, Plans: undefined })
      assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap|Sort/, what)
      if (node['Relation Name'] === undefined) continue
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= LIMIT + 1, what)
      assert.equal(node['Rows Removed by Filter'] ?? 0, 0, what)
    }
  })
}

test('a page in the depth of runs reads as few blocks as a page near the start', async () => {
  const blocks = async (seconds: number) => {
    const list = (sql: Sql) => new RunPages().list(sql, caller.orgId, pageAfter(seconds), { now: api.clock.now() })
    const nodes = await plansOf(api, list)
    const scan = nodes.find((node) => node['Index Name'] === 'ci_runs_by_creation')
    return (scan?.['Shared Hit Blocks'] ?? 0) + (scan?.['Shared Read Blocks'] ?? 0)
  }
  const [near, deep] = [await blocks(1), await blocks(1900)]
  assert.ok(near > 0 && deep <= near + 5, `${near} and ${deep} blocks`)
})

const FILTERED: [index: string, filter: Omit<RunFilter, 'now'>][] = [
  ['ci_runs_by_full_name', { repository: 'acme/web/shop' }],
  ['ci_runs_ended_badly', { status: 'failure' }],
]

for (const [index, filter] of FILTERED) {
  test(`a page of runs filtered by ${Object.keys(filter)} reads its own rows through ${index}`, async () => {
    const nodes = await plansOf(api, async (sql) => {
      const rows = await new RunPages().list(sql, caller.orgId, pageAfter(null), { ...filter, now: api.clock.now() })
      assert.equal(rows.length, LIMIT + 1)
    })
    assert.ok(nodes.some((node) => node['Index Name'] === index))
    for (const node of nodes.filter((each) => each['Relation Name'] === 'ci_runs')) {
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= LIMIT + 1, JSON.stringify(node))
      assert.equal(node['Rows Removed by Filter'] ?? 0, 0, JSON.stringify(node))
    }
  })
}

test('without the index, a page reads more rows', async () => {
  await api.services.sql`drop index ci_runs_by_creation`
  const nodes = await plansOf(api, (sql) =>
    new RunPages().list(sql, caller.orgId, pageAfter(null), { now: api.clock.now() }),
  )
  const read = nodes.filter((node) => node['Relation Name'] === 'ci_runs')
  assert.ok(read.some((node) => node['Actual Rows'] * node['Actual Loops'] > LIMIT + 1))
})
