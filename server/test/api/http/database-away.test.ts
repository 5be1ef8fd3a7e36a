import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { revokeApiKey } from '../../../src/access/manage-access.ts'
import { OPERATOR } from '../../../src/audit/audit.store.ts'
import { createLog } from '../../../src/platform/log.ts'
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { type DatabasePlug, openDatabasePlug } from '../../support/database-plug.ts'
import type { Json } from '../../support/json.ts'

/** Another server on the data of `api`, whose line to the database can be cut. */
let api: TestApi
let plug: DatabasePlug
let cut: TestApi

before(async () => {
  api = await startTestApi()
  plug = await openDatabasePlug(api.database.address)
  cut = await startTestApi({ beside: api, through: plug.connection, log: createLog('silent') })
})
after(async () => {
  await cut?.close()
  await plug?.close()
  await api?.close()
})

test('503 unavailable with Retry-After while the database is unreachable, and 200 as soon as it is reachable', async () => {
  const [used, unused] = [await api.caller(), await api.caller()]
  assert.equal((await cut.request('GET', '/v1/runs', { key: used.key })).status, 200)
  await plug.pull()
  for (const { key } of [used, unused]) {
    const answer = await cut.request('GET', '/v1/runs', { key })
    assert.deepEqual(assertError(answer, 503, 'unavailable'), {})
  }
  assert.equal((await cut.request('GET', '/healthz')).status, 200)
  const ready = await cut.request('GET', '/readyz')
  assert.equal(ready.status, 503)
  assert.deepEqual(
    ready.body.checks.filter((check: Json) => !check.ok).map((check: Json) => check.name),
    ['database', 'migrations'],
  )
  await plug.push()
  const { status } = await untilNot(503, () => cut.request('GET', '/v1/runs', { key: unused.key }))
  assert.equal(status, 200)
})

test('a key that is revoked after the database was unreachable is refused at once', async () => {
  const { key, keyId } = await api.caller()
  await plug.pull()
  await plug.push()
  await untilNot(503, () => cut.request('GET', '/v1/runs', { key }))
  await revokeApiKey(api.services, { org_id: null, id: keyId }, OPERATOR)
  const { status } = await untilNot(200, () => cut.request('GET', '/v1/runs', { key }))
  assert.equal(status, 401)
})

/**
 * Asks again while the answer is `status`; the clock stands still, so nothing but news from the
 * database changes it.
 */
async function untilNot(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  const giveUp = AbortSignal.timeout(10_000)
  let answer = await ask()
  while (answer.status === status && !giveUp.aborted) answer = await ask()
  return answer
}
