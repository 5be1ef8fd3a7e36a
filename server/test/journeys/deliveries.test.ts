import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { applyDeliveries } from '../../src/codehosts/deliveries/apply-deliveries.ts'
import { releaseDeliveries } from '../../src/codehosts/deliveries/apply-delivery.ts'
import { resumeDeliveries } from '../../src/codehosts/deliveries/deliveries.job.ts'
import { countDeliveries } from '../../src/codehosts/deliveries/delivery.store.ts'
import { replayDelivery } from '../../src/codehosts/deliveries/delivery-intake.ts'
import type { HostEventHandlers } from '../../src/codehosts/deliveries/host-event-handler.ts'
import { updateClaimedUntried } from '../../src/codehosts/deliveries/pending-delivery.store.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { runConcurrently } from '../../src/platform/concurrency.ts'
import type { Tx } from '../../src/platform/db/sql.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { applyingHandlers, createAppliedTable, listApplied } from '../support/applied-runs.ts'
import { startDeliveryWorker } from '../support/delivery-workers.ts'
import { insertConnection } from '../support/host-objects.ts'
import { clearJobs, listJobs, skipPauses } from '../support/queue.ts'
import { INSTALLATION, runPayload, sendWebhook, webhookHost } from '../support/webhooks.ts'

const POLLS_MAX = 20_000
const SHARDS = 8

let api: TestApi

before(async () => {
  api = await startTestApi({ codeHosts: webhookHost() })
  await createAppliedTable(api.services.sql)
})
beforeEach(async () => {
  const { sql } = api.services
  await sql`truncate codehost_deliveries, applied_runs`
  await clearJobs(sql)
  await sql`update codehost_connections set status = 'removed'`
})
after(() => api?.close())

/** Connects the installation that the deliveries name. */
async function connect(): Promise<string> {
  const { sql } = api.services
  const { orgId } = await api.caller()
  const { connection_id } = await insertConnection(sql, orgId)
  await sql`update codehost_connections set installation_id = ${INSTALLATION} where id = ${connection_id}`
  return connection_id as string
}

async function send(runId: number, message: string, more: object = {}, event = 'workflow_run'): Promise<string> {
  const id = randomUUID()
  assert.equal((await sendWebhook(api, runPayload(runId, message, more), { id, event })).status, 202)
  return id
}

async function applyAll(handlers: HostEventHandlers = applyingHandlers()): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1) await applyDeliveries({ ...api.services, handlers }, { shard })
}

const failing = (fail: (tx: Tx, run: HostRun) => Promise<void> | void) =>
  applyingHandlers(async (tx, run) => void (await fail(tx, run)))

async function deliveryOf(id: string) {
  const [row] = await api.services.sql`
    select status, waiting, attempts, error, payload is not null as has_payload, applied_at
    from codehost_deliveries
    where id = ${id}`
  return row as Record<string, unknown>
}

const statusOf = async (id: string) => (await deliveryOf(id)).status

test('deliveries of one run are applied in the order of receipt, each once', async () => {
  await connect()
  for (let at = 0; at < 45; at += 1) await send(1 + (at % 3), `${at}`)
  await applyAll()
  await applyAll()
  const applied = await listApplied(api.services.sql)
  assert.equal(applied.length, 45)
  for (const run of ['1', '2', '3']) {
    const messages = applied.filter(({ run_id }) => run_id === run).map(({ message }) => Number(message))
    assert.deepEqual(
      messages,
      messages.toSorted((a, b) => a - b),
    )
  }
})

test('installations take turns, so that one with many deliveries does not hold up another', async () => {
  await connect()
  const { sql } = api.services
  for (let at = 0; at < 30; at += 1) await send(1, `${at}`)
  const late = await send(1, 'late')
  await sql`update codehost_deliveries set installation_id = 'another' where id = ${late}`
  const [{ shard }] = await sql<[{ shard: number }]>`select distinct shard from codehost_deliveries`
  const claimed = await updateClaimedUntried(sql, shard, api.clock.now())
  assert.ok(claimed.some(({ id }) => id === late))
  const numbers = await sql<{ number: number }[]>`
    select number from codehost_deliveries where attempts > 0 and id <> ${late} order by number`
  const first = await sql<{ number: number }[]>`select number from codehost_deliveries order by number limit 19`
  assert.deepEqual(numbers, first)
})

test('after some seconds, a shard that is not empty gives its slot to others, and its job waits its turn', async () => {
  await connect()
  const ids: string[] = []
  for (let at = 0; at < 45; at += 1) ids.push(await send(1, `${at}`))
  await clearJobs(api.services.sql)
  const slow = failing(() => api.clock.advance(1000))
  await applyAll(slow)
  const applied = (await listApplied(api.services.sql)).length
  assert.ok(applied > 0 && applied < 45, `${applied} were applied`)
  const jobs = await listJobs(api.services.sql, 'codehosts.apply-deliveries')
  assert.deepEqual(
    jobs.map(({ state, class: slotClass }) => [state, slotClass]),
    [['ready', 'outside']],
  )
  for (let slice = 0; slice < 2; slice += 1) await applyAll(slow)
  assert.equal(await statusOf(ids.at(-1) as string), 'applied')
})

test('an unknown event is ignored, and a payload that does not fit is failed at once with its field', async () => {
  await connect()
  const unknown = await send(1, 'unknown', {}, 'star')
  const unfit = await send(1, 'unfit', { unfit: true })
  const after = await send(1, 'after')
  await applyAll()
  assert.equal(await statusOf(unknown), 'ignored')
  const { status, error, attempts } = await deliveryOf(unfit)
  assert.deepEqual([status, error, attempts], ['failed', 'workflow_run.id must be an integer', 1])
  assert.equal(await statusOf(after), 'applied')
  assert.deepEqual(await countDeliveries(api.services.sql), { failed: 1, waiting: 0 })
})

test('deliveries of an unknown installation wait, are not tried again, and are applied in order once it is connected', async () => {
  const ids = [await send(1, 'a'), await send(1, 'b'), await send(2, 'c')]
  await applyAll()
  await applyAll()
  for (const id of ids) {
    const { status, waiting, attempts } = await deliveryOf(id)
    assert.deepEqual([status, waiting, attempts], ['received', true, 0])
  }
  const [installation] = await api.services.sql`select id from codehost_installations where id = ${INSTALLATION}`
  assert.ok(installation)
  await clearJobs(api.services.sql)
  await resumeDeliveries.run(api.services, {})
  assert.equal((await listJobs(api.services.sql)).length, 0)
  const connection_id = await connect()
  await releaseDeliveries(api.services, { connection_id })
  await applyAll()
  const applied = await listApplied(api.services.sql)
  assert.deepEqual(
    applied.filter(({ run_id }) => run_id === '1').map(({ message }) => message),
    ['a', 'b'],
  )
  assert.equal(applied.length, 3)
})

test('a delivery that arrives before the waiting ones are released is applied after them', async () => {
  await send(1, 'a')
  await applyAll()
  await connect()
  await send(1, 'b')
  await applyAll()
  assert.deepEqual(
    (await listApplied(api.services.sql)).map(({ message }) => message),
    ['a', 'b'],
  )
})

test('deliveries of a suspended connection are applied, those of a removed one wait', async () => {
  const connection_id = await connect()
  const { sql } = api.services
  await sql`update codehost_connections set status = 'suspended' where id = ${connection_id}`
  const suspended = await send(1, 'suspended')
  await applyAll()
  await sql`update codehost_connections set status = 'removed' where id = ${connection_id}`
  const removed = await send(1, 'removed')
  await applyAll()
  assert.deepEqual([await statusOf(suspended), (await deliveryOf(removed)).waiting], ['applied', true])
})

test('a failed try pauses its lane, not the others; later tries succeed in order', async () => {
  await connect()
  const first = await send(1, 'first')
  await send(1, 'second')
  await send(2, 'other')
  let failures = 2
  const handlers = failing((_, { commit }) => {
    if (commit.message === 'first' && failures-- > 0) throw new Error('not now')
  })
  await applyAll(handlers)
  const { status, attempts, error } = await deliveryOf(first)
  assert.deepEqual([status, attempts, error], ['received', 1, 'not now'])
  assert.deepEqual(
    (await listApplied(api.services.sql)).map(({ message }) => message),
    ['other'],
  )
  await applyAll(handlers)
  assert.equal((await deliveryOf(first)).attempts, 1)
  for (let tries = 0; tries < 2; tries += 1) {
    api.clock.advance(MINUTE_MS)
    await resumeDeliveries.run(api.services, {})
    await applyAll(handlers)
  }
  assert.deepEqual(
    (await listApplied(api.services.sql)).map(({ message }) => message),
    ['other', 'first', 'second'],
  )
})

test('a delivery that always fails is failed after five tries, changes nothing, and lets the next one pass', async () => {
  await connect()
  const bad = await send(1, 'bad')
  const good = await send(1, 'good')
  let tries = 0
  const handlers = failing((_, { commit }) => {
    if (commit.message !== 'bad') return
    tries += 1
    throw new Error(`no (${tries})`)
  })
  for (let pauses = 0; pauses < 7; pauses += 1) {
    await applyAll(handlers)
    api.clock.advance(20 * MINUTE_MS)
  }
  const { status, attempts, error } = await deliveryOf(bad)
  assert.deepEqual([status, attempts, error, tries], ['failed', 5, 'no (5)', 5])
  assert.equal(await statusOf(good), 'applied')
  assert.deepEqual(
    (await listApplied(api.services.sql)).map(({ message }) => message),
    ['good'],
  )
})

test('a deadlock is tried again at once', async () => {
  await connect()
  const id = await send(1, 'deadlock')
  let failures = 2
  const handlers = failing(async (tx) => {
    if (failures-- > 0) await tx`do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`
  })
  await applyAll(handlers)
  const { status, attempts } = await deliveryOf(id)
  assert.deepEqual([status, attempts], ['applied', 1])
})

test('a settled delivery can be replayed while its payload is kept', async () => {
  await connect()
  const id = await send(1, 'again')
  await assert.rejects(replayDelivery(api.services, { id }, COMMAND_LINE), /has not been applied yet/)
  await assert.rejects(replayDelivery(api.services, { id: 'x' }, COMMAND_LINE), { status: 404 })
  await applyAll()
  await replayDelivery(api.services, { id }, COMMAND_LINE)
  await applyAll()
  assert.equal((await listApplied(api.services.sql)).length, 2)

  const failed = await send(2, 'failed', { unfit: true })
  await applyAll()
  await replayDelivery(api.services, { id: failed }, COMMAND_LINE)
  assert.equal(await statusOf(failed), 'received')
  await applyAll()
  assert.equal(await statusOf(failed), 'failed')

  api.clock.advance(14 * DAY_MS + 1)
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  assert.equal((await deliveryOf(id)).has_payload, false)
  assert.equal((await deliveryOf(failed)).has_payload, true)
  await assert.rejects(replayDelivery(api.services, { id }, COMMAND_LINE), /payload of the delivery has expired/)
  api.clock.advance(76 * DAY_MS + 1)
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  assert.equal((await api.services.sql`select from codehost_deliveries`).length, 0)
})

test('a payload is kept for 14 days, and a delivery that is not applied yet for ever', async () => {
  await connect()
  const applied = await send(1, 'applied')
  await applyAll()
  api.clock.advance(14 * DAY_MS)
  const pending = await send(1, 'pending')
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  assert.equal((await deliveryOf(applied)).has_payload, true)
  api.clock.advance(91 * DAY_MS)
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  assert.equal((await deliveryOf(pending)).has_payload, true)
})

test('whatever the order, the repetitions and the failures, each delivery is applied, in order within its run', async () => {
  await connect()
  const delivery = fc.record({ run: fc.integer({ min: 1, max: 3 }), repeated: fc.nat(2), failures: fc.nat(2) })
  const property = fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 12 }), async (deliveries) => {
    await api.services.sql`truncate codehost_deliveries, applied_runs`
    const failuresLeft = new Map(deliveries.map(({ failures }, at) => [`${at}`, failures]))
    const handlers = failing((_, { commit: { message } }) => {
      const left = failuresLeft.get(`${message}`) ?? 0
      failuresLeft.set(`${message}`, left - 1)
      if (left > 0) throw new Error('not now')
    })
    for (const [at, { run, repeated }] of deliveries.entries()) {
      const id = randomUUID()
      const body = runPayload(run, `${at}`)
      await Promise.all(Array.from({ length: repeated + 1 }, () => sendWebhook(api, body, { id })))
      if (at % 4 === 0) await Promise.all([applyAll(handlers), applyAll(handlers)])
    }
    for (let pauses = 0; pauses < 3 * deliveries.length; pauses += 1) {
      await applyAll(handlers)
      api.clock.advance(20 * MINUTE_MS)
    }
    const applied = await listApplied(api.services.sql)
    assert.equal(applied.length, deliveries.length)
    for (const run of [1, 2, 3]) {
      const expected = deliveries.flatMap((one, at) => (one.run === run ? [`${at}`] : []))
      assert.deepEqual(
        applied.filter(({ run_id }) => run_id === `${run}`).map(({ message }) => message),
        expected,
      )
    }
  })
  await fc.assert(property, { numRuns: 15 })
})

async function untilSettled(count: number): Promise<void> {
  const { sql } = api.services
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const [row] = await sql<[{ settled: number }]>`
      select count(*)::int as settled from codehost_deliveries where status <> 'received'`
    if (row.settled === count) return
    await skipPauses(api.services.sql)
    await resumeDeliveries.run(api.services, {})
  }
  throw new Error('The deliveries were not settled.')
}

test('two worker processes apply each delivery once, in order within its run', { timeout: 120_000 }, async () => {
  await connect()
  await using _one = startDeliveryWorker(api)
  await using _two = startDeliveryWorker(api)
  const sent = Array.from({ length: 60 }, (_, at) => at)
  for (const at of sent) await send(1 + (at % 5), `${at}`)
  await untilSettled(sent.length)
  const applied = await listApplied(api.services.sql)
  assert.equal(applied.length, sent.length)
  for (let run = 1; run <= 5; run += 1) {
    const messages = applied.filter(({ run_id }) => run_id === `${run}`).map(({ message }) => Number(message))
    assert.deepEqual(
      messages,
      messages.toSorted((a, b) => a - b),
    )
  }
})

test('a process retries deliveries one by one, so that one that ends the process costs no other its tries', async () => {
  await connect()
  for (let run = 1; run <= SHARDS * 2; run += 1) await send(run, 'again')
  await api.services.sql`update codehost_deliveries set attempts = 1`
  let running = 0
  let most = 0
  const handlers = applyingHandlers(async (tx) => {
    running += 1
    most = Math.max(most, running)
    for (let at = 0; at < 10; at += 1) await tx`select`
    running -= 1
  })
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard)
  await runConcurrently(shards, 2, (shard) => applyDeliveries({ ...api.services, handlers }, { shard }))
  assert.equal((await listApplied(api.services.sql)).length, SHARDS * 2)
  assert.equal(most, 1)
})

test('a delivery that kills its process five times is failed, and the others are applied', {
  timeout: 120_000,
}, async () => {
  await connect()
  const killer = await send(1, 'kill')
  const others = [await send(1, 'after'), await send(2, 'beside'), await send(3, 'far')]
  for (let kills = 0; kills < 5; kills += 1) {
    await using worker = startDeliveryWorker(api)
    const ended = worker.ended.then(() => true)
    let isEnded = false
    void ended.then(() => {
      isEnded = true
    })
    for (let polls = 0; polls < POLLS_MAX && !isEnded; polls += 1) {
      await skipPauses(api.services.sql)
      await resumeDeliveries.run(api.services, {})
    }
    assert.equal(await worker.ended, 'SIGKILL')
  }
  await using _last = startDeliveryWorker(api)
  await untilSettled(4)
  const { status, error, attempts } = await deliveryOf(killer)
  assert.deepEqual([status, error, attempts], ['failed', 'The process ended 5 times while it applied this delivery', 5])
  for (const id of others) assert.equal(await statusOf(id), 'applied')
  assert.equal((await listApplied(api.services.sql)).length, 3)
})

test('what a payload names outside the connected account is ignored, and said so', async () => {
  await connect()
  const id = await send(7001, 'Of another account', { owner: { id: '66', login: 'umbrella' } })
  const own = await send(7002, 'Of the account')
  await applyAll()
  const rows = await api.services.sql<{ id: string; status: string; error: string | null }[]>`
    select id, status, error from codehost_deliveries order by received_at, id`
  const shown = new Map(rows.map(({ id: name, status, error }) => [name, [status, error]]))
  assert.deepEqual(shown.get(id), ['ignored', 'The payload names a repository outside the connected account'])
  assert.deepEqual(shown.get(own), ['applied', null])
  const [known] = await api.services.sql`select from repositories where id = '2002'`
  assert.equal(known, undefined)
})
