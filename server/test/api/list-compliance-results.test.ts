import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { ComplianceResult } from '../../src/compliance/results/result.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'

const LIST = '/v1/compliance/results'
const NOW = '2026-03-04T05:06:07.890Z'
const TEAM_RETAINED_SINCE = '2025-12-04T05:06:07.890Z'
const STATUSES = ['passing', 'failing', 'warning', 'not_evaluated']

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

test('200 with an empty page if there are no results', async () => {
  const { status, body } = await get(await api.caller({ plan: 'team' }))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [],
    next_cursor: null,
    meta: { since: TEAM_RETAINED_SINCE, until: NOW, retention_clamped: false },
  })
})

test('a result has every stored field', async () => {
  const caller = await api.caller()
  await insertResult(caller, FULL)
  const [result] = (await get(caller)).body.data
  assert.deepEqual(result, { ...FULL, org_id: caller.orgId })
  assert.deepEqual(Object.keys(result), Object.keys(ComplianceResult.properties))
  assert.ok(Check(ComplianceResult, result))
})

test('a result that was not evaluated has no details and no evaluated_at', async () => {
  const caller = await api.caller()
  await insertResult(caller)
  const [result] = (await get(caller)).body.data
  assert.ok(Check(ComplianceResult, result))
  assert.deepEqual([result.status, result.details, result.evaluated_at], ['not_evaluated', [], null])
})

test('status returns only results with that status', async () => {
  const caller = await api.caller()
  for (const status of STATUSES) await insertResult(caller, { id: status, status, evaluated_at: NOW })
  for (const status of STATUSES) assert.deepEqual(await listIds(caller, `?status=${status}`), [status])
})

test('no other status can be stored', async () => {
  const caller = await api.caller()
  await assert.rejects(insertResult(caller, { status: 'pass', evaluated_at: NOW }), /compliance_results_status_check/)
})

test('one policy has one result for a repository', async () => {
  const caller = await api.caller()
  await insertResult(caller, { id: 'first', repository: 'acme/api' })
  await assert.rejects(
    insertResult(caller, { id: 'second', repository: 'acme/api' }),
    /compliance_results_by_repository/,
  )
})

test('results are sorted newest first, equal times by id, and pages neither repeat nor skip any', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'Z', 'b', '_']) await insertResult(caller, { id })
  await insertResult(caller, { id: 'newest', created_at: '2026-03-04T00:00:00.001Z' })
  await insertResult(caller, { id: 'oldest', created_at: '2026-03-03T23:59:59.999Z' })
  const seen: string[] = []
  let next = ''
  do {
    const { body } = await get(caller, `?limit=2${next}`)
    assert.equal(body.data.length, 2)
    seen.push(...idsOf(body))
    next = body.next_cursor && `&cursor=${body.next_cursor}`
  } while (next)
  assert.deepEqual(seen, ['newest', 'b', 'a', '_', 'Z', 'oldest'])
})

test('400 invalid_cursor if the status differs from that of the previous page', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'b']) await insertResult(caller, { id })
  const { next_cursor } = (await get(caller, '?limit=1&status=not_evaluated')).body
  assert.deepEqual(await listIds(caller, `?status=not_evaluated&cursor=${next_cursor}`), ['a'])
  assertError(await get(caller, `?status=passing&cursor=${next_cursor}`), 400, 'invalid_cursor')
})

test('since and until bound the creation time, inclusively', async () => {
  const caller = await api.caller()
  for (const day of ['01', '02', '03'])
    await insertResult(caller, { id: day, created_at: `2026-03-${day}T00:00:00.000Z` })
  assert.deepEqual(await listIds(caller, '?since=2026-03-02T00:00:00Z'), ['03', '02'])
  assert.deepEqual(await listIds(caller, '?until=2026-03-02T00:00:00Z'), ['02', '01'])
})

test("results older than the plan's retention and of other organizations are not listed", async () => {
  const [owner, stranger] = [await api.caller({ plan: 'team' }), await api.caller({ plan: 'team' })]
  await insertResult(owner, { id: 'kept', created_at: TEAM_RETAINED_SINCE })
  await insertResult(owner, { id: 'beyond', created_at: '2025-12-04T05:06:07.889Z' })
  await insertResult(stranger, { id: 'foreign' })
  const { body } = await get(owner, '?since=2025-01-01T00:00:00Z')
  assert.deepEqual(idsOf(body), ['kept'])
  assert.deepEqual(body.meta, { since: TEAM_RETAINED_SINCE, until: NOW, retention_clamped: true })
})

test('400 names the unknown or invalid parameter', async () => {
  const caller = await api.caller()
  for (const limit of ['0', '101']) assertInvalid(await get(caller, `?limit=${limit}`), '/query/limit')
  for (const word of ['', 'pass', 'Passing', 'passing,failing']) {
    assertInvalid(await get(caller, `?status=${word}`), '/query/status')
  }
  assertInvalid(await get(caller, '?policy=a'), '/query/policy')
})

test('limit defaults to 50', async () => {
  const caller = await api.caller()
  for (let made = 0; made < 51; made += 1) await insertResult(caller, { id: `result-${made}` })
  assert.equal((await listIds(caller)).length, 50)
  assert.equal((await listIds(caller, '?limit=100')).length, 51)
})

const FULL = {
  id: 'result_01',
  policy_id: 'policy_01',
  policy_name: 'Tested and scanned',
  repository: 'acme/api',
  status: 'failing',
  details: [
    { rule: 'tests', result: 'pass', evidence: '120 tests passed' },
    { rule: 'scan', result: 'fail', evidence: null },
  ],
  evaluated_at: '2026-03-02T01:02:03.004Z',
  created_at: '2026-03-01T02:00:00.000Z',
  updated_at: '2026-03-02T02:00:00.000Z',
}

/** Inserts a result with the required fields and the given ones. */
async function insertResult({ orgId }: Caller, fields: Partial<typeof FULL> = {}): Promise<void> {
  const { sql } = api.services
  const row = {
    id: 'result',
    policy_id: 'policy_01',
    policy_name: 'Tested and scanned',
    repository: `acme/${fields.id ?? 'api'}`,
    status: 'not_evaluated',
    created_at: '2026-03-04T00:00:00.000Z',
    updated_at: '2026-03-04T00:00:00.000Z',
    ...fields,
    details: sql.json(fields.details ?? []),
  }
  await sql`insert into compliance_results ${sql({ ...row, org_id: orgId })}`
}

function get({ key }: Caller, query = '') {
  return api.request('GET', LIST + query, { key })
}

async function listIds(caller: Caller, query = ''): Promise<string[]> {
  return idsOf((await get(caller, query)).body)
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}
