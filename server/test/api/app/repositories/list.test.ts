import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { upsertRepository } from '../../../../src/repositories/repository.store.ts'
import { listKnownRepositories } from '../../../../src/security/repositories/repository-list.store.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../../../support/citus.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, requestAs } from '../../../support/people.ts'
import { plansOf } from '../../../support/query-plans.ts'
import { uploadReport } from '../../../support/reports.ts'
import { responseChecker } from '../../../support/response-schema.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function list(caller: Caller, query = '') {
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  return requestAs(api, viewer, 'GET', `/repositories${query}`)
}

const namesIn = ({ body }: { body: Json }) => body.data.map(({ full_name }: Json) => full_name)

async function link(caller: Caller, full_name: string, id: string): Promise<void> {
  const defaults = { host: 'github.com', tracked_branch: 'main', created_at: api.clock.now() }
  const repository = { provider: 'github', id, full_name, host: null, tracked_branch: null } as const
  await upsertRepository(api.services.sql, caller.orgId, repository, defaults)
}

test('the repositories that are linked, reported or have runs, each once, newest first', async () => {
  const caller = await api.caller()
  await link(caller, 'Acme/Linked', '1')
  await createRun(api, caller, { repository: 'github.com/acme/linked' })
  await uploadReport(api, caller, sarif([sarifResult('a')]), { repository: 'acme/linked' })
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([sarifResult('b')]), { repository: 'acme/reported' })
  await createRun(api, caller, { repository: 'github.com/acme/reported' })
  api.clock.advance(1000)
  await createRun(api, caller, { repository: 'git.example.com/acme/group/run' })
  await createRun(api, caller, { repository: 'github.com/acme/group/run' })
  const answer = await list(caller)
  assert.deepEqual(namesIn(answer), ['acme/group/run', 'acme/reported', 'Acme/Linked'])
  ;(await responseChecker(api, '/app/api'))('/app/api/orgs/{org}/repositories', '200', answer.body)
  assert.deepEqual(answer.body.data[2], {
    full_name: 'Acme/Linked',
    provider: 'github',
    repository_id: '1',
    tracked_branch: 'main',
    connected: false,
    private: null,
    archived: null,
    html_url: null,
    refusals: [],
    created_at: answer.body.data[2].created_at,
  })
  assert.deepEqual(namesIn(await list(caller, '?search=LINK')), ['Acme/Linked'])
  assert.deepEqual(namesIn(await list(caller, '?search=%25')), [])
  assert.deepEqual(namesIn(await list(await api.caller())), [])
})

test('pages show each repository once, also those that were first seen at the same time', async () => {
  const caller = await api.caller()
  for (let id = 1; id <= 7; id += 1) await link(caller, `acme/r${id}`, `${id}`)
  const names: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: { body: Json } = await list(caller, `?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    names.push(...body.data.map(({ full_name }: Json) => full_name))
    cursor = body.next_cursor
  }
  assert.deepEqual(names.sort(), ['acme/r1', 'acme/r2', 'acme/r3', 'acme/r4', 'acme/r5', 'acme/r6', 'acme/r7'])
})

test('the list reads one run for each repository', ON_ONE_SERVER, async () => {
  const { sql } = api.services
  const caller = await api.caller()
  const { id } = await createRun(api, caller)
  await sql`
    insert into ci_runs
    select (jsonb_populate_record(run, jsonb_build_object(
      'id', run.id || '_' || number, 'external_run_id', 'copy_' || number, 'day', run.day - number,
      'repository', 'github.com/acme/r' || number % 5
    ))).*
    from ci_runs run
    cross join generate_series(1, 3000) number
    where run.id = ${id}`
  await sql`analyze ci_runs`
  const page = { since: new Date(0), until: api.clock.now(), retentionClamped: false, limit: 100, asked: [null, null] }
  const nodes = await plansOf(api, async (db) => {
    const rows = await listKnownRepositories(db, caller.orgId, { ...page, after: null } as never, undefined)
    assert.equal(rows.length, 6)
  })
  const ofRuns = nodes.filter((node) => node['Relation Name'] === 'ci_runs')
  assert.ok(ofRuns.length > 0)
  for (const node of ofRuns) assert.ok(node['Actual Rows'] * node['Actual Loops'] <= 6, JSON.stringify(node))
})
