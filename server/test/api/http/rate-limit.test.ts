import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { startTokenCaller } from '../../support/token-caller.ts'

let api: TestApi

before(async () => {
  api = await startTestApi({ env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '' } })
})
after(() => api?.close())

function ask({ key }: Caller, on = api): Promise<Answer> {
  return on.request('GET', '/v1/runs?limit=1', { key })
}

function limitsOf({ headers }: Answer): (string | null)[] {
  return ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name))
}

async function use(caller: Caller, requests: number): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let left = requests; left > 0; left -= 20) {
    answers.push(...(await Promise.all(Array.from({ length: Math.min(20, left) }, () => ask(caller)))))
  }
  return answers
}

test('429 rate_limited from the 601st request of a key within a minute on, with Retry-After, and the next minute works', async () => {
  const caller = await api.caller()
  assert.deepEqual(limitsOf(await ask(caller)), ['600', '599', '60'])
  const statuses = (await use(caller, 599)).map((answer) => answer.status)
  assert.deepEqual(new Set(statuses), new Set([200]))
  api.clock.advance(20_000)
  const refused = await ask(caller)
  const details = assertError(refused, 429, 'rate_limited')
  assert.equal(details.limit, 600)
  assert.equal(details.resetAt, new Date(api.clock.now().getTime() + 40_000).toISOString())
  assert.equal(refused.headers.get('retry-after'), '40')
  assert.deepEqual(limitsOf(refused), ['600', '0', '40'])
  assert.equal((await ask(await api.caller({ orgId: caller.orgId }))).status, 200, 'another key has its own allowance')
  api.clock.advance(40_000)
  assert.deepEqual(limitsOf(await ask(caller)), ['600', '599', '60'])
})

test('a rejection by the gateway or by the plan carries no allowance', async () => {
  const { key } = await api.caller({ scopes: ['write:ci'] })
  for (const answer of [
    await api.request('GET', '/v1/runs'),
    await api.request('GET', '/v1/runs', { key }),
    await ask(await api.caller({ plan: 'free' })),
  ]) {
    assert.ok(answer.status >= 401 && answer.status <= 403)
    assert.deepEqual(limitsOf(answer), [null, null, null])
  }
})

test('SHIPLOCK_RATE_LIMIT_PER_MINUTE sets another limit, and 0 none', async () => {
  const strict = await startTestApi({ beside: api, env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '2' } })
  const open = await startTestApi({ beside: api, env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0' } })
  try {
    const caller = await api.caller()
    const statuses = [await ask(caller, strict), await ask(caller, strict), await ask(caller, strict)].map(
      (a) => a.status,
    )
    assert.deepEqual(statuses, [200, 200, 429])
    assert.deepEqual(limitsOf(await ask(caller, open)), [null, null, null])
  } finally {
    await strict.close()
    await open.close()
  }
})

test('all tokens of a trust share one allowance, and API keys have their own', async () => {
  const strict = await startTestApi({ beside: api, env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '2' } })
  const caller = await startTokenCaller(api)
  try {
    const statuses: number[] = []
    for (const run_id of ['1', '2', '3']) {
      const key = await caller.sign({ run_id })
      statuses.push((await strict.request('GET', '/v1/security/uploads/x', { key })).status)
    }
    assert.deepEqual(statuses, [400, 400, 429])
    assert.equal((await ask(caller, strict)).status, 200)
  } finally {
    await caller.close()
    await strict.close()
  }
})
