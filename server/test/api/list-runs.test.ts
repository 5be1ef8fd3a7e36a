import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertInvalid } from '../support/assert-error.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import type { Json } from '../support/json.ts'
import { responseChecker } from '../support/response-schema.ts'

const DAY_MS = 86_400_000

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

function list({ key }: Caller, query: Record<string, string> = {}): Promise<Answer> {
  return api.request('GET', `/v1/runs?${new URLSearchParams(query)}`, { key })
}

async function createRuns(caller: Caller, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.unshift((await createRun(api, caller)).id)
  return ids
}

const idsOf = ({ body }: Answer): string[] => body.data.map((run: Json) => run.id)

test('200 with an empty page when there are no runs', async () => {
  const { status, body } = await list(await api.caller())
  const until = api.clock.now()
  const since = new Date(until.getTime() - 1095 * DAY_MS)
  const meta = { since: since.toISOString(), until: until.toISOString(), retention_clamped: false }
  assert.deepEqual([status, body], [200, { data: [], next_cursor: null, meta }])
})

test('200 with 50 runs by default, newest first, and up to 100 with limit', async () => {
  const caller = await api.caller()
  const ids = await createRuns(caller, 101)
  const byDefault = await list(caller)
  assert.deepEqual(idsOf(byDefault), ids.slice(0, 50))
  ;(await responseChecker(api))('/v1/runs', '200', byDefault.body)
  for (const limit of [1, 2, 100]) {
    const page = await list(caller, { limit: String(limit) })
    assert.deepEqual(idsOf(page), ids.slice(0, limit))
    assert.equal(typeof page.body.next_cursor, 'string')
  }
})

test('next_cursor is null when the page is exactly full and nothing follows', async () => {
  const caller = await api.caller()
  await createRuns(caller, 2)
  const { body } = await list(caller, { limit: '2' })
  assert.deepEqual([body.data.length, body.next_cursor], [2, null])
})

for (const limit of ['0', '-1', '101', '1e9']) {
  test(`400 at /query/limit for ${limit}`, async () => {
    assertInvalid(await list(await api.caller(), { limit }), '/query/limit')
  })
}

test('since and until are inclusive, and meta contains them', async () => {
  const caller = await api.caller()
  const [first] = await createRuns(caller, 1)
  const at = api.clock.now()
  api.clock.advance(1000)
  const [second] = await createRuns(caller, 1)
  const [time, before] = [at.toISOString(), new Date(at.getTime() - 1).toISOString()]
  const exact = await list(caller, { since: time, until: time })
  assert.deepEqual(idsOf(exact), [first])
  assert.deepEqual(exact.body.meta, { since: time, until: time, retention_clamped: false })
  assert.deepEqual(idsOf(await list(caller, { since: new Date(at.getTime() + 1).toISOString() })), [second])
  assert.deepEqual(idsOf(await list(caller, { until: before })), [])
})

test('400 at /query/since when it is later than until or now', async () => {
  const caller = await api.caller()
  const at = (ms: number) => new Date(api.clock.now().getTime() + ms).toISOString()
  assertInvalid(await list(caller, { since: at(-1), until: at(-2) }), '/query/since')
  assertInvalid(await list(caller, { since: at(1) }), '/query/since')
})

for (const name of ['since', 'until']) {
  for (const time of ['2026-03-04', '2026-03-04T00:00:00', 'yesterday', '1772582400', '', '0000-01-01T00:00:00Z']) {
    test(`400 at /query/${name} for ${JSON.stringify(time)}`, async () => {
      assertInvalid(await list(await api.caller(), { [name]: time }), `/query/${name}`)
    })
  }
}

test('a since before the plan’s retention is moved forward with retention_clamped, and older runs are not listed', async () => {
  const caller = await api.caller({ plan: 'team' })
  await createRuns(caller, 1)
  api.clock.advance(90 * DAY_MS + 1)
  const [kept] = await createRuns(caller, 1)
  const edge = new Date(api.clock.now().getTime() - 90 * DAY_MS).toISOString()
  const clamped = await list(caller, { since: '2020-01-01T00:00:00Z' })
  assert.deepEqual([idsOf(clamped), clamped.body.meta.since, clamped.body.meta.retention_clamped], [[kept], edge, true])
  for (const query of [{}, { since: edge }]) {
    const page = await list(caller, query)
    assert.deepEqual([idsOf(page), page.body.meta.since, page.body.meta.retention_clamped], [[kept], edge, false])
  }
})

test('status filters on the status of the newest attempt', async () => {
  const caller = await api.caller()
  const failed = await createRun(api, caller, { external_run_id: 'failed' })
  const retried = await createRun(api, caller, { external_run_id: 'retried' })
  for (const { id } of [failed, retried]) await patchRun(api, caller, id, { status: 'failure' })
  await createRun(api, caller, { external_run_id: 'retried', attempt: 2, status: 'queued' })
  assert.deepEqual(idsOf(await list(caller, { status: 'failure' })), [failed.id])
  assert.deepEqual(idsOf(await list(caller, { status: 'queued' })), [retried.id])
  assert.deepEqual(idsOf(await list(caller, { status: 'success' })), [])
  assertInvalid(await list(caller, { status: 'failed' }), '/query/status')
})
