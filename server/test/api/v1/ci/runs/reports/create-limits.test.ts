import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError } from '../../../../../support/assert-error.ts'
import { postArtifacts, postAttestations, postComplete, postReport } from '../../../../../support/ci-reports.ts'
import { startTokenCaller } from '../../../../../support/token-caller.ts'

let api: TestApi

before(async () => {
  api = await startTestApi({ env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '' } })
})
after(() => api?.close())

const NOBODY = { run_id: 'run_0', report_id: `1-${'0'.repeat(24)}` }

/** Every request to a report route counts, whatever its response. */
const ask = (caller: Caller) => postReport(api, caller, NOBODY.run_id)

function limitsOf({ headers }: Answer): (string | null)[] {
  return ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name))
}

async function use(caller: Caller, requests: number, request = ask): Promise<void> {
  for (let left = requests; left > 0; left -= 20) {
    await Promise.all(Array.from({ length: Math.min(20, left) }, () => request(caller)))
  }
}

test('429 with Retry-After from the 301st report request of an organization within a minute, over two keys', async () => {
  const one = await api.caller()
  const other = await api.caller({ orgId: one.orgId })
  assert.deepEqual(limitsOf(await ask(one)), ['300', '299', '60'])
  await use(one, 149)
  await use(other, 149)
  const last = await ask(other)
  assert.deepEqual([last.status, ...limitsOf(last)], [404, '300', '0', '60'])
  api.clock.advance(20_000)
  for (const caller of [one, other]) {
    const refused = await ask(caller)
    const { limit, resetAt } = assertError(refused, 429, 'rate_limited')
    assert.deepEqual([limit, Date.parse(resetAt)], [300, api.clock.now().getTime() + 40_000])
    assert.equal(refused.headers.get('retry-after'), '40')
    assert.deepEqual(limitsOf(refused), ['300', '0', '40'])
  }
  assert.equal((await ask(await api.caller())).status, 404, 'another organization has its own allowance')
  assert.equal((await api.request('GET', '/v1/runs', { key: one.key })).status, 200, 'other requests go on')
  api.clock.advance(40_000)
  assert.deepEqual(limitsOf(await ask(one)), ['300', '299', '60'])
})

test('what one lane has used up refuses nothing to others: API keys, jobs of strangers, trusted jobs', async (t) => {
  const caller = await startTokenCaller(api)
  t.after(() => caller.close())
  const keys = [caller.key, await caller.sign({ event_name: 'workflow_run' }), await caller.sign()]
  for (const key of keys) {
    const first = await ask({ ...caller, key })
    assert.deepEqual(limitsOf(first), ['300', '299', '60'])
    await use({ ...caller, key }, 299)
    assertError(await ask({ ...caller, key }), 429, 'rate_limited')
  }
})

test('all four report routes share the limit', async () => {
  const caller = await api.caller()
  const remaining = [
    await ask(caller),
    await postAttestations(api, caller, NOBODY, []),
    await postArtifacts(api, caller, NOBODY, []),
    await postComplete(api, caller, NOBODY, []),
  ].map(({ headers }) => headers.get('ratelimit-remaining'))
  assert.deepEqual(remaining, ['299', '298', '297', '296'])
})

test('the headers describe the limit of the key when that is closer', async () => {
  const caller = await api.caller()
  await use(caller, 400, ({ key }) => api.request('GET', '/v1/runs', { key }))
  assert.deepEqual(limitsOf(await ask(caller)), ['600', '199', '60'])
})

test('SHIPLOCK_RATE_LIMIT_PER_MINUTE=0 also turns off the limit of reports', async () => {
  const open = await startTestApi({ beside: api, env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0' } })
  try {
    assert.deepEqual(limitsOf(await postReport(open, await api.caller(), NOBODY.run_id)), [null, null, null])
  } finally {
    await open.close()
  }
})
