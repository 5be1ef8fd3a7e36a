import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type HostAction, HostRefusal, HostUnavailable } from '../../src/codehosts/code-host.ts'
import type { HostCall } from '../../src/codehosts/connections/call.store.ts'
import { enqueueCall, retryCalls, sendCalls } from '../../src/codehosts/connections/send-call.job.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { hostRepository, insertConnection } from '../support/host-objects.ts'
import { clearJobs, drainQueue, listJobs } from '../support/queue.ts'

let api: TestApi
let orgId: string
let connectionId: string
const host = fakeCodeHost()
/** Decides what the host does with an action; it is carried out unless this throws. */
let answer: (action: HostAction & { type: 'commit_status' }) => void | Promise<void>

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
beforeEach(async () => {
  const { sql } = api.services
  await sql`truncate codehost_calls`
  await clearJobs(sql)
  orgId = (await api.caller()).orgId
  connectionId = (await insertConnection(sql, orgId)).connection_id as string
  host.acted.length = 0
  answer = () => {}
  host.answers.act = async (action) => {
    await answer(action as never)
    host.acted.push(action)
  }
})
after(() => api?.close())

function action(context: string): HostAction {
  const repository = { id: hostRepository().id, full_name: hostRepository().full_name }
  const status = { state: 'success', description: 'ok', url: null } as const
  return { type: 'commit_status', repository, commit_sha: 'a'.repeat(40), context, ...status }
}

async function requestOf(context: string, fields: Partial<HostCall> = {}): Promise<void> {
  const subject = { type: 'commit', id: 'c1' } as const
  const call = {
    org_id: orgId,
    connection_id: connectionId,
    idempotency_key: context,
    subject,
    action: action(context),
  }
  await api.services.sql.begin((tx) => enqueueCall(tx, { ...call, ...fields }, api.clock.now()))
}

const acted = () => host.acted.map((one) => (one as HostAction & { type: 'commit_status' }).context)

async function callOf(key: string) {
  const [row] = await api.services.sql`
    select status, attempts, error, next_try_at, ended_at
    from codehost_calls
    where org_id = ${orgId}
      and idempotency_key = ${key}`
  return row as Record<string, unknown>
}

const subject = () => ({ org_id: orgId, subject_type: 'commit', subject_id: 'c1' })
const sendAll = () => sendCalls.run(api.services, subject())

async function auditOf(action: string) {
  return api.services.sql`
    select principal_type, object_type, details from audit_entries where org_id = ${orgId} and action = ${action}`
}

async function endings(): Promise<string[]> {
  const jobs = await listJobs(api.services.sql, 'event codehosts.call.ended')
  return jobs.map(({ payload }) => payload.outcome)
}

test('a call is sent once, by the job that its request queues', async () => {
  await requestOf('a')
  await requestOf('a')
  await drainQueue(api)
  await sendAll()
  assert.deepEqual(acted(), ['a'])
  const { status, attempts, ended_at, error } = await callOf('a')
  assert.deepEqual([status, attempts, ended_at, error], ['done', 1, api.clock.now(), null])
})

test('a request that is rolled back sends nothing', async () => {
  const failed = api.services.sql.begin(async (tx) => {
    const call = { org_id: orgId, connection_id: connectionId, idempotency_key: 'x', action: action('x') }
    await enqueueCall(tx, { ...call, subject: { type: 'commit', id: 'c1' } }, api.clock.now())
    throw new Error('rolled back')
  })
  await assert.rejects(failed, /rolled back/)
  await drainQueue(api)
  assert.deepEqual(acted(), [])
})

test('a refusal ends the call, is audited and published', async () => {
  answer = () => {
    throw new HostRefusal(422, 'The run has ended')
  }
  await requestOf('refused')
  await sendAll()
  const { status, error } = await callOf('refused')
  assert.deepEqual([status, error], ['refused', 'The run has ended'])
  assert.deepEqual(await endings(), ['refused'])
  const [entry] = await auditOf('host_call.refuse')
  assert.deepEqual(entry, {
    principal_type: 'system',
    object_type: 'host_call',
    details: { subject_type: 'commit', subject_id: 'c1', action: 'commit_status', error: 'The run has ended' },
  })
})

test('the next try of a call is queued for the end of its pause', async () => {
  answer = () => {
    throw new HostUnavailable('down')
  }
  await requestOf('down')
  await clearJobs(api.services.sql)
  await sendAll()
  const queued = await listJobs(api.services.sql, sendCalls.name)
  assert.deepEqual(
    queued.map(({ delay_seconds }) => Math.round(delay_seconds)),
    [5],
  )
})

test('an unavailable host is tried again with growing pauses for 24 hours, then the call has failed', async () => {
  answer = () => {
    throw new HostUnavailable('down')
  }
  await requestOf('down')
  const requestedMs = api.clock.now().getTime()
  const pausesMs: number[] = []
  for (;;) {
    await sendAll()
    const { status, next_try_at } = await callOf('down')
    if (status !== 'pending') break
    pausesMs.push((next_try_at as Date).getTime() - api.clock.now().getTime())
    await sendAll() // Nothing is due.
    api.clock.advance(pausesMs.at(-1) as number)
  }
  assert.equal(api.clock.now().getTime() - requestedMs, DAY_MS)
  assert.deepEqual(pausesMs.slice(0, 4), [5000, 15_000, MINUTE_MS, 5 * MINUTE_MS])
  assert.deepEqual(
    pausesMs.slice(0, -1),
    pausesMs.slice(0, -1).toSorted((a, b) => a - b),
  )
  const { status, attempts, error } = await callOf('down')
  assert.deepEqual([status, attempts, error], ['failed', pausesMs.length + 1, 'down'])
  assert.deepEqual(await endings(), ['failed'])
  assert.equal((await auditOf('host_call.fail')).length, 1)
})

test('a lost answer repeats the call', async () => {
  let isLost = true
  host.answers.act = async (one) => {
    host.acted.push(one)
    if (!isLost) return
    isLost = false
    throw new Error('socket hang up')
  }
  await requestOf('lost')
  await sendAll()
  api.clock.advance(MINUTE_MS)
  await retryCalls.run(api.services, {})
  await drainQueue(api)
  assert.deepEqual(acted(), ['lost', 'lost'])
  assert.equal((await callOf('lost')).status, 'done')
})

test('calls of one subject are sent in the order in which they were requested, also after an outage', async () => {
  answer = ({ context }) => {
    if (context === 'first') throw new HostUnavailable('down')
  }
  await requestOf('first')
  await requestOf('second')
  await sendAll()
  assert.deepEqual(acted(), [])
  assert.equal((await callOf('second')).attempts, 0)
  await requestOf('other', { subject: { type: 'commit', id: 'c2' } })
  await sendCalls.run(api.services, { ...subject(), subject_id: 'c2' })
  assert.deepEqual(acted(), ['other'])
  answer = () => {}
  api.clock.advance(MINUTE_MS)
  await retryCalls.run(api.services, {})
  await drainQueue(api)
  assert.deepEqual(acted(), ['other', 'first', 'second'])
})

test('a call that the host does not accept for an hour holds back no others', async () => {
  answer = ({ context }) => {
    if (context === 'first') throw new HostUnavailable('down')
  }
  await requestOf('first')
  await sendAll()
  await requestOf('second')
  for (let minutes = 0; minutes < 60; minutes += 1) {
    assert.deepEqual(acted(), [])
    api.clock.advance(MINUTE_MS)
    await sendAll()
  }
  api.clock.advance(60 * MINUTE_MS)
  await sendAll()
  assert.deepEqual(acted(), ['second'])
})

test('a suspended connection is tried again until it is active', async () => {
  const { sql } = api.services
  await sql`update codehost_connections set status = 'suspended' where id = ${connectionId}`
  await requestOf('suspended')
  await sendAll()
  assert.deepEqual([(await callOf('suspended')).error, acted()], ['The connection is suspended', []])
  await sql`update codehost_connections set status = 'active' where id = ${connectionId}`
  api.clock.advance(MINUTE_MS)
  await sendAll()
  assert.deepEqual(acted(), ['suspended'])
})

test('simultaneous jobs send a call once, and nothing that is requested meanwhile is forgotten', async () => {
  const held = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  answer = async ({ context }) => {
    if (context !== 'first') return
    reached.resolve()
    await held.promise
  }
  await requestOf('first')
  const sending = sendAll()
  await reached.promise
  await requestOf('second')
  await sendAll()
  assert.deepEqual(acted(), [])
  held.resolve()
  await sending
  assert.deepEqual(acted(), ['first', 'second'])
})

test('a job that is stopped keeps what it has not sent', async () => {
  const stop = new AbortController()
  answer = () => stop.abort(new Error('stopped'))
  await requestOf('first')
  await requestOf('second')
  await assert.rejects(sendCalls.run(api.services, subject(), stop.signal), /stopped/)
  assert.equal(acted().length, 1)
  await sendAll()
  assert.deepEqual(acted(), ['first', 'second'])
})
