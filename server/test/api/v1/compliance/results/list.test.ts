import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { ComplianceResult } from '../../../../../src/compliance/results/result.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertInvalid } from '../../../../support/assert-error.ts'
import { idsInNoOrder, testListContract } from '../../../../support/list-contract.ts'

const LIST = '/v1/compliance/results'
const NOW = '2026-03-04T05:06:07.890Z'
const STATUSES = ['passing', 'failing', 'warning', 'not_evaluated']

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: LIST,
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ status: 'not_evaluated' }, { status: 'passing' }],
  store: async (to, caller, count) => {
    const created_at = to.clock.now().toISOString()
    for (const id of idsInNoOrder(count)) await insertResult(caller, { id, created_at }, to)
  },
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

test('policy_id and repository return only the results of that policy and of that repository', async () => {
  const caller = await api.caller()
  await insertResult(caller, { id: 'a', policy_id: 'one', repository: 'acme/api' })
  await insertResult(caller, { id: 'b', policy_id: 'one', repository: 'acme/web' })
  await insertResult(caller, { id: 'c', policy_id: 'two', repository: 'acme/web' })
  assert.deepEqual((await listIds(caller, '?policy_id=one')).toSorted(), ['a', 'b'])
  assert.deepEqual((await listIds(caller, '?repository=acme/web')).toSorted(), ['b', 'c'])
  assert.deepEqual(await listIds(caller, '?policy_id=one&repository=acme/web'), ['b'])
  assert.deepEqual(await listIds(caller, '?policy_id=one&status=passing'), [])
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

test('400 names the unknown or invalid parameter', async () => {
  const caller = await api.caller()
  for (const word of ['', 'pass', 'Passing', 'passing,failing']) {
    assertInvalid(await get(caller, `?status=${word}`), '/query/status')
  }
  assertInvalid(await get(caller, '?policy=a'), '/query/policy')
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
async function insertResult({ orgId }: Caller, fields: Partial<typeof FULL> = {}, to = api): Promise<void> {
  const { sql } = to.services
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
