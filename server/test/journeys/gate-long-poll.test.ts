import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GateWatch } from '../../src/deployments/gates/gate-watch.ts'
import { findGateById, type StoredGate } from '../../src/deployments/gates/opened-gate.store.ts'
import { waitForDecision } from '../../src/deployments/gates/poll-gate.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { answer, openGate, pollGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'

const WAIT = { prefer: 'wait=20' }

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

/** Resolves when the server has counted the polls, which it does before it waits. */
async function untilPolled(gate: Json, times = 1): Promise<void> {
  for (;;) {
    const [row] = await api.services
      .sql`select cardinality(polled_at) as polls from gate_polls where gate_id = ${gate.gate_id}`
    if (row && row.polls >= times) return
  }
}

test('a waiting poll returns as soon as another process commits the decision', async () => {
  const beside = await startTestApi({ beside: api })
  try {
    const gate = await openGate(api, caller)
    const polled = pollGate(beside, gate, WAIT)
    await untilPolled(gate)
    const decidedAt = performance.now()
    await answer(api, caller, gate.deployment_id, 'approve')
    const { status, body, headers } = await polled
    assert.ok(performance.now() - decidedAt < 2000)
    assert.deepEqual([status, body.data.decision, headers.get('preference-applied')], [200, 'approved', 'wait=20'])
    assert.equal(headers.get('ratelimit-remaining'), '11')
  } finally {
    await beside.close()
  }
})

test('twelve waiting polls of one gate all return on its decision', async () => {
  const gate = await openGate(api, caller)
  const polls = Array.from({ length: 12 }, () => pollGate(api, gate, WAIT))
  await untilPolled(gate, 12)
  await answer(api, caller, gate.deployment_id, 'reject')
  for (const { body } of await Promise.all(polls)) assert.equal(body.data.decision, 'rejected')
})

test('a decision on another gate wakes no poll; after the wait the poll returns the waiting gate', async () => {
  const [gate, other] = [await openGate(api, caller), await openGate(api, caller)]
  const startedAt = performance.now()
  const polled = pollGate(api, gate, { prefer: 'respond-async, wait=1' })
  await answer(api, caller, other.deployment_id, 'approve')
  const { status, body, headers } = await polled
  assert.ok(performance.now() - startedAt >= 990)
  assert.deepEqual([status, body.data.status, headers.get('preference-applied')], [200, 'waiting', 'wait=1'])
})

test('a poll of a decided gate returns at once', async () => {
  const gate = await openGate(api, caller)
  await answer(api, caller, gate.deployment_id, 'approve')
  const startedAt = performance.now()
  assert.equal((await pollGate(api, gate, WAIT)).body.data.decision, 'approved')
  assert.ok(performance.now() - startedAt < 2000)
})

test('a wait is at most 20 seconds, and an invalid wait is ignored', async () => {
  const gate = await openGate(api, caller)
  await answer(api, caller, gate.deployment_id, 'approve')
  const applied = async (prefer: string) => (await pollGate(api, gate, { prefer })).headers.get('preference-applied')
  assert.equal(await applied('wait=3600'), 'wait=20')
  assert.equal(await applied('wait=soon'), null)
  assert.equal(await applied('wait=-1'), null)
})

test('a server that stops answers its waiting polls first', async () => {
  const beside = await startTestApi({ beside: api })
  const gate = await openGate(api, caller)
  const polled = pollGate(beside, gate, WAIT)
  await untilPolled(gate)
  const startedAt = performance.now()
  await beside.close()
  assert.deepEqual([(await polled).status, (await polled).body.data.status], [200, 'waiting'])
  assert.ok(performance.now() - startedAt < 5000)
})

test('a decision during a lost database connection is not missed', async () => {
  const beside = await startTestApi({ beside: api })
  try {
    const gate = await openGate(api, caller)
    const polled = pollGate(beside, gate, WAIT)
    await untilPolled(gate)
    const { sql } = api.services
    const cut = sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database()
        and query ilike 'listen%'`
    const decidedAt = performance.now()
    await Promise.all([cut, answer(api, caller, gate.deployment_id, 'approve')])
    const { body } = await polled
    assert.equal(body.data.decision, 'approved')
    assert.ok(performance.now() - decidedAt < 12_000)
    assert.equal((await pollGate(beside, await openGate(api, caller), { prefer: 'wait=0' })).status, 200)
  } finally {
    await beside.close()
  }
})

test('a wait ends when the client disconnects', async () => {
  const gate = await openGate(api, caller)
  const stored = (await findGateById(api.services.sql, gate.gate_id)) as StoredGate
  const gone = new AbortController()
  const startedAt = performance.now()
  const limits = { waitMs: 20_000, gone: gone.signal }
  const waiting = waitForDecision(api.services, new GateWatch(api.services.sql), stored, limits)
  gone.abort()
  assert.equal((await waiting).status, 'waiting')
  assert.ok(performance.now() - startedAt < 5000)
})
