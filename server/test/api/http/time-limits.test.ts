import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHttpServer, type HttpOptions } from '../../../src/platform/http/http-server.ts'
import { registerGracefulStop, selectPort } from '../../../src/platform/http/listener.ts'
import { createLog } from '../../../src/platform/log.ts'
import { logLines } from '../../support/log-lines.ts'

const POST = 'POST /echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n'
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`

type Running = {
  port: number
  /** Lets `GET /slow` answer. */
  release: () => void
  stop: () => Promise<void>
  listening: () => boolean
}

let running: Running
afterEach(async () => {
  running.release()
  await running.stop()
})

async function start(limits: HttpOptions = {}, idleGraceMs = 0, log = createLog('silent')): Promise<Running> {
  const app = createHttpServer(log, limits)
  const released = Promise.withResolvers<void>()
  app.get('/slow', async () => {
    await released.promise
    return { path: '/slow' }
  })
  app.get('/fast', async () => ({ path: '/fast' }))
  app.post('/echo', async ({ body }) => body)
  const stop = await registerGracefulStop(app, { idleGraceMs, drainMs: 20_000 })
  await app.ready()
  const port = await selectPort('127.0.0.1', 0)
  await port.listen(app.server)
  let stopped: Promise<void> | undefined
  running = {
    port: port.number,
    release: released.resolve,
    stop: () => (stopped ??= stop()),
    listening: () => app.server.listening,
  }
  return running
}

async function open(): Promise<Socket> {
  const socket = connect(running.port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('408 with the envelope when the headers take too long', { timeout: 20_000 }, async () => {
  await start({ headersMs: 100 })
  for (const bytes of ['', 'GET / HTTP/1.1\r\nhost:']) {
    const socket = await open()
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1.1 408 /)
    assert.equal(JSON.parse(body).error.code, 'invalid_request')
  }
})

for (const length of ['content-length: 100', 'transfer-encoding: chunked']) {
  test(`408 with the envelope when the body takes too long, with ${length}`, { timeout: 20_000 }, async () => {
    await start({ bodyMs: 100 })
    const socket = await open()
    socket.write(`${POST}${length}\r\n\r\n1\r\n{`)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1.1 408 /)
    assert.match(head, /^connection: close$/im)
    assert.match(head, /^x-request-id: /im)
    assert.equal(JSON.parse(body).error.code, 'invalid_request')
  })
}

test('a body that no route reads and that never arrives ends nothing', { timeout: 20_000 }, async () => {
  await start({ bodyMs: 100 })
  const [unread, slow] = [await open(), await open()]
  unread.write('GET /slow HTTP/1.1\r\nhost: test\r\ncontent-length: 5\r\n\r\n')
  slow.write(`${POST}content-length: 5\r\n\r\n`)
  assert.match(await text(slow), /^HTTP\/1.1 408 /) // the time limit of the other request is over, too
  running.release()
  assert.match(String((await once(unread, 'data'))[0]), /^HTTP\/1.1 200 /)
  unread.destroy()
})

test('a body that arrives in time, in pieces, is read', async () => {
  await start({ bodyMs: 20_000 })
  const socket = await open()
  socket.write(`${POST}content-length: 7\r\n\r\n{"a"`)
  await nextTurn()
  socket.write(':1}')
  const [bytes] = await once(socket, 'data')
  assert.match(String(bytes), /^HTTP\/1.1 200 [\s\S]*\{"a":1\}$/)
  socket.destroy()
})

test('connections beyond the limit of an address are closed, until one of the others ends', {
  timeout: 20_000,
}, async () => {
  await start({ connectionsPerAddress: 2 })
  const [first, second] = [await open(), await open()]
  assert.equal(await text(await open()).catch(() => ''), '')
  for (const socket of [first, second]) {
    socket.write(GET('/fast'))
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
  }
  first.destroy()
  await untilAdmitted()
  second.destroy()
})

async function untilAdmitted(): Promise<void> {
  while (true) {
    const socket = await open()
    socket.write(GET('/fast'))
    const bytes = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => [])
    socket.destroy()
    if (String(bytes[0]).startsWith('HTTP/1.1 200')) return
  }
}

test('a stop closes the port, and answers requests in progress and requests on open connections with Connection: close', {
  timeout: 10_000,
}, async () => {
  await start({}, 20_000)
  const [inFlight, idle] = [await open(), await open()]
  inFlight.write(GET('/slow'))
  idle.write(GET('/fast'))
  assert.match(String((await once(idle, 'data'))[0]), /^connection: keep-alive$/im)
  const stopped = running.stop()
  while (running.listening()) await nextTurn()
  await assert.rejects(open(), { code: 'ECONNREFUSED' })
  idle.write(GET('/fast'))
  const late = await text(idle)
  assert.match(late, /^HTTP\/1.1 200 [\s\S]*"\/fast"/)
  assert.match(late, /^connection: close$/im)
  running.release()
  const answer = await text(inFlight)
  assert.match(answer, /^HTTP\/1.1 200 [\s\S]*"\/slow"/)
  assert.match(answer, /^connection: close$/im)
  await stopped
})

test('a stop resets no connection that waits to be accepted', async () => {
  await start({}, 20_000)
  const sockets = Array.from({ length: 20 }, () => connect(running.port, '127.0.0.1').on('error', () => undefined))
  for (const socket of sockets) socket.write(GET('/fast'))
  void running.stop()
  const answers = await Promise.all(sockets.map((socket) => text(socket).catch(String)))
  assert.deepEqual(
    answers.map((answer) => answer.split('\r\n')[0]),
    sockets.map(() => 'HTTP/1.1 200 OK'),
  )
})

test('a stop closes idle connections after the grace period', async () => {
  await start({}, 10)
  const agent = new Agent({ keepAlive: true })
  const [response] = await once(get({ port: running.port, host: '127.0.0.1', path: '/fast', agent }), 'response')
  await text(response)
  const unused = await open()
  await running.stop()
  assert.equal(running.listening(), false)
  assert.equal(await text(unused), '')
  agent.destroy()
})

test('a client that leaves in the middle of a body is logged once, at debug level', async () => {
  const { log, lines, nextLine } = logLines()
  await start({}, 0, log)
  const socket = await open()
  socket.write(`${POST}content-length: 100\r\n\r\n{`)
  await nextTurn()
  socket.destroy()
  assert.equal((await nextLine()).level, log.levels.values.debug)
  await running.stop()
  assert.equal(lines.length, 1)
})
