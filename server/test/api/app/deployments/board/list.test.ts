import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listBoardCells, listWaitingOnBoard } from '../../../../../src/deployments/deployment-list.store.ts'
import { DAY_MS, HOUR_MS } from '../../../../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { createRun, patchRun } from '../../../../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../../../../support/citus.ts'
import { answer, configureGate, openGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, requestAs } from '../../../../support/people.ts'
import { plansOf } from '../../../../support/query-plans.ts'
import { drainQueue } from '../../../../support/queue.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function readBoard(caller: Caller, query = ''): Promise<Json> {
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  const { status, body, text } = await requestAs(api, viewer, 'GET', `/deployments/board${query}`)
  assert.equal(status, 200, text)
  return body.data
}

const open = async (caller: Caller, run: Json = {}) => {
  const { id: run_id } = await createRun(api, caller, run)
  return { run_id, ...(await openGate(api, caller, { run_id })) }
}

async function succeed(caller: Caller, runId: string): Promise<void> {
  await patchRun(api, caller, runId, { status: 'success' })
  await drainQueue(api)
}

test('a place shows what runs there, the newer deployment, and what waits', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  const first = await open(caller, { commit_sha: 'a'.repeat(40) })
  await answer(api, caller, first.deployment_id, 'approve')
  await succeed(caller, first.run_id)
  api.clock.advance(1000)
  const second = await open(caller, { commit_sha: 'b'.repeat(40) })
  const { cells, waiting, truncated } = await readBoard(caller)
  assert.equal(truncated, false)
  assert.equal(cells.length, 1)
  const [{ environment, running, newer }] = cells
  assert.deepEqual(
    [environment, running.id, running.status, running.commit_sha, newer.id, newer.status],
    ['production', first.deployment_id, 'success', 'a'.repeat(40), second.deployment_id, 'pending_approval'],
  )
  assert.ok(running.deployed_at)
  assert.deepEqual(
    waiting.map(({ id }: Json) => id),
    [second.deployment_id],
  )
  api.clock.advance(12 * HOUR_MS)
  const later = await readBoard(caller)
  assert.deepEqual([later.waiting, later.cells[0].newer.status], [[], 'expired'])
})

test('a place without a newer deployment, and one that never succeeded; what runs stays on the board', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  const gate = await open(caller)
  await answer(api, caller, gate.deployment_id, 'reject')
  const [rejected] = (await readBoard(caller)).cells
  assert.deepEqual([rejected.running, rejected.newer.status], [null, 'rejected'])
  api.clock.advance(1000)
  const next = await open(caller)
  await answer(api, caller, next.deployment_id, 'approve')
  await succeed(caller, next.run_id)
  const [running] = (await readBoard(caller)).cells
  assert.deepEqual([running.running.id, running.newer], [next.deployment_id, null])
  api.clock.advance(20_000 * DAY_MS)
  const { cells } = await readBoard(caller)
  assert.deepEqual(
    cells.map((cell: Json) => [cell.running.id, cell.newer, cell.beside]),
    [[next.deployment_id, null, []]],
    'what runs is shown however old it is',
  )
})

test('what runs by another job is shown beside what succeeded last', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  const ids: string[] = []
  for (const job of ['web', 'worker', 'web']) {
    const { id: run_id } = await createRun(api, caller)
    const { deployment_id } = await openGate(api, caller, { run_id, job })
    await answer(api, caller, deployment_id, 'approve')
    await succeed(caller, run_id)
    api.clock.advance(1000)
    ids.push(deployment_id)
  }
  const [cell] = (await readBoard(caller)).cells
  assert.deepEqual([cell.running.id, cell.beside.map(({ id }: Json) => id), cell.newer], [ids[2], [ids[1]], null])
})

test('the spellings of an environment are one place where the host has no case, and two elsewhere', async () => {
  const caller = await api.caller()
  await configureGate(api, caller, { environment: '*' })
  for (const repository of ['github.com/acme/shop', 'gitlab.com/acme/other'])
    for (const environment of ['Production', 'production']) {
      api.clock.advance(1000)
      const { id: run_id } = await createRun(api, caller, { repository })
      const gate = await openGate(api, caller, { run_id, environment })
      if (environment === 'production') continue
      await answer(api, caller, gate.deployment_id, 'approve')
      await succeed(caller, run_id)
    }
  const { cells } = await readBoard(caller)
  assert.deepEqual(
    cells.map((cell: Json) => [
      cell.repository_full_name,
      cell.environment,
      cell.running?.environment,
      cell.newer?.status,
    ]),
    [
      ['acme/other', 'Production', 'Production', undefined],
      ['acme/other', 'production', undefined, 'pending_approval'],
      ['acme/shop', 'production', 'Production', 'pending_approval'],
    ],
  )
})

test('the search selects repositories by a part of their name', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  await open(caller, { repository: 'github.com/acme/shop' })
  await open(caller, { repository: 'github.com/acme/Web_1' })
  const names = async (query: string) => {
    const { cells, waiting } = await readBoard(caller, query)
    const found = [cells, waiting].map((all) => all.map((each: Json) => each.repository_full_name))
    assert.deepEqual(found[0], found[1])
    return found[0]
  }
  assert.deepEqual(await names('?search=SHOP'), ['acme/shop'])
  assert.deepEqual(await names('?search=web_1'), ['acme/Web_1'])
  assert.deepEqual(await names('?search=_'), ['acme/Web_1'])
})

test(
  'the board reads a few rows of each place through indexes, however many deployments it has',
  ON_ONE_SERVER,
  async () => {
    const places = 3
    const caller = await api.caller()
    for (const owner of [caller, await api.caller()]) {
      await configureGate(api, owner)
      for (const repository of ['a', 'b', 'c']) await open(owner, { repository: `github.com/acme/${repository}` })
    }
    const { sql } = api.services
    await sql`
    insert into deployments
    select (jsonb_populate_record(deployment, jsonb_build_object(
      'id', deployment.id || '_' || number,
      'created_at', deployment.created_at - number * interval '1 second',
      'status', case when number = 900 then 'success' else 'failure' end, 'answer_until', null
    ))).*
    from deployments deployment
    cross join generate_series(1, 1000) number
    where deployment.repository_full_name in ('acme/a', 'acme/b', 'acme/c')`
    await sql`
    insert into live_deployments (org_id, unit, lane, deployment_id, since)
    select org_id, id, 'self_reported', id, created_at
    from deployments
    where status = 'success'
      and repository_full_name in ('acme/a', 'acme/b', 'acme/c')`
    await sql`analyze`
    const filter = { retainedSince: new Date(0), search: undefined, now: api.clock.now() }
    const nodes = await plansOf(api, async (db) => {
      const { cells } = await listBoardCells(db, caller.orgId, filter)
      assert.deepEqual(
        cells.map(({ running, newer }) => [running?.status, newer?.status]),
        Array(places).fill(['success', 'pending_approval']),
      )
      assert.equal((await listWaitingOnBoard(db, caller.orgId, filter)).length, places)
    })
    for (const node of nodes.filter((each) => each['Relation Name'] === 'deployments')) {
      const what = JSON.stringify({ ...node, Plans: undefined })
      assert.match(node['Node Type'], /^Index/, what)
      assert.ok(node['Actual Rows'] * node['Actual Loops'] <= places, what)
      assert.equal(node['Rows Removed by Filter'] ?? 0, 0, what)
    }
  },
)
