import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createUuid } from '../../../src/platform/ids.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { createRun } from '../../support/ci-runs.ts'
import type { Json } from '../../support/json.ts'

const DAY_MS = 86_400_000

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

type Query = Record<string, string>

function list({ key }: Caller, query: Query, path = '/v1/runs'): Promise<Answer> {
  return api.request('GET', `${path}?${new URLSearchParams({ limit: '2', ...query })}`, { key })
}

/** An organization with five runs of one instant, and the first page of them. */
async function firstPage(
  query: Query = {},
  runs = 5,
): Promise<{ caller: Caller; ids: string[]; page: Answer; cursor: string }> {
  const caller = await api.caller()
  const ids: string[] = []
  for (let made = 0; made < runs; made += 1) ids.unshift((await createRun(api, caller)).id)
  const page = await list(caller, query)
  assert.equal(page.status, 200)
  return { caller, ids, page, cursor: page.body.next_cursor }
}

async function walk(caller: Caller, page: Answer): Promise<string[]> {
  const seen: string[] = page.body.data.map((run: Json) => run.id)
  for (let cursor = page.body.next_cursor; cursor !== null; ) {
    const { status, body } = await list(caller, { cursor })
    assert.equal(status, 200)
    assert.deepEqual(body.meta, page.body.meta)
    seen.push(...body.data.map((run: Json) => run.id))
    cursor = body.next_cursor
  }
  return seen
}

test('pages over runs of one instant show each once, in order, under one window', async () => {
  const { caller, ids, page } = await firstPage()
  assert.deepEqual(await walk(caller, page), ids)
})

test('runs made while a client pages are not seen, and none of the window is skipped', async () => {
  const { caller, ids, page } = await firstPage()
  api.clock.advance(1)
  await createRun(api, caller)
  assert.deepEqual(await walk(caller, page), ids)
})

test('a page may have another limit than the one before', async () => {
  const { caller, ids, cursor } = await firstPage()
  const { body } = await list(caller, { cursor, limit: '100' })
  assert.deepEqual([body.data.map((run: Json) => run.id), body.next_cursor], [ids.slice(2), null])
})

test('a later page may repeat the window as sent, repeat it as returned in meta, or omit it', async () => {
  const asked = { since: '2026-03-01T02:00:00+02:00', until: '2026-04-01T00:00:00Z' }
  const { caller, page, cursor } = await firstPage(asked)
  const { since, until } = page.body.meta
  for (const window of [{}, asked, { since, until }, { since }, { until }, { since: '2026-03-01T00:00:00Z' }]) {
    assert.equal((await list(caller, { cursor, ...window })).status, 200, JSON.stringify(window))
  }
})

test('a later page may repeat a since that was clamped', async () => {
  const asked = { since: '2000-01-01T00:00:00Z' }
  const { caller, page, cursor } = await firstPage(asked)
  api.clock.advance(60_000)
  const next = await list(caller, { cursor, ...asked })
  assert.deepEqual([next.status, next.body.meta], [200, page.body.meta])
})

const OTHERS: [title: string, first: Query, second: Query][] = [
  ['another since', {}, { since: '2026-03-02T00:00:00Z' }],
  ['another until', {}, { until: '2026-03-05T00:00:00Z' }],
  ['another until than the one asked for', { until: '2026-04-01T00:00:00Z' }, { until: '2026-04-02T00:00:00Z' }],
  ['a filter that page 1 had not', {}, { status: 'in_progress' }],
  ['another filter', { status: 'in_progress' }, { status: 'queued' }],
  ['no filter where page 1 had one', { status: 'in_progress' }, {}],
]
for (const [title, first, second] of OTHERS) {
  test(`400 invalid_cursor with ${title}`, async () => {
    const { caller, cursor } = await firstPage(first)
    assert.deepEqual(assertError(await list(caller, { ...second, cursor }), 400, 'invalid_cursor'), {})
  })
}

test("400 invalid_cursor for another organization's cursor; another key of the same organization can use it", async () => {
  const { caller, cursor } = await firstPage()
  assertError(await list(await api.caller(), { cursor }), 400, 'invalid_cursor')
  assert.equal((await list(await api.caller({ orgId: caller.orgId }), { cursor })).status, 200)
})

test('400 invalid_cursor on every other list', async () => {
  const { caller, cursor } = await firstPage()
  const { body } = await api.request('GET', '/v1/openapi.json')
  const lists = Object.entries<Json>(body.paths).filter(
    ([path, { get }]) =>
      path !== '/v1/runs' &&
      ['cursor', 'limit'].every((own) => get?.parameters?.some(({ name }: Json) => name === own)),
  )
  for (const [path] of lists) {
    const address = path.replace('{id}', createUuid(api.clock.now()))
    assertError(await list(caller, { cursor }, address), 400, 'invalid_cursor')
  }
})

test('400 invalid_cursor for a cursor of another server’s secret', async () => {
  const other = await startTestApi({ beside: api, env: { SHIPLOCK_SECRET_KEY: 'another secret of 32 characters!' } })
  try {
    const { caller, cursor } = await firstPage()
    const answer = await other.request('GET', `/v1/runs?limit=2&cursor=${cursor}`, { key: caller.key })
    assertError(answer, 400, 'invalid_cursor')
  } finally {
    await other.close()
  }
})

test('400 invalid_cursor when a character is changed, added or removed', async () => {
  const { caller, cursor } = await firstPage()
  const changed = [...cursor].map((char, at) => cursor.slice(0, at) + (char === 'A' ? 'B' : 'A') + cursor.slice(at + 1))
  const [payload, mac] = cursor.split('.') as [string, string]
  const forged = [`${cursor}A`, cursor.slice(0, -1), `${cursor}=`, payload, `.${mac}`, `${payload}.`, 'x', '.', ' ']
  for (const wrong of [...changed.filter((_, at) => at % 7 === 0), changed.at(-1) as string, ...forged]) {
    assertError(await list(caller, { cursor: wrong }), 400, 'invalid_cursor')
  }
})

test('a cursor is valid for 24 hours, and each page returns a new one', async () => {
  const { caller, cursor } = await firstPage()
  api.clock.advance(DAY_MS - 1)
  const second = await list(caller, { cursor })
  assert.equal(second.status, 200)
  api.clock.advance(1)
  assertError(await list(caller, { cursor }), 400, 'invalid_cursor')
  assert.equal((await list(caller, { cursor: second.body.next_cursor })).status, 200)
})
