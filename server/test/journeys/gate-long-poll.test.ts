import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GateWatch } from '../../src/deployments/gates/gate-watch.ts'
import { findGateById, type StoredGate } from '../../src/deployments/gates/opened-gate.store.ts'
import { awaitDecision } from '../../src/deployments/gates/poll-gate.ts'
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

/** The poll is counted before it waits, so a count says that it has reached the server. */
async function untilPolled(gate: Json, times = 1): Promise<void> {
  for (;;) {
    const [row] = await api.services
      .sql`select cardinality(polled_at) as polls from gate_polls where gate_id = ${gate.gate_id}`
    if (row && row.polls >= times) return
  }
}

test('a waiting poll answers as soon as the decision is committed in another process', async () => {
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

test('twelve waiting polls of one gate all hear of its decision', async () => {
  const gate = await openGate(api, caller)
  const polls = Array.from({ length: 12 }, () => pollGate(api, gate, WAIT))
  await untilPolled(gate, 12)
  await answer(api, caller, gate.deployment_id, 'reject')
  for (const { body } of await Promise.all(polls)) assert.equal(body.data.decision, 'rejected')
})

test('a decision of another gate wakes nobody, and time that is over answers with the gate as it waits', async () => {
  const [gate, other] = [await openGate(api, caller), await openGate(api, caller)]
  const startedAt = performance.now()
  const polled = pollGate(api, gate, { prefer: 'respond-async, wait=1' })
  await answer(api, caller, other.deployment_id, 'approve')
  const { status, body, headers } = await polled
  assert.ok(performance.now() - startedAt >= 990)
  assert.deepEqual([status, body.data.status, headers.get('preference-applied')], [200, 'waiting', 'wait=1'])
})

test('a gate that is decided already answers at once', async () => {
  const gate = await openGate(api, caller)
  await answer(api, caller, gate.deployment_id, 'approve')
  const startedAt = performance.now()
  assert.equal((await pollGate(api, gate, WAIT)).body.data.decision, 'approved')
  assert.ok(performance.now() - startedAt < 2000)
})

test('more than 20 seconds are not waited for, and what is no number is not either', async () => {
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

test('a decision that falls into a lost connection is not missed', async () => {
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

test('nobody waits any longer for a client that has gone', async () => {
  const gate = await openGate(api, caller)
  const stored = (await findGateById(api.services.sql, gate.gate_id)) as StoredGate
  const gone = new AbortController()
  const startedAt = performance.now()
  const limits = { waitMs: 20_000, gone: gone.signal }
  const waiting = awaitDecision(api.services, new GateWatch(api.services.sql), stored, limits)
  gone.abort()
  assert.equal((await waiting).status, 'waiting')
  assert.ok(performance.now() - startedAt < 5000)
})
