import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import type { Json } from '../support/json.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { startTokenCaller, type TokenCaller } from '../support/token-caller.ts'
import { dismissAll } from '../support/triage.ts'

const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001', gitRef: 'refs/heads/main' }

let api: TestApi
let caller: TokenCaller
let reports = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
})
test.afterEach(() => caller.close())

async function report(sender: 'token' | 'key', rules: string[], fields: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const marks = { automationDetails: { guid: `${++reports}` } }
  const file = sarif(
    rules.map((rule) => sarifResult(rule)),
    'Linter',
    marks,
  )
  const key = sender === 'token' ? await caller.sign() : caller.key
  return uploadReport(api, { ...caller, key }, file, { ...REPOSITORY, complete: true, ...fields })
}

/** The rows as they were stored before lanes: one stream, whoever reported. */
async function forgetLanes(): Promise<void> {
  const { sql } = api.services
  await sql.begin(async (tx) => {
    const [newest, ...others] = await tx<{ id: number }[]>`
      select id from finding_streams where org_id = ${caller.orgId} order by reported_at desc`
    for (const { id } of others) {
      await tx`delete from findings where org_id = ${caller.orgId} and stream_id = ${id}`
      await tx`delete from finding_streams where org_id = ${caller.orgId} and id = ${id}`
    }
    await tx`update finding_streams set lane = null, tool_family = null, format_family = null where org_id = ${caller.orgId} and id = ${newest?.id as number}`
    await tx`delete from security_upload_lanes where org_id = ${caller.orgId}`
  })
}

async function listLanes(): Promise<(string | null)[]> {
  const rows = await api.services.sql<{ lane: string | null }[]>`
    select lane from finding_streams where org_id = ${caller.orgId} order by id`
  return rows.map(({ lane }) => lane)
}

const states = async () => (await listFindings(api, caller)).map(({ rule_id, state }) => `${rule_id} ${state}`).sort()

test('a stored stream has the lane of its newest report, and its next report continues it', async () => {
  await report('token', ['a', 'b'])
  await forgetLanes()
  const next = await report('token', ['a'])
  assert.deepEqual([next.counts.created, next.counts.unchanged, next.counts.resolved], [0, 1, 1])
  assert.deepEqual(await listLanes(), ['verified'])
})

for (const [first, second] of [
  ['token', 'key'],
  ['key', 'token'],
] as const)
  test(`a stream of two lanes belongs to the ${second} that reported last; the ${first} continues it once`, async () => {
    await report(first, ['a', 'b'])
    await report(second, ['a', 'b'])
    await forgetLanes()
    const [{ first_seen_at: since }] = await listFindings(api, caller)
    await dismissAll(api, caller.orgId, { reason: 'false_positive' })
    const { counts } = await report(first, ['a', 'b'])
    assert.deepEqual([counts.created, counts.newIssues], [2, 0])
    const findings = await listFindings(api, caller)
    assert.deepEqual(new Set(findings.map(({ first_seen_at }) => first_seen_at)), new Set([since]))
    assert.deepEqual(
      findings.map(({ state, dismiss_reason }) => [state, dismiss_reason]),
      Array(4).fill(['dismissed', 'false_positive']),
    )
    assert.equal((await report(first, ['a', 'b'])).counts.created, 0)
    assert.equal((await report(second, ['a', 'b'])).counts.created, 0)
    await report(first, ['a', 'b', 'c'])
    assert.deepEqual(await states(), ['a dismissed', 'a dismissed', 'b dismissed', 'b dismissed', 'c open'])
  })

test('a lane continues a stored stream also where that goes on in another one of its tool', async () => {
  const { sql } = api.services
  await report('key', ['b'], { category: 'older' })
  await report('token', ['a', 'b'])
  await report('key', ['a'])
  await sql`
    delete from findings
    where org_id = ${caller.orgId}
      and stream_id in (select id from finding_streams where org_id = ${caller.orgId} and lane = 'verified')`
  await sql`delete from finding_streams where org_id = ${caller.orgId} and lane = 'verified'`
  await sql`
    update finding_streams
    set tool = case when category is null then tool else tool || ' OSS' end, category = null, lane = null,
      tool_family = null, format_family = null
    where org_id = ${caller.orgId}`
  await sql`delete from security_upload_lanes where org_id = ${caller.orgId}`
  await dismissAll(api, caller.orgId, { reason: 'false_positive' })
  await report('token', ['a', 'b'])
  assert.deepEqual(await states(), ['a dismissed', 'a dismissed', 'b dismissed', 'b dismissed'])
})

for (const decided of ['dismissed', 'reopened'])
  test(`what is ${decided} after the streams were separated is open in the lane that continues`, async () => {
    await report('token', ['a'])
    await report('key', ['a'])
    await forgetLanes()
    if (decided === 'reopened') await dismissAll(api, caller.orgId)
    await report('key', ['a'])
    api.clock.advance(1000)
    const reopening = { action: 'reopen', reason: null } as const
    await dismissAll(api, caller.orgId, decided === 'reopened' ? reopening : {})
    await report('token', ['a'])
    assert.deepEqual(await states(), decided === 'reopened' ? ['a open', 'a open'] : ['a dismissed', 'a open'])
    const dates = new Set((await listFindings(api, caller)).map(({ first_seen_at }) => first_seen_at))
    assert.equal(dates.size, 1)
  })

test('a lane that had never reported there continues nothing', async () => {
  await report('key', ['a'])
  await forgetLanes()
  const first = await report('token', ['a'])
  assert.equal(first.counts.created, 1)
  const dates = new Set((await listFindings(api, caller)).map(({ first_seen_at }) => first_seen_at))
  assert.equal(dates.size, 2)
  assert.deepEqual(await listLanes(), ['key', 'verified'])
})
