import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
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
