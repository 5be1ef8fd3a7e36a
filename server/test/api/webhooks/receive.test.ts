import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { computeShard } from '../../../src/codehosts/deliveries/delivery.ts'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { clearJobs, listJobs } from '../../support/queue.ts'
import { runPayload, SECRET, sendWebhook, sign, webhookHeaders, webhookHost } from '../../support/webhooks.ts'

const BYTES_MAX = 25 * 2 ** 20
const POLLS_MAX = 20_000
const OLD_SECRET = 'the old secret'

let api: TestApi
let beside: TestApi

before(async () => {
  api = await startTestApi({ codeHosts: webhookHost([SECRET, OLD_SECRET]) })
  beside = await startTestApi({ codeHosts: webhookHost(), beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})

async function stored(id: string) {
  const rows = await api.services.sql`
    select provider, event, action, installation_id, lane, received_at, payload, status, attempts, error
    from codehost_deliveries
    where id = ${id}`
  return rows[0] ?? null
}

/** Every refusal stores nothing. */
async function assertRefused(body: string | Buffer, options: Parameters<typeof sendWebhook>[2], status: number) {
  const id = options?.id ?? randomUUID()
  const answer = await sendWebhook(api, body, { id, ...options })
  assert.equal(answer.status, status, answer.text)
  assert.equal(await stored(id), null)
  return answer.text
}

test('202 stores the delivery with its raw payload and queues its job', async () => {
  const id = randomUUID()
  const body = `{ "action":"requested", "workflow_run":{"id":17},"installation":{"id":4711}, "x":"\\u0000 ü" }\n`
  assert.deepEqual(await sendWebhook(api, body, { id }), { status: 202, text: '' })
  assert.deepEqual(await stored(id), {
    provider: 'github',
    event: 'workflow_run',
    action: 'requested',
    installation_id: '4711',
    lane: 'run:17',
    received_at: api.clock.now(),
    payload: body,
    status: 'received',
    attempts: 0,
    error: null,
  })
  const jobs = await listJobs(api.services.sql, 'codehosts.apply-deliveries')
  assert.equal(jobs.length, 1)
})

test('a delivery that is stored right after another one is queued too', async () => {
  const { sql } = api.services
  const untilQueued = async () => {
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      const jobs = await listJobs(sql)
      if (jobs.some(({ key }) => key === `codehosts.apply-deliveries ${shard}`)) return clearJobs(sql)
    }
    throw new Error('The job was not queued.')
  }
  await clearJobs(sql)
  const shard = computeShard('run:1')
  for (let sent = 0; sent < 5; sent += 1) {
    await sendWebhook(api, runPayload(1, `${sent}`))
    await untilQueued()
  }
})

test('202 for the same delivery again, which changes nothing', async () => {
  const id = randomUUID()
  await sendWebhook(api, runPayload(1, 'first'), { id })
  const before = await stored(id)
  assert.equal((await sendWebhook(api, runPayload(2, 'second'), { id, event: 'push' })).status, 202)
  assert.deepEqual(await stored(id), before)
})

test('202 for simultaneous repetitions at two processes, each stored once', async () => {
  const ids = Array.from({ length: 30 }, () => randomUUID())
  const shuffled = [...ids, ...ids.toReversed(), ...ids]
  const answers = await Promise.all(
    shuffled.map((id, index) => sendWebhook(index % 2 === 0 ? api : beside, runPayload(1, id), { id })),
  )
  assert.ok(answers.every(({ status }) => status === 202))
  const rows = await api.services.sql`select from codehost_deliveries where id = any(${ids})`
  assert.equal(rows.length, ids.length)
})

test('202 for either secret while it is rotated', async () => {
  assert.equal((await sendWebhook(api, '{}', { secret: OLD_SECRET })).status, 202)
  assert.equal((await sendWebhook(beside, '{}', { secret: OLD_SECRET })).status, 401)
})

test('202 for a chunked body and without a content type', async () => {
  const headers = { 'transfer-encoding': 'chunked', 'content-type': undefined }
  assert.equal((await sendWebhook(api, runPayload(1, 'chunked'), { headers })).status, 202)
})

for (const [title, headers] of [
  ['no signature', { 'x-hub-signature-256': undefined }],
  ['an empty signature', { 'x-hub-signature-256': '' }],
  ['a signature of another body', { 'x-hub-signature-256': sign('{ }') }],
  ['a signature with another secret', { 'x-hub-signature-256': sign('{}', 'guess') }],
  ['a shortened signature', { 'x-hub-signature-256': sign('{}').slice(0, -1) }],
  ['a signature without its algorithm', { 'x-hub-signature-256': sign('{}').slice('sha256='.length) }],
] as const) {
  test(`401 with an empty body for ${title}`, async () => {
    assert.equal(await assertRefused('{}', { headers }, 401), '')
  })
}

test('401 before anything is parsed', async () => {
  const headers = { 'x-hub-signature-256': sign('x'), 'x-github-event': undefined }
  assert.equal(await assertRefused('not JSON', { headers }, 401), '')
})

test('401 while no credentials are configured', async () => {
  const without = await startTestApi({ codeHosts: webhookHost([]), beside: api })
  try {
    assert.deepEqual(await sendWebhook(without, '{}', { secret: '' }), { status: 401, text: '' })
  } finally {
    await without.close()
  }
})

test('401 for bytes that only decode to the signed text', async () => {
  const signed = Buffer.from('{"a":"\ufffd"}')
  const other = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])
  assert.equal(other.toString(), signed.toString())
  await assertRefused(other, { headers: { 'x-hub-signature-256': sign(signed) } }, 401)
})

for (const [title, body, headers] of [
  ['a body that is not JSON', '{', {}],
  ['an empty body', '', {}],
  ['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
  ['a form', 'payload=%7B%7D', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['no event', '{}', { 'x-github-event': undefined }],
  ['no delivery id', '{}', { 'x-github-delivery': undefined }],
  ['a delivery id of 101 characters', '{}', { 'x-github-delivery': 'a'.repeat(101) }],
] as const) {
  test(`400 for ${title} with the right signature, and nothing is stored`, async () => {
    const count = async () => (await api.services.sql`select from codehost_deliveries`).length
    const before = await count()
    const answer = await sendWebhook(api, body, { headers })
    assert.equal(answer.status, 400)
    assert.equal(JSON.parse(answer.text).error.code, 'invalid_request')
    assert.equal(await count(), before)
  })
}

for (const body of [
  '[]',
  'null',
  '7',
  '{"action":7,"workflow_run":{"id":{}},"installation":[]}',
  '{"action":"\\u0000"}',
]) {
  test(`202 for the unusual payload ${body}`, async () => {
    const id = randomUUID()
    assert.equal((await sendWebhook(api, body, { id })).status, 202)
    const row = await stored(id)
    assert.deepEqual([row?.action, row?.installation_id, row?.lane], [null, null, `delivery:${id}`])
  })
}

test('404 for providers that are not supported, 405 for GET', async () => {
  for (const provider of ['gitlab', 'nobody', 'constructor', 'GITHUB'])
    await assertRefused('{}', { path: `/webhooks/${provider}` }, 404)
  assert.equal((await fetch(`${api.url}/webhooks/github`)).status, 405)
})

test('202 at 25 MiB, 413 at one byte more, announced or not', { timeout: 60_000 }, async () => {
  const fits = `"${'a'.repeat(BYTES_MAX - 2)}"`
  assert.equal((await sendWebhook(api, fits)).status, 202)
  const tooMuch = `${fits} `
  const announced = JSON.parse(await assertRefused(tooMuch, {}, 413))
  assert.equal(announced.error.code, 'payload_too_large')
  await assertRefused(tooMuch, { headers: { 'transfer-encoding': 'chunked' } }, 413)
})

async function open(head: string): Promise<Socket> {
  const { port, hostname } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(head)
  return socket
}

/** Closes the connection after the first bytes of the answer. */
async function answerOf(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data')
  socket.destroy()
  return String(bytes)
}

function rawHead(body: string, id: string, lengthBytes: number): string {
  const headers = Object.entries({ ...webhookHeaders(body, { id }), 'content-length': `${lengthBytes}`, host: 'test' })
  return ['POST /webhooks/github HTTP/1.1', ...headers.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
}

test('a body that is cut off stores nothing, and the server goes on', async () => {
  const id = randomUUID()
  const body = runPayload(1, 'cut')
  const socket = await open(rawHead(body, id, body.length))
  socket.write(body.slice(0, -1))
  socket.destroy()
  assert.equal((await sendWebhook(api, body)).status, 202)
  assert.equal(await stored(id), null)
})

test('401 for a body that is longer than announced, because the signature covers all of it', async () => {
  const id = randomUUID()
  const body = runPayload(1, 'long')
  const socket = await open(rawHead(body, id, body.length - 1))
  socket.write(body)
  assert.match(await answerOf(socket), /^HTTP\/1.1 401 /)
  assert.equal(await stored(id), null)
})

test('clients that leave while they wait do not use up the slots', { timeout: 60_000 }, async () => {
  const large = JSON.stringify({ text: 'a'.repeat(600_000) })
  const sockets = await Promise.all(Array.from({ length: 8 }, () => open(rawHead(large, randomUUID(), large.length))))
  for (const socket of sockets) socket.write(large.slice(0, 400_000))
  for (const socket of sockets) socket.destroy()
  for (let polls = 0; polls < 5; polls += 1) assert.equal((await sendWebhook(api, large)).status, 202)
})
