import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rename, stat, writeFile } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { sealToken } from '../../../../src/platform/crypto/token.ts'
import { ADDRESS_LIFETIME_MS, type PresignedPut } from '../../../../src/platform/objects/object-store.ts'
import { incomingFiles, startFileStore } from '../../../support/file-store-server.ts'
import { logLines } from '../../../support/log-lines.ts'
import { expectationOf, send } from '../../../support/object-store-contract.ts'

const KEY = 'uploads/org/one'
const GIVEN_OUT = new Date('2026-01-02T03:04:05.000Z')

describe('PUT /storage/objects', { timeout: 30_000 }, () => {
  let now: Date
  let server: Awaited<ReturnType<typeof startFileStore>>
  beforeEach(async () => {
    now = GIVEN_OUT
    server = await startFileStore({ clock: { now: () => now } })
  })
  afterEach(() => server.close())

  const slot = (bytes: Uint8Array) => server.store.presignPut(KEY, expectationOf(bytes), GIVEN_OUT)
  const assertNothingStored = async () => {
    assert.equal(await server.store.stat(KEY), null)
    assert.deepEqual(await incomingFiles(server.directory), [])
  }

  test('200 without an API key, with an empty body and no ETag', async () => {
    const bytes = Buffer.from('hello')
    const response = await send(await slot(bytes), bytes)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-length'), '0')
    assert.equal(response.headers.get('etag'), null)
    assert.deepEqual(await readdir(join(server.directory, 'uploads/org')), ['one'])
    assert.deepEqual(await incomingFiles(server.directory), [])
  })

  test('a page of another origin may send the file, and read why it is refused', async () => {
    const bytes = Buffer.from('from a page')
    const address = await slot(bytes)
    const asked = await fetch(address.url, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost', 'access-control-request-method': 'PUT' },
    })
    assert.equal(asked.status, 204)
    assert.equal(asked.headers.get('access-control-allow-methods'), 'PUT')
    const allowed = asked.headers.get('access-control-allow-headers')?.split(', ') ?? []
    for (const name of Object.keys(address.headers)) assert.ok(allowed.includes(name.toLowerCase()), name)
    for (const response of [asked, await send(address, bytes), await send({ ...address, headers: {} }, bytes)])
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
  })

  test('the slot names exactly two headers, as the specification writes them', async () => {
    const { headers } = await slot(Buffer.from('hello'))
    assert.deepEqual(headers, {
      'Content-Type': 'application/octet-stream',
      'x-storage-checksum-sha256': 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
    })
  })

  test('200 until the last millisecond of the 15 minutes, then 403 url_expired', async () => {
    const bytes = Buffer.from('in time')
    const address = await slot(bytes)
    now = new Date(GIVEN_OUT.getTime() + ADDRESS_LIFETIME_MS)
    await assertError(await send(address, bytes), 403, 'url_expired')
    await assertNothingStored()
    now = new Date(now.getTime() - 1)
    assert.equal((await send(address, bytes)).status, 200)
  })

  test('403 invalid_signature when the token is missing, repeated, altered or made with another key', async () => {
    const bytes = Buffer.from('signed')
    const address = await slot(bytes)
    const { origin, searchParams } = new URL(address.url)
    const token = searchParams.get('token') ?? ''
    const [payload = '', signature = ''] = token.split('.')
    const grant = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const other = (changes: object) => Buffer.from(JSON.stringify({ ...grant, ...changes })).toString('base64url')
    const queries = ['', '?token=', `?token=${token}&token=${token}`, `?token[]=${token}`, `?token=${payload}`]
    queries.push(`?token=${other({ key: 'uploads/org/two' })}.${signature}`)
    queries.push(`?token=${other({ expires_at_ms: grant.expires_at_ms + 1 })}.${signature}`)
    queries.push(`?token=${other({ expected: { ...grant.expected, sizeBytes: 7 } })}.${signature}`)
    queries.push(`?token=${sealToken(otherKey(), grant)}`)
    for (const query of queries) {
      const response = await send({ ...address, url: `${origin}/storage/objects${query}` }, bytes)
      await assertError(response, 403, 'invalid_signature')
    }
    await assertNothingStored()
  })

  test('no path leads to another file: traversals, plain or percent-encoded, are 404 or do not matter', async () => {
    const bytes = Buffer.from('elsewhere')
    const address = await slot(bytes)
    const { search } = new URL(address.url)
    const tails = ['/../../secret-key', '/..%2f..%2fsecret-key', '/%2e%2e/%2e%2e/secret-key', '%2f..%2fsecret-key']
    for (const tail of [...tails, '/uploads/org/two', '/%252e%252e/x', '/%00', '\\..\\x']) {
      const { response } = begin(address, { path: `/storage/objects${tail}${search}`, body: bytes })
      assert.equal((await response).statusCode, 404, tail)
    }
    await assertNothingStored()
    assert.deepEqual(await readdir(server.directory), ['.incoming'])
  })

  test('a traversal inside a rightly signed token is still refused', async () => {
    const bytes = Buffer.from('elsewhere')
    const address = await slot(bytes)
    const expires_at_ms = GIVEN_OUT.getTime() + 1000
    for (const key of ['../escaped', 'a/../../escaped', '/tmp/escaped', '.incoming/escaped', 'a%2f..%2fescaped']) {
      const token = sealToken(server.signingKey, { method: 'PUT', key, expected: expectationOf(bytes), expires_at_ms })
      const response = await send(
        { ...address, url: `http://127.0.0.1:${server.port}/storage/objects?token=${token}` },
        bytes,
      )
      await assertError(response, 500, 'internal_error')
    }
    assert.deepEqual(await readdir(server.directory), ['.incoming'])
  })

  test('403 invalid_signature when a header is missing or not the one that was given', async () => {
    const bytes = Buffer.from('headers')
    const address = await slot(bytes)
    for (const name of Object.keys(address.headers)) {
      const { [name]: _left, ...others } = address.headers
      await assertError(await send({ ...address, headers: others }, bytes), 403, 'invalid_signature')
      await assertError(await send(address, bytes, { [name]: 'application/json' }), 403, 'invalid_signature')
    }
    await assertNothingStored()
  })

  test('403 invalid_signature when a header is sent twice', async () => {
    const bytes = Buffer.from('twice')
    const address = await slot(bytes)
    for (const [name, value] of Object.entries(address.headers)) {
      const { response } = begin(address, { headers: { [name]: [value, value] as unknown as string }, body: bytes })
      assert.equal((await response).statusCode, 403, name)
    }
  })

  const sendChunked = async (address: PresignedPut, ...chunks: Uint8Array[]) => {
    const { outgoing, response } = begin(address, { headers: { 'transfer-encoding': 'chunked' }, sizeBytes: null })
    for (const chunk of chunks) outgoing.write(chunk)
    outgoing.end()
    return response
  }

  test('200 when the body comes in chunks without a length, and has the declared size', async () => {
    for (const bytes of [randomBytes(300_000), Buffer.alloc(0)]) {
      const response = await sendChunked(await slot(bytes), bytes.subarray(0, 100_000), bytes.subarray(100_000))
      assert.equal(response.statusCode, 200)
      assert.deepEqual(await server.store.stat(KEY), {
        sizeBytes: bytes.length,
        sha256: expectationOf(bytes).sha256,
      })
    }
  })

  test('400 size_mismatch when chunks end too early, 413 payload_too_large when they go on', async () => {
    const bytes = randomBytes(200_000)
    const shorter = await sendChunked(await slot(bytes), bytes.subarray(1))
    assert.equal(await errorCode(shorter, 400), 'size_mismatch')
    const longer = await sendChunked(await slot(bytes), bytes, Buffer.from('!'))
    assert.equal(await errorCode(longer, 413), 'payload_too_large')
    const other = await sendChunked(await slot(bytes), randomBytes(200_000))
    assert.equal(await errorCode(other, 400), 'checksum_mismatch')
    await assertNothingStored()
  })

  test('chunks that break off leave no file', async () => {
    const bytes = randomBytes(1_000_000)
    const { outgoing, response } = begin(await slot(bytes), {
      headers: { 'transfer-encoding': 'chunked' },
      sizeBytes: null,
    })
    outgoing.write(bytes.subarray(0, 600_000))
    await until(async () => (await incomingBytes()) > 0)
    outgoing.destroy()
    await assert.rejects(response)
    await until(async () => (await incomingFiles(server.directory)).length === 0)
    await assertNothingStored()
  })

  test('411 length_required without a length and without chunks', async () => {
    const { url, headers } = await slot(Buffer.from('no body'))
    const { port, pathname, search } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = Object.entries({ host: 'x', ...headers, connection: 'close' })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${head}\r\n`)
    const answer = (await socket.toArray()).join('')
    assert.match(answer, /^HTTP\/1\.1 411 /)
    assert.match(answer, /"length_required"/)
    await assertNothingStored()
  })

  test('400 size_mismatch when Content-Length is smaller, 413 payload_too_large when it is larger', async () => {
    const bytes = Buffer.from('exactly')
    const address = await slot(bytes)
    await assertError(await send(address, Buffer.from('exact')), 400, 'size_mismatch')
    await assertError(await send(address, Buffer.from('exactly!')), 413, 'payload_too_large')
    await assertNothingStored()
  })

  test('413 is answered before a body that is too large has been sent', async () => {
    const { outgoing, response } = begin(await slot(Buffer.from('small')), { sizeBytes: 5_000_000_000 })
    outgoing.flushHeaders()
    assert.equal((await response).statusCode, 413)
    outgoing.destroy()
  })

  test('400 checksum_mismatch when one bit differs', async () => {
    const bytes = randomBytes(200_000)
    const address = await slot(bytes)
    bytes.writeUInt8(bytes.readUInt8(100_000) ^ 1, 100_000)
    await assertError(await send(address, bytes), 400, 'checksum_mismatch')
    await assertNothingStored()
  })

  test('bytes are written to disk as they arrive, beyond the body limits of the API', async () => {
    const bytes = randomBytes(3_000_000)
    const { outgoing, response } = begin(await slot(bytes))
    outgoing.write(bytes.subarray(0, 2_000_000))
    await until(async () => (await incomingBytes()) > 1_500_000)
    assert.equal(await server.store.stat(KEY), null, 'not shown before it is whole')
    outgoing.end(bytes.subarray(2_000_000))
    assert.equal((await response).statusCode, 200)
  })

  test('a client that breaks off leaves no file, and may send the whole file after', async () => {
    const bytes = randomBytes(1_000_000)
    const address = await slot(bytes)
    const { outgoing, response } = begin(address)
    outgoing.write(bytes.subarray(0, 600_000))
    await until(async () => (await incomingBytes()) > 0)
    outgoing.destroy()
    await assert.rejects(response)
    await until(async () => (await incomingFiles(server.directory)).length === 0)
    await assertNothingStored()
    assert.equal((await send(address, bytes)).status, 200)
  })

  test('a client that breaks off is logged once, at debug level', async () => {
    const { log, lines, nextLine } = logLines()
    const logging = await startFileStore({ log })
    const address = await logging.store.presignPut(KEY, expectationOf(randomBytes(1_000_000)), new Date())
    const { outgoing, response } = begin(address, { sizeBytes: 1_000_000 })
    outgoing.write(randomBytes(600_000))
    await until(async () => (await incomingFiles(logging.directory)).length > 0)
    outgoing.destroy()
    await assert.rejects(response)
    assert.equal((await nextLine()).level, log.levels.values.debug)
    await logging.close()
    assert.equal(lines.length, 1)
  })

  test('of two clients in one slot, the one that breaks off does not disturb the other', async () => {
    const bytes = randomBytes(1_000_000)
    const address = await slot(bytes)
    const [first, second] = [begin(address), begin(address)]
    for (const { outgoing } of [first, second]) outgoing.write(bytes.subarray(0, 600_000))
    await until(async () => (await incomingFiles(server.directory)).length === 2)
    first.outgoing.destroy()
    await assert.rejects(first.response)
    second.outgoing.end(bytes.subarray(600_000))
    assert.equal((await second.response).statusCode, 200)
    assert.deepEqual(await server.store.stat(KEY), { sizeBytes: bytes.length, sha256: expectationOf(bytes).sha256 })
    await until(async () => (await incomingFiles(server.directory)).length === 0)
  })

  test('Expect: 100-continue is answered before the body is sent', async () => {
    const bytes = Buffer.from('continue')
    const { outgoing, response } = begin(await slot(bytes), { headers: { Expect: '100-continue' } })
    outgoing.flushHeaders()
    await once(outgoing, 'continue')
    outgoing.end(bytes)
    assert.equal((await response).statusCode, 200)
  })

  test('503 unavailable with Retry-After when writing fails, without a path in the response', async () => {
    const bytes = Buffer.from('refused')
    await rename(join(server.directory, '.incoming'), join(server.directory, '.moved'))
    const response = await send(await slot(bytes), bytes)
    assert.equal(response.headers.get('retry-after'), '5')
    const text = await response.text()
    assert.equal(response.status, 503)
    assert.ok(!text.includes(server.directory))
    assert.equal(JSON.parse(text).error.code, 'unavailable')
    await assert.rejects(server.store.check(), { code: 'unavailable' })
  })

  test('503 unavailable when the name is taken by a directory, and what was written is removed', async () => {
    const bytes = Buffer.from('blocked')
    await writeFile(join(server.directory, 'uploads'), 'a file where a directory must be')
    await assertError(await send(await slot(bytes), bytes), 503, 'unavailable')
    assert.deepEqual(await incomingFiles(server.directory), [])
  })

  for (const [where, roomBytes] of [
    ['in the middle of the body', 1_000_000],
    ['at its very end', 2_999_990],
  ] as const) {
    test(`503 unavailable when the disk is full ${where}, and no partial file`, {
      skip: !canLimitFileSize(),
    }, async () => {
      const bytes = randomBytes(3_000_000)
      const address = await slot(bytes)
      const response = await withFullDiskAfter(roomBytes, () => send(address, bytes))
      await assertError(response, 503, 'unavailable')
      await assertNothingStored()
      assert.equal((await send(address, bytes)).status, 200)
    })
  }

  async function incomingBytes(): Promise<number> {
    const [name] = await incomingFiles(server.directory)
    return name ? (await stat(join(server.directory, '.incoming', name))).size : 0
  }
})

test('a sender that falls silent is cut off, and leaves no file', { timeout: 30_000 }, async () => {
  const server = await startFileStore({ idleTimeoutMs: 30 })
  try {
    const bytes = randomBytes(100_000)
    const { outgoing, response } = begin(await server.store.presignPut(KEY, expectationOf(bytes), new Date()))
    outgoing.write(bytes.subarray(0, 50_000))
    await assert.rejects(response)
    await until(async () => (await incomingFiles(server.directory)).length === 0)
    assert.equal(await server.store.stat(KEY), null)
  } finally {
    await server.close()
  }
})

interface Sent {
  outgoing: ClientRequest
  response: Promise<IncomingMessage>
}

/** A PUT whose body the test sends itself, unless `body` is all of it. */
function begin(
  { url, headers }: PresignedPut,
  changed: { path?: string; headers?: Record<string, string>; body?: Uint8Array; sizeBytes?: number | null } = {},
): Sent {
  const { hostname, port, pathname, search, searchParams } = new URL(url)
  const sizeBytes = changed.sizeBytes === undefined ? declaredBytes(searchParams.get('token') ?? '') : changed.sizeBytes
  const outgoing = request({
    hostname,
    port,
    path: changed.path ?? `${pathname}${search}`,
    method: 'PUT',
    headers: { ...headers, ...(sizeBytes === null ? {} : { 'Content-Length': `${sizeBytes}` }), ...changed.headers },
  })
  const response = once(outgoing, 'response').then(([message]) => message as IncomingMessage)
  response.catch(() => {})
  if (changed.body) outgoing.end(changed.body)
  return { outgoing, response }
}

function declaredBytes(token: string): number {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).expected.sizeBytes
}

async function assertError(response: Response, status: number, code: string): Promise<void> {
  const { error } = (await response.json()) as { error: { code: string; message: string; details: object } }
  assert.deepEqual([response.status, error.code], [status, code])
  assert.equal(typeof error.message, 'string')
  assert.equal(typeof error.details, 'object')
}

async function errorCode(response: IncomingMessage, status: number): Promise<string> {
  assert.equal(response.statusCode, status)
  return JSON.parse((await response.toArray()).join('')).error.code
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await nextTick()
}

function otherKey() {
  return createSecretKey(Buffer.alloc(32))
}

/**
 * A limit on the size of files: a write past it ends short and then fails, as one past the last
 * free block does.
 */
async function withFullDiskAfter<Result>(roomBytes: number, act: () => Promise<Result>): Promise<Result> {
  const ignoreSignal = () => {}
  process.on('SIGXFSZ', ignoreSignal)
  limitFileSize(`${roomBytes}`)
  try {
    return await act()
  } finally {
    limitFileSize('unlimited')
    process.off('SIGXFSZ', ignoreSignal)
  }
}

function limitFileSize(bytes: string): void {
  assert.equal(spawnSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:`]).status, 0)
}

function canLimitFileSize(): boolean {
  return spawnSync('prlimit', ['--version']).status === 0
}
