import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RunPages } from '../../src/ci/pipeline-runs/run-pages.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { Page } from '../../src/platform/http/lists.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { insertConnection } from '../support/host-objects.ts'
import { applyRuns, completedRun } from '../support/provider-runs.ts'
import { plansOf } from '../support/query-plans.ts'

const FAILED = 'gh_run_9001'

let api: TestApi
let caller: Caller
/** Has shown every page of this file before. */
const pages = new RunPages()

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const { sql } = api.services
  await applyRuns(api.services, await insertConnection(sql, caller.orgId), completedRun({ status: 'failure' }))
  await sql`insert into provider_accounts values (${caller.orgId}, 'github', '7', 'Ada', now())`
  await sql`
    insert into provider_run_scores
    values (${caller.orgId}, ${FAILED}, 1, '{}', 0.5)
    on conflict (org_id, run_id) do nothing`
  await sql`insert into workflow_files values (${caller.orgId}, 'github', '1001', 'blob', '{"deploy": ["build"]}', true)`
})
after(() => api?.close())

function page(limit = 50): Page {
  return {
    since: new Date(0),
    until: new Date(api.clock.now().getTime() + 1),
    limit,
    asked: [null, null],
    after: null,
  } as Page
}

async function list(by: RunPages, sql: Sql = api.services.sql): Promise<string[]> {
  const rows = await by.list(sql, caller.orgId, page(), { now: api.clock.now() })
  return rows.map(({ json }) => json.toString())
}

/** What the process that has shown the page before and one that has not show. */
async function assertChanged(previous: string[]): Promise<void> {
  const shown = await list(pages)
  assert.deepEqual(shown, await list(new RunPages()))
  assert.notDeepEqual(shown, previous)
}

for (const [what, change] of Object.entries<(sql: Sql, orgId: string) => Promise<unknown>>({
  'its own row': (sql, org) => sql`update ci_runs set url = 'https://ci.example/1' where org_id = ${org}`,
  'its host row': (sql, org) => sql`update provider_runs set commit_message = 'Other' where org_id = ${org}`,
  'its failure': (sql, org) =>
    sql`update provider_runs set failure_attempt = 1, failure_category = 'build' where org_id = ${org}`,
  'its actor': (sql, org) => sql`update provider_accounts set name = 'Grace' where org_id = ${org}`,
  'its scores': (sql, org) => sql`update provider_run_scores set importance_score = 0.25 where org_id = ${org}`,
  'its workflow file': (sql, org) => sql`update provider_runs set workflow_blob = 'blob' where org_id = ${org}`,
  'the jobs of its workflow file': (sql, org) =>
    sql`update workflow_files set job_dependencies = '{}' where org_id = ${org}`,
  'no actor any more': (sql, org) => sql`delete from provider_accounts where org_id = ${org}`,
})) {
  test(`a run of a code host is listed anew when it has changed: ${what}`, async () => {
    const previous = await list(pages)
    await change(api.services.sql, caller.orgId)
    await assertChanged(previous)
  })
}

test('a run is listed anew when it has ended, has another attempt, or an earlier attempt has ended', async () => {
  const external = { external_run_id: 'kept-1' }
  const { id } = await createRun(api, caller, external)
  for (const change of [
    () => patchRun(api, caller, id, { status: 'failure' }),
    () => createRun(api, caller, { ...external, attempt: 2 }),
    () => createRun(api, caller, { ...external, attempt: 3 }),
    () => patchRun(api, caller, id, { status: 'cancelled', attempt: 2 }),
  ]) {
    const previous = await list(pages)
    await change()
    await assertChanged(previous)
  }
})

test('a run whose deadline passes is listed as timed out', async () => {
  const { id } = await createRun(api, caller, { timeout_minutes: 5 })
  const statusOf = async () => (await list(pages)).map((json) => JSON.parse(json)).find((run) => run.id === id).status
  assert.equal(await statusOf(), 'in_progress')
  api.clock.advance(5 * 60_000 + 1)
  assert.equal(await statusOf(), 'timed_out')
})

test('runs of another organization have their own text, whatever their ids', async () => {
  const other = await api.caller()
  const { sql } = api.services
  await applyRuns(api.services, await insertConnection(sql, other.orgId), completedRun({ status: 'success' }))
  const [row] = await pages.list(sql, other.orgId, page(), { now: api.clock.now() })
  const shown = JSON.parse(row?.json.toString() ?? '')
  assert.deepEqual([shown.id, shown.status], [FAILED, 'success'])
})

test('a page that was shown before is read from its index only', ON_ONE_SERVER, async () => {
  const reporter = await api.caller()
  for (let made = 0; made < 5; made += 1) await createRun(api, reporter)
  const own = new RunPages()
  const read = (sql: Sql) => own.list(sql, reporter.orgId, page(), { now: api.clock.now() })
  await read(api.services.sql)
  const nodes = await plansOf(api, read)
  const scans = nodes.filter((node) => node['Relation Name'] !== undefined && node['Actual Loops'] > 0)
  assert.deepEqual(
    scans.map((node) => [node['Relation Name'], node['Actual Rows']]),
    [['ci_runs', 5]],
  )
})

test('a run that is deleted while its page is read does not end the list', async () => {
  const reporter = await api.caller()
  const { sql } = api.services
  const [old, ...kept] = [
    await createRun(api, reporter),
    await createRun(api, reporter),
    await createRun(api, reporter),
  ]
  let deleted = false
  const deleting = new Proxy(sql, {
    apply(target, self, args) {
      const statement = Reflect.apply(target, self, args)
      const isPage = String(args[0]).includes('order by run.created_at desc')
      if (!isPage || deleted) return statement
      deleted = true
      return statement.then(async (rows: unknown) => {
        await sql`delete from ci_runs where org_id = ${reporter.orgId} and id = ${old.id}`
        return rows
      })
    },
  }) as Sql
  const rows = await new RunPages().list(deleting, reporter.orgId, page(1), { now: api.clock.now() })
  assert.equal(deleted, true)
  assert.deepEqual(
    rows.map(({ id }) => id),
    kept.map(({ id }) => id).reverse(),
  )
})
