import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../../test/support/json.ts'
import { DAY_MS } from '../clock.ts'
import { ApiError } from './api-error.ts'
import { type ListContext, type PageRow, readPage, sendPage } from './lists.ts'

const NOW = new Date('2026-03-04T05:06:07.890Z')
const CONTEXT: ListContext = {
  route: '/v1/things',
  orgId: 'org-1',
  retentionDays: 90,
  now: NOW,
  key: createSecretKey(Buffer.alloc(32, 1)),
}
const ROWS: PageRow[] = [3, 2, 1].map((at) => ({
  json: `{"n":${at}}`,
  id: `id-${at}`,
  created_at: new Date(NOW.getTime() - 1000 + at),
}))

type Query = { limit: number; cursor?: string; since?: string; until?: string; [filter: string]: unknown }

/** What the page sends for these rows. */
function send(rows: PageRow[], query: Query, context = CONTEXT) {
  let sent = ''
  const reply: Json = { type: () => reply, send: (text: string) => (sent = text) }
  sendPage(reply, { rows, page: readPage(query, context), query, context })
  return JSON.parse(sent)
}

function refusal(query: Query, context = CONTEXT): string {
  try {
    readPage(query, context)
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return 'none'
}

test('without a window a page reaches from the retention to now', () => {
  const page = readPage({ limit: 2 }, CONTEXT)
  assert.deepEqual([page.since, page.until], [new Date(NOW.getTime() - 90 * DAY_MS), NOW])
  assert.deepEqual([page.retentionClamped, page.after, page.limit], [false, null, 2])
})

test('a since of exactly the retention is not clamped, one millisecond before it is', () => {
  const edge = NOW.getTime() - 90 * DAY_MS
  for (const [since, clamped] of [
    [edge, false],
    [edge - 1, true],
  ] as const) {
    const page = readPage({ limit: 2, since: new Date(since).toISOString() }, CONTEXT)
    assert.deepEqual([page.since.getTime(), page.retentionClamped], [edge, clamped])
  }
})

test('a since later than until is refused, one at the same instant is not', () => {
  const at = '2026-03-01T00:00:00Z'
  assert.equal(refusal({ limit: 1, since: at, until: at }), 'none')
  assert.equal(refusal({ limit: 1, since: '2026-03-01T00:00:00.001Z', until: at }), 'invalid_request')
})

test('the extra row becomes a cursor that starts after the last returned row', () => {
  const query = { limit: 2 }
  const { data, next_cursor } = send(ROWS, query)
  assert.deepEqual(data, [{ n: 3 }, { n: 2 }])
  const { after } = readPage({ limit: 2, cursor: next_cursor }, CONTEXT)
  assert.deepEqual(after, { created_at: ROWS[1]?.created_at, id: 'id-2', sort_value: null })
  assert.equal(send(ROWS.slice(0, 2), query).next_cursor, null)
})

test('the cursor of a sorted list contains the exact sort value of the last row', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (value) => {
      const { next_cursor } = send(
        ROWS.map((row) => ({ ...row, sort_value: value })),
        { limit: 2 },
      )
      const { after } = readPage({ limit: 2, cursor: next_cursor }, CONTEXT)
      assert.deepEqual(after, { created_at: ROWS[1]?.created_at, id: 'id-2', sort_value: value + 0 })
    }),
  )
})

test('a cursor keeps the window of page 1 as time passes', () => {
  const { next_cursor, meta } = send(ROWS, { limit: 2 })
  const later = { ...CONTEXT, now: new Date(NOW.getTime() + DAY_MS - 1) }
  const page = readPage({ limit: 2, cursor: next_cursor }, later)
  assert.deepEqual([page.since.toISOString(), page.until.toISOString()], [meta.since, meta.until])
  assert.equal(
    refusal({ limit: 2, cursor: next_cursor }, { ...CONTEXT, now: new Date(NOW.getTime() + DAY_MS) }),
    'invalid_cursor',
  )
})

test('a cursor is of one route, one organization, one secret and one set of filters', () => {
  const query = { limit: 2, status: 'open', kind: 'code' }
  const cursor = send(ROWS, query).next_cursor
  assert.equal(refusal({ kind: 'code', status: 'open', limit: 9, cursor }), 'none')
  assert.equal(refusal({ ...query, cursor }, { ...CONTEXT, route: '/v1/others' }), 'invalid_cursor')
  assert.equal(refusal({ ...query, cursor }, { ...CONTEXT, orgId: 'org-2' }), 'invalid_cursor')
  assert.equal(
    refusal({ ...query, cursor }, { ...CONTEXT, key: createSecretKey(Buffer.alloc(32, 2)) }),
    'invalid_cursor',
  )
  assert.equal(refusal({ ...query, kind: 'secret', cursor }), 'invalid_cursor')
  assert.equal(refusal({ limit: 2, status: 'open', cursor }), 'invalid_cursor')
})

test('no text but a cursor that was given out is one', () => {
  fc.assert(fc.property(fc.string({ minLength: 1 }), (cursor) => refusal({ limit: 1, cursor }) === 'invalid_cursor'))
})
