import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createKeyText, hashApiKey } from '../src/access/api-key.ts'
import { Authenticator } from '../src/access/gateway/authorize.ts'
import { revokeApiKey } from '../src/access/manage-access.ts'
import { OPERATOR } from '../src/audit/audit.store.ts'
import { startTestApi, type TestApi } from './support/api.ts'

let api: TestApi
let beside: TestApi

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})

function ask(on: TestApi, key: string): Promise<number> {
  return on.request('GET', '/v1/runs?limit=1', { key }).then(({ status }) => status)
}

/**
 * Repeats the request until it is refused. The clock is frozen, so only a notification can change
 * the response.
 */
async function untilRefused(on: TestApi, key: string): Promise<number> {
  const giveUp = AbortSignal.timeout(1000)
  let status = await ask(on, key)
  while (status === 200 && !giveUp.aborted) status = await ask(on, key)
  return status
}

test('a revoked key that was just used is refused within a second on every server', async () => {
  const { key, keyId } = await api.caller()
  for (const server of [api, beside]) assert.equal(await ask(server, key), 200)
  await revokeApiKey(api.services, { org_id: null, id: keyId }, OPERATOR)
  for (const server of [api, beside]) assert.equal(await untilRefused(server, key), 401)
})

test('revoking one key does not affect the organization’s other keys', async () => {
  const revoked = await api.caller()
  const { key } = await api.caller({ orgId: revoked.orgId })
  await revokeApiKey(api.services, { org_id: null, id: revoked.keyId }, OPERATOR)
  assert.equal(await untilRefused(api, revoked.key), 401)
  assert.equal(await ask(api, key), 200)
})

test('a key is refused from the moment it expires, even if it was just used', async () => {
  const own = await startTestApi()
  try {
    const { key } = await own.caller({ expiresAt: new Date(own.clock.now().getTime() + 1000) })
    own.clock.advance(999)
    assert.equal(await ask(own, key), 200)
    own.clock.advance(1)
    assert.equal(await ask(own, key), 401)
  } finally {
    await own.close()
  }
})

test('a development server accepts development keys and refuses production keys', async () => {
  const development = await startTestApi({ beside: api, env: { SHIPLOCK_ENVIRONMENT: 'development' } })
  try {
    const [live, dev] = [await api.caller(), await api.caller({ environment: 'development' })]
    assert.deepEqual([await ask(development, dev.key), await ask(development, live.key)], [200, 401])
    assert.deepEqual([await ask(api, dev.key), await ask(api, live.key)], [401, 200])
  } finally {
    await development.close()
  }
})

test('last_used_at is stored to the minute', async () => {
  const { key, keyId } = await api.caller()
  await ask(api, key)
  const minute = new Date(Math.floor(api.clock.now().getTime() / 60_000) * 60_000)
  let seen: Date | null = null
  for (let asked = 0; asked < 1000 && seen === null; asked += 1) {
    const [row] = await api.services.sql`select last_used_at from api_keys where id = ${keyId}`
    seen = row?.last_used_at
  }
  assert.deepEqual(seen, minute)
})

/** An authenticator that reads one key from the database, and finds no other. It counts its reads. */
function countingReads(good: Buffer) {
  const reads = { good: 0, unknown: 0 }
  const sql = new Proxy(api.services.sql, {
    apply(target, self, [strings, ...values]) {
      const isGood = values.some((value) => Buffer.isBuffer(value) && value.equals(good))
      reads[isGood ? 'good' : 'unknown'] += 1
      return isGood ? Reflect.apply(target, self, [strings, ...values]) : Promise.resolve([])
    },
  })
  return { reads, authenticator: new Authenticator({ ...api.services, sql }) }
}

test('20,000 unknown keys cause no new read of a good one, and one key is read once in 5 seconds', async () => {
  const { key } = await api.caller()
  const { reads, authenticator } = countingReads(hashApiKey(key))
  await authenticator.authenticate(key, '192.0.2.1')
  for (let round = 0; round < 200; round += 1) {
    const keys = Array.from({ length: 100 }, () => createKeyText(api.services.config.environment))
    const answers = await Promise.allSettled(keys.map((unknown) => authenticator.authenticate(unknown, '192.0.2.1')))
    assert.ok(answers.every((answer) => answer.status === 'rejected' && answer.reason.status === 401))
  }
  await authenticator.authenticate(key, '192.0.2.1')
  assert.equal(reads.good, 1)
  const before = reads.unknown
  const unknown = createKeyText(api.services.config.environment)
  for (let attempt = 0; attempt < 3; attempt += 1)
    await assert.rejects(authenticator.authenticate(unknown, '192.0.2.1'), { status: 401 })
  assert.equal(reads.unknown - before, 1)
})

test('429 for more than 500 unknown keys of one network that wait, while another one and known keys are served', async () => {
  const { key } = await api.caller()
  const { authenticator } = countingReads(hashApiKey(key))
  await authenticator.authenticate(key, '192.0.2.1')
  const flood = Array.from({ length: 600 }, () =>
    authenticator.authenticate(createKeyText(api.services.config.environment), '192.0.2.1'),
  )
  const others = [authenticator.authenticate(key, '192.0.2.1'), api.caller()]
  const answers = await Promise.allSettled(flood)
  const statuses = answers.map((answer) => answer.status === 'rejected' && answer.reason.status)
  assert.ok(statuses.filter((status) => status === 401).length >= 500)
  assert.ok(statuses.filter((status) => status === 429).length > 0)
  await Promise.all(others)
})
