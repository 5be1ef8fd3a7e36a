import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from './api.ts'
import { assertError, assertInvalid } from './assert-error.ts'
import type { Json } from './json.ts'
import { uploadReport } from './reports.ts'
import { sarif, sarifResult } from './sarif.ts'

type ListContract = {
  path: string
  limitDefault: number
  limitMax: number
  /** Whether the list takes `since` and `until`. */
  hasWindow: boolean
  /** The smallest plan that has the list, and its retention. */
  plan: string
  retentionDays: number
  /** A filter that keeps every stored item, and another one. */
  filters: [keepsAll: Query, other: Query]
  /** Stores new items that are created now. */
  store(api: TestApi, caller: Caller, count: number): Promise<void>
  /** Ends all stored items when they were created, where items are open at first. */
  end?: (api: TestApi, caller: Caller) => Promise<void>
}

type Query = Record<string, string>

let made = 0

/** New ids whose order is not the order in which they are made. */
export function idsInNoOrder(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${'aZb_'[index % 4]}${(made++).toString(36)}`)
}

/** Uploads a report of a new scanner, each result of which becomes a finding and an issue. */
export async function storeResults(api: TestApi, caller: Caller, count: number): Promise<void> {
  made += 1
  const results = Array.from({ length: count }, (_, index) => sarifResult(`rule-${made}-${index}`))
  await uploadReport(api, caller, sarif(results, `Scanner ${made}`))
}

const DAY_MS = 86_400_000
const ODD_LIMITS = ['', '0', '-1', '1.5', '1.0', 'many', '1e1', '0x10', ' 1', '+1', 'Infinity', '1e400']
const ODD_TIMES = ['', '2026-03-04', '2026-03-04T00:00:00', 'yesterday', '1772582400', '0000-01-01T00:00:00Z']

/** The guarantees of every list (decisions §4). Each test has its own organization. */
export function testListContract(contract: ListContract): void {
  describe(`GET ${contract.path} as a list`, () => {
    const list = new ListUnderTest(contract)
    before(() => list.start())
    after(() => list.stop())
    testPages(list)
    testCursors(list)
    testWindow(list)
    testParameters(list)
  })
}

class ListUnderTest {
  readonly contract: ListContract
  api!: TestApi

  constructor(contract: ListContract) {
    this.contract = contract
  }

  async start(): Promise<void> {
    this.api = await startTestApi()
  }

  async stop(): Promise<void> {
    await this.api?.close()
  }

  caller(): Promise<Caller> {
    return this.api.caller({ plan: this.contract.plan })
  }

  async storing(count: number): Promise<Caller> {
    const caller = await this.caller()
    await this.store(caller, count)
    return caller
  }

  store(caller: Caller, count: number): Promise<void> {
    return this.contract.store(this.api, caller, count)
  }

  get({ key }: Caller, query: Query = {}, method = 'GET'): Promise<Answer> {
    return this.api.request(method, `${this.contract.path}?${new URLSearchParams(query)}`, { key })
  }

  async ids(caller: Caller, query: Query = {}): Promise<string[]> {
    const answer = await this.get(caller, query)
    assert.equal(answer.status, 200, answer.text)
    return idsOf(answer)
  }

  /** The effective window without a `since`, as `meta` shows it. */
  wholeWindow() {
    const until = this.api.clock.now()
    const since = new Date(until.getTime() - this.contract.retentionDays * DAY_MS)
    return { since: since.toISOString(), until: until.toISOString(), retention_clamped: false }
  }
}

const idsOf = ({ body }: Answer): string[] => body.data.map((item: Json) => item.id)

function testPages(list: ListUnderTest): void {
  const { limitDefault, limitMax } = list.contract

  test('200 with an empty page if there are no items', async () => {
    const { status, body } = await list.get(await list.caller())
    assert.deepEqual([status, body], [200, { data: [], next_cursor: null, meta: list.wholeWindow() }])
  })

  test(`${limitDefault} items by default, and up to ${limitMax} with limit`, async () => {
    const caller = await list.storing(limitDefault + 1)
    const all = await list.ids(caller, { limit: String(limitMax) })
    assert.equal(all.length, limitDefault + 1)
    assert.deepEqual(await list.ids(caller), all.slice(0, limitDefault))
    assert.deepEqual(await list.ids(caller, { limit: '1' }), all.slice(0, 1))
  })

  test('next_cursor is null when the page is exactly full and nothing follows', async () => {
    const { body } = await list.get(await list.storing(2), { limit: '2' })
    assert.deepEqual([body.data.length, body.next_cursor], [2, null])
  })

  test('newest first, equal times by id', async () => {
    const caller = await list.storing(4)
    const older = await list.ids(caller)
    assert.deepEqual(older, [...older].sort().reverse())
    list.api.clock.advance(1)
    await list.store(caller, 2)
    assert.deepEqual((await list.ids(caller)).slice(2), older)
  })

  test('pages show each item once under one window, also while new items arrive', async () => {
    const caller = await list.storing(5)
    list.api.clock.advance(1000)
    await list.store(caller, 2)
    const expected = await list.ids(caller)
    const seen: string[] = []
    const first = await list.get(caller, { limit: '2' })
    for (let page = first; ; ) {
      assert.deepEqual([page.status, page.body.meta], [200, first.body.meta])
      seen.push(...idsOf(page))
      const cursor = page.body.next_cursor
      if (cursor === null) break
      list.api.clock.advance(1)
      await list.store(caller, 1)
      page = await list.get(caller, { limit: '2', cursor })
    }
    assert.deepEqual(seen, expected)
  })

  test("another organization's items are never in the list", async () => {
    const [owner, stranger] = [await list.storing(2), await list.storing(1)]
    const [theirs, ours] = [await list.ids(owner), await list.ids(stranger)]
    assert.deepEqual([theirs.length, ours.length], [2, 1])
    assert.ok(!theirs.includes(ours[0] as string))
  })

  test('HEAD answers as GET does, without the body', async () => {
    const caller = await list.storing(1)
    const [head, get] = [await list.get(caller, {}, 'HEAD'), await list.get(caller)]
    assert.deepEqual([head.status, head.text], [200, ''])
    for (const name of ['content-type', 'content-length']) assert.equal(head.headers.get(name), get.headers.get(name))
  })
}

function testCursors(list: ListUnderTest): void {
  const [keepsAll, other] = list.contract.filters

  test('a filter is part of the cursor', async () => {
    const caller = await list.storing(2)
    const cursor = (await list.get(caller, { limit: '1', ...keepsAll })).body.next_cursor
    assert.equal((await list.ids(caller, { ...keepsAll, cursor })).length, 1)
    for (const query of [{}, other]) {
      assertError(await list.get(caller, { ...query, cursor }), 400, 'invalid_cursor')
    }
  })

  test("400 invalid_cursor for another organization's, another list's, an altered and an old cursor", async () => {
    const caller = await list.storing(2)
    const { next_cursor: cursor } = (await list.get(caller, { limit: '1' })).body
    const refuse = async (answer: Promise<Answer>) => assertError(await answer, 400, 'invalid_cursor')
    await refuse(list.get(await list.caller(), { cursor }))
    const path = list.contract.path === '/v1/runs' ? '/v1/deployments' : '/v1/runs'
    await refuse(list.api.request('GET', `${path}?cursor=${cursor}`, { key: caller.key }))
    for (const forged of [cursor.slice(0, -2), `${cursor}A`, 'forged'])
      await refuse(list.get(caller, { cursor: forged }))
    assert.equal((await list.ids(caller, { cursor, limit: '2' })).length, 1)
    list.api.clock.advance(DAY_MS)
    await refuse(list.get(caller, { cursor }))
  })
}

function testWindow(list: ListUnderTest): void {
  const { hasWindow, retentionDays } = list.contract

  test("items beyond the plan's retention are not in the list", async () => {
    const caller = await list.storing(1)
    list.api.clock.advance(1)
    await list.store(caller, 1)
    const [kept] = await list.ids(caller)
    await list.contract.end?.(list.api, caller)
    list.api.clock.advance(retentionDays * DAY_MS)
    assert.deepEqual(await list.ids(caller), [kept])
    const { since } = list.wholeWindow()
    if (!hasWindow) return
    const clamped = (await list.get(caller, { since: '2020-01-01T00:00:00Z' })).body
    assert.deepEqual([clamped.data.length, clamped.meta.since, clamped.meta.retention_clamped], [1, since, true])
    const exact = (await list.get(caller, { since })).body
    assert.deepEqual([exact.data.length, exact.meta.since, exact.meta.retention_clamped], [1, since, false])
  })

  if (list.contract.end)
    test('what is open stays in the list whatever its age, on every page, unless since is sent', async () => {
      const caller = await list.storing(3)
      list.api.clock.advance(2 * retentionDays * DAY_MS)
      await list.store(caller, 2)
      const all = await list.ids(caller)
      assert.equal(new Set(all).size, 5)
      const paged: string[] = []
      for (let query: Query | null = { limit: '2' }; query !== null; ) {
        const page: Answer = await list.get(caller, query)
        assert.equal(page.body.meta.retention_clamped, false)
        paged.push(...idsOf(page))
        query = page.body.next_cursor === null ? null : { limit: '2', cursor: page.body.next_cursor }
      }
      assert.deepEqual(paged, all)
      if (!hasWindow) return
      const { since } = list.wholeWindow()
      assert.deepEqual(await list.ids(caller, { since }), all.slice(0, 2))
    })

  if (!hasWindow) return

  test('since and until are inclusive, and meta repeats them', async () => {
    const caller = await list.storing(1)
    const [first] = await list.ids(caller)
    const at = list.api.clock.now().getTime()
    const time = (ms: number) => new Date(at + ms).toISOString()
    list.api.clock.advance(1000)
    await list.store(caller, 1)
    const exact = await list.get(caller, { since: time(0), until: time(0) })
    assert.deepEqual(idsOf(exact), [first])
    assert.deepEqual(exact.body.meta, { since: time(0), until: time(0), retention_clamped: false })
    assert.equal((await list.ids(caller, { since: time(0) })).length, 2)
    assert.ok(!(await list.ids(caller, { since: time(1) })).includes(first as string))
    assert.deepEqual(await list.ids(caller, { until: time(-1) }), [])
  })

  test('400 at /query/since when it is later than until or now', async () => {
    const caller = await list.caller()
    const at = (ms: number) => new Date(list.api.clock.now().getTime() + ms).toISOString()
    assertInvalid(await list.get(caller, { since: at(-1), until: at(-2) }), '/query/since')
    assertInvalid(await list.get(caller, { since: at(1) }), '/query/since')
  })

  test('400 for a time that is not RFC 3339 with an offset', async () => {
    const caller = await list.caller()
    for (const name of ['since', 'until']) {
      for (const time of ODD_TIMES) assertInvalid(await list.get(caller, { [name]: time }), `/query/${name}`)
    }
  })
}

function testParameters(list: ListUnderTest): void {
  const { limitMax, hasWindow } = list.contract

  test('400 for a limit that is not a plain integer in its range', async () => {
    const caller = await list.caller()
    for (const limit of [...ODD_LIMITS, String(limitMax + 1)]) {
      assertInvalid(await list.get(caller, { limit }), '/query/limit')
    }
  })

  test('400 for an unknown parameter', async () => {
    const caller = await list.caller()
    for (const name of ['nonsense', 'Limit', ...(hasWindow ? [] : ['since', 'until'])]) {
      assertInvalid(await list.get(caller, { [name]: '2026-03-01T00:00:00Z' }), `/query/${name}`)
    }
  })
}
