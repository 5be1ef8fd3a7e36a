import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { CodeHost } from '../../../src/codehosts/code-host.ts'
import { accountHost } from '../../support/account-host.ts'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { sendWebhook, sign, webhookHeaders, webhookHost } from '../../support/webhooks.ts'

const SMALL_BYTES_MAX = 256 * 2 ** 10
const LARGE = JSON.stringify({ text: 'a'.repeat(300 * 2 ** 10) })
/** All of them are one network of 64 bits. */
const ONE_NETWORK = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1']

/** Checks of signatures that wait to be let through. Their bodies keep their slots meanwhile. */
const checks: (() => void)[] = []
const arrivals = new EventEmitter()
let api: TestApi

before(async () => {
  const codeHosts = webhookHost()
  const { webhooks } = codeHosts.get('github') as CodeHost
  const { verify } = webhooks
  webhooks.verify = async (body, headers, target) => {
    if (headers['x-hold'] !== undefined) await letThrough()
    return verify(body, headers, target)
  }
  codeHosts.set('gitlab', accountHost().codeHosts.get('gitlab') as CodeHost)
  api = await startTestApi({ codeHosts, env: { SHIPLOCK_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => api?.close())

function letThrough(): Promise<void> {
  return new Promise((resolve) => {
    checks.push(resolve)
    arrivals.emit('check')
  })
}

async function untilChecks(count: number): Promise<void> {
  while (checks.length < count) await once(arrivals, 'check')
}

/** Lets through whatever waits, and whatever gets its slot by that. */
async function statusesOf(sent: Promise<{ status: number }>[]): Promise<number[]> {
  const passAll = () => {
    for (const pass of checks.splice(0)) pass()
  }
  arrivals.on('check', passAll)
  passAll()
  const answers = await Promise.all(sent)
  arrivals.off('check', passAll)
  return answers.map(({ status }) => status)
}

const sendHeld = (address: string) =>
  sendWebhook(api, LARGE, { headers: { 'x-forwarded-for': address, 'x-hold': 'yes' } })

/** What was sent before them has been read when they are answered. */
async function sendSmall(): Promise<void> {
  for (let sent = 0; sent < 20; sent += 1) assert.equal((await sendWebhook(api, '{}')).status, 202)
}

async function open(path: string, headers: Record<string, string>): Promise<Socket> {
  const { port, hostname } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const lines = Object.entries({ host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}`)
  socket.write([`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
  return socket
}

test('408 for large bodies that stall, and they do not hold up a signed one from elsewhere', {
  timeout: 60_000,
}, async () => {
  const headers = {
    ...webhookHeaders('', { headers: { 'x-hub-signature-256': sign('a body of another delivery') } }),
    'content-length': '1000000',
    'x-forwarded-for': '203.0.113.1',
  }
  const stalled = await Promise.all(Array.from({ length: 8 }, () => open('/webhooks/github', headers)))
  for (const socket of stalled) socket.write('a'.repeat(SMALL_BYTES_MAX + 1))
  const answers: string[] = []
  const ended = stalled.map(async (socket) => answers.push(await text(socket)))
  await sendSmall()
  const signed = await sendWebhook(api, LARGE, { headers: { 'x-forwarded-for': '203.0.113.2' } })
  assert.equal(signed.status, 202)
  assert.ok(answers.length < stalled.length)
  await Promise.all(ended)
  for (const answer of answers) assert.match(answer, /^HTTP\/1.1 408 [\s\S]*"code":"invalid_request"/)
})

for (const [title, path, headers] of [
  ['no signature', '/webhooks/github', { 'x-hub-signature-256': undefined }],
  ['a signature that is none', '/webhooks/github', { 'x-hub-signature-256': 'sha256=xyz' }],
  ['a connection that does not exist', `/webhooks/gitlab/${randomUUID()}`, { 'x-token': 'a guess' }],
] as const)
  test(`401 for ${title}, before a byte of the body has arrived`, async () => {
    const socket = await open(path, { ...webhookHeaders(LARGE, { headers }), 'content-length': `${LARGE.length}` })
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1.1 401 [\s\S]*^connection: close\r$/im)
    socket.destroy()
  })

test('two large bodies of a network are read at a time, and eight of all; small ones do not wait', async () => {
  const ofOne = ONE_NETWORK.map(sendHeld)
  await untilChecks(2)
  await sendSmall()
  assert.equal(checks.length, 2)
  const ofOthers = [2, 2, 3, 3, 4, 4, 5].map((network) => sendHeld(`203.0.113.${network}`))
  await untilChecks(8)
  await sendSmall()
  assert.equal(checks.length, 8)
  assert.deepEqual(await statusesOf([...ofOne, ...ofOthers]), Array(10).fill(202))
})

test('503 for large bodies of a network of which ten wait, and for no others', async () => {
  const sent = Array.from({ length: 13 }, () => sendHeld('203.0.113.1'))
  const refused = await Promise.race(sent)
  assert.equal(refused.status, 503)
  assert.equal(JSON.parse(refused.text).error.code, 'unavailable')
  await untilChecks(2)
  const ofOther = sendHeld('203.0.113.2')
  await untilChecks(3)
  const statuses = await statusesOf([...sent, ofOther])
  assert.deepEqual(statuses.toSorted(), [...Array(13).fill(202), 503])
})
