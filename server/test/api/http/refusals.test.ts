import assert from 'node:assert/strict'
import { once } from 'node:events'
import { METHODS } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'

const MIB = 2 ** 20
const TRIES = 25

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

type Refusal = { path: string; method?: string; key?: string; type?: string; status: number }

/** Every answer that does not depend on the body is given before the body is read. */
const refusals = (): Refusal[] => [
  { path: '/v1/ci/runs', key: caller.key, status: 413 },
  { path: '/v1/ci/runs', key: caller.key, type: 'text/plain', status: 415 },
  { path: '/v1/ci/runs', key: caller.key, type: 'application/json; charset=utf-16', status: 415 },
  { path: '/v1/ci/runs', status: 401 },
  { path: '/v1/nothing', status: 404 },
  { path: '/v1/runs/%zz', status: 400 },
  { path: '/v1/runs', method: 'PUT', status: 405 },
  { path: '/storage/objects?token=x', method: 'PUT', status: 403 },
]

/** Sends the whole body before it reads, as Python's http.client does. */
async function sendWhole(refusal: Refusal, bytes: number, chunked: boolean): Promise<string> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname).pause()
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('error', reject)
    send(socket, refusal, bytes, chunked).then(() => text(socket).then(resolve, reject), reject)
  })
  return await answer.finally(() => socket.destroy())
}

async function send(socket: Socket, { path, method = 'POST', key, type }: Refusal, bytes: number, chunked: boolean) {
  const head = [`${method} ${path} HTTP/1.1`, 'host: test', `content-type: ${type ?? 'application/json'}`]
  if (key) head.push(`authorization: Bearer ${key}`)
  head.push(chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const piece = Buffer.alloc(MIB / 4, ' ')
  for (let sent = 0; sent < bytes; sent += piece.length) {
    if (chunked) socket.write(`${piece.length.toString(16)}\r\n`)
    const fits = socket.write(piece)
    if (chunked) socket.write('\r\n')
    if (!fits) await once(socket, 'drain')
  }
  if (chunked) socket.write('0\r\n\r\n')
}

for (const chunked of [false, true]) {
  test(`a client that sends a whole ${chunked ? 'chunked ' : ''}body before it reads gets every refusal`, async () => {
    for (const refusal of refusals()) {
      for (const mib of [2, 20]) {
        const answer = await sendWhole(refusal, mib * MIB, chunked)
        const [head = '', body = ''] = answer.split('\r\n\r\n')
        const title = `${refusal.method ?? 'POST'} ${refusal.path} with ${mib} MiB`
        const status = chunked && refusal.path.startsWith('/storage') ? 403 : refusal.status
        assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), title)
        assert.match(head, /^connection: close$/im, title)
        assert.match(head, /^x-request-id: [\w-]+$/im, title)
        assert.ok(JSON.parse(body), title)
      }
    }
  })
}

test('fetch always gets the 413 of a body that is too large', async () => {
  const body = Buffer.alloc(5 * MIB, ' ')
  for (let turn = 0; turn < TRIES; turn += 1) {
    const answer = await api.request('POST', '/v1/ci/runs', { key: caller.key, body: body.toString() })
    assertError(answer, 413, 'payload_too_large')
  }
})

test('a body beyond what is discarded is cut off after the answer', async () => {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (bytes) => (answer += bytes)).on('error', () => {})
  socket.write('POST /v1/nothing HTTP/1.1\r\nhost: test\r\ncontent-length: 1000000000\r\n\r\n')
  const closed = once(socket, 'close').catch(() => {})
  const piece = Buffer.alloc(MIB)
  let sent = 0
  while (sent < 1000 && socket.writable) {
    sent += 1
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
  }
  assert.match(answer, /^HTTP\/1.1 404 /)
  assert.ok(sent < 200, `${sent} MiB were taken`)
})

test('every refusal is answered before the body has arrived, so that no refused body is buffered', async () => {
  for (const { path, method = 'POST', key, type = 'application/json', status } of refusals()) {
    const socket = await opened()
    const authorization = key ? `authorization: Bearer ${key}\r\n` : ''
    const head = `content-type: ${type}\r\n${authorization}content-length: ${2 * MIB}\r\n\r\n`
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: test\r\n${head}`)
    socket.write(Buffer.alloc(MIB / 2))
    const [bytes] = await once(socket, 'data')
    assert.match(String(bytes), new RegExp(`^HTTP/1.1 ${status} `), path)
    socket.destroy()
  }
})

async function opened(): Promise<Socket> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Sends bytes as they are and reads until the server closes. */
async function exchange(bytes: string): Promise<{ status: number; head: string; code: string | undefined }> {
  const socket = await opened()
  socket.write(bytes)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const code = body.startsWith('{"error"') ? JSON.parse(body).error.code : undefined
  return { status: Number(head.slice(9, 12)), head, code }
}

const CLOSE = 'connection: close\r\n\r\n'

test('417 and 400 without Host have the envelope and a request id', async () => {
  for (const [request, status] of [
    [`POST /v1/ci/runs HTTP/1.1\r\nhost: test\r\nexpect: a-miracle\r\n${CLOSE}`, 417],
    [`GET /healthz HTTP/1.1\r\n${CLOSE}`, 400],
  ] as const) {
    const answer = await exchange(request)
    assert.deepEqual([answer.status, answer.code], [status, 'invalid_request'])
    assert.match(answer.head, /^x-request-id: [\w-]+$/im)
  }
})

test('bytes after a request that are not HTTP do not replace its answer, and end the connection', async () => {
  const body = JSON.stringify({ filename: 'a', size: 1, sha256: '0'.repeat(64), repository: 'acme/app' })
  const head = `host: test\r\nauthorization: Bearer ${caller.key}\r\ncontent-type: application/json`
  const request = `POST /v1/security/uploads HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const socket = await opened()
  socket.write(`${request}not HTTP\r\n\r\n`)
  const answer = await text(socket)
  assert.match(answer, /^HTTP\/1.1 201 /)
  assert.match(answer, /^connection: close$/im)
  assert.equal(answer.match(/^HTTP\/1.1 /gm)?.length, 1)
})

test('a refused request with Expect: 100-continue is not told to continue', async () => {
  const head = 'host: test\r\nexpect: 100-continue\r\ncontent-length: 5000000\r\ncontent-type: application/json'
  const socket = await opened()
  socket.write(`POST /v1/ci/runs HTTP/1.1\r\n${head}\r\n\r\n`)
  const [bytes] = await once(socket, 'data')
  assert.match(String(bytes), /^HTTP\/1.1 401 /)
  socket.destroy()
})

test('401 for two Authorization headers, whichever of them is valid', async () => {
  for (const keys of [
    [caller.key, caller.key],
    [caller.key, 'other'],
    ['other', caller.key],
  ]) {
    const headers = keys.map((key) => `Authorization: Bearer ${key}\r\n`).join('')
    const answer = await exchange(`GET /v1/runs HTTP/1.1\r\nhost: test\r\n${headers}${CLOSE}`)
    assert.equal(answer.status, 401)
  }
})

test('every method that Node parses is 404 on an unknown path and 405 on a known one', async () => {
  for (const method of METHODS) {
    if (method === 'CONNECT') continue
    const unknown = await exchange(`${method} /nothing HTTP/1.1\r\nhost: test\r\n${CLOSE}`)
    assert.equal(unknown.status, 404, method)
    if (['GET', 'HEAD'].includes(method)) continue
    const known = await exchange(`${method} /v1/runs HTTP/1.1\r\nhost: test\r\n${CLOSE}`)
    assert.deepEqual([known.status, known.code], [405, 'method_not_allowed'], method)
  }
})

const STATIC: [path: string, header: string][] = [
  ['/docs/static/../x', 'a: b'],
  ['/docs/static/%2e%2e/x', 'a: b'],
  ['/docs/static/index.css', 'range: bytes=99999999-'],
  ['/docs/static/index.css', 'if-match: "x"'],
  ['/docs/static/a%00b', 'a: b'],
]
for (const [path, header] of STATIC) {
  test(`a client error with the envelope for ${path} with ${header}`, async () => {
    const answer = await exchange(`GET ${path} HTTP/1.1\r\nhost: test\r\n${header}\r\n${CLOSE}`)
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`)
    assert.ok(answer.code)
    assert.match(answer.head, /^x-request-id: [\w-]+$/im)
  })
}

const complete = (body?: string): Promise<Answer> =>
  api.request('POST', `/v1/security/uploads/${'0'.repeat(32)}/complete`, {
    key: caller.key,
    ...(body === undefined ? {} : { body }),
  })

test('a route without a body accepts none and {}, and refuses fields', async () => {
  for (const body of [undefined, '{}', '']) assertError(await complete(body), 404, 'not_found')
  for (const body of ['{"force":true}', '[]', 'null', '1', '"text"']) {
    assertError(await complete(body), 400, 'invalid_request')
  }
  assert.match((await complete('{"force":true}')).text, /\/body\/force/)
})
