import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { ApiError } from '../../src/platform/http/api-error.ts'
import { S3ObjectStore } from '../../src/platform/objects/s3-object-store.ts'
import { freePort } from '../support/free-port.ts'

const ATTEMPTS_MAX = 3
const CREDENTIALS = { accessKeyId: 'key-id', secretAccessKey: 'hunter2' }

let server: Server | null = null

afterEach(() => {
  server?.close()
  server?.closeAllConnections()
  server = null
})

/** A store whose server answers every request as `answer` does. */
async function storeThat(answer: RequestListener, answerTimeoutMs = 5_000): Promise<S3ObjectStore> {
  server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return storeAt((server.address() as AddressInfo).port, answerTimeoutMs)
}

function storeAt(port: number, answerTimeoutMs: number): S3ObjectStore {
  const endpoint = `http://127.0.0.1:${port}`
  return new S3ObjectStore({
    ...CREDENTIALS,
    endpoint,
    bucket: 'b',
    region: 'r',
    forcePathStyle: true,
    answerTimeoutMs,
  })
}

async function readFirst(store: S3ObjectStore): Promise<void> {
  for await (const _ of store.read('key')) return
}

async function assertUnavailable(operation: Promise<unknown>): Promise<void> {
  await assert.rejects(operation, (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.status, error.code], [503, 'unavailable'])
    assert.match(String(error.cause), /The object store failed/)
    return true
  })
}

const OPERATIONS: [name: string, run: (store: S3ObjectStore) => Promise<unknown>][] = [
  ['stat', (store) => store.stat('key')],
  ['read', readFirst],
  ['remove', (store) => store.remove('key')],
  ['check', (store) => store.check()],
]

for (const [name, run] of OPERATIONS) {
  test(`${name}: 503 when the port is closed`, async () => {
    await assertUnavailable(run(storeAt(await freePort(), 5_000)))
  })

  test(`${name}: 503 after three answers that are a 500`, async () => {
    let requests = 0
    const store = await storeThat((_, response) => {
      requests += 1
      response.writeHead(500).end()
    })
    await assertUnavailable(run(store))
    assert.equal(requests, ATTEMPTS_MAX)
  })

  test(`${name}: 503 when the store takes the request and never answers`, async () => {
    await assertUnavailable(run(await storeThat(() => {}, 50)))
  })

  test(`${name}: 503 when access is denied`, async () => {
    const body = '<Error><Code>AccessDenied</Code><Message>No</Message></Error>'
    await assertUnavailable(run(await storeThat((_, response) => response.writeHead(403).end(body))))
  })
}

test('a temporary failure is retried', async () => {
  let requests = 0
  const store = await storeThat((_, response) => {
    requests += 1
    response.writeHead(requests === 1 ? 503 : 200, { 'content-length': 7 }).end(requests === 1 ? 'no body' : undefined)
  })
  assert.deepEqual(await store.stat('key'), { sizeBytes: 7, sha256: null })
})

test('an interrupted body is a 503 and not a shorter object', async () => {
  const store = await storeThat((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('12345', () => response.destroy())
  })
  const readAll = async () => {
    for await (const _ of store.read('key'));
  }
  await assertUnavailable(readAll())
})

test('a reader that stops early closes the connection, so that the rest is not sent', { timeout: 10_000 }, async () => {
  const closed = Promise.withResolvers<boolean>()
  const store = await storeThat((_, response) => {
    response.on('close', () => closed.resolve(response.writableFinished))
    response.writeHead(200, { 'content-length': 1e9 }).write('the first bytes')
  })
  await readFirst(store)
  assert.equal(await closed.promise, false)
})

test('a checksum of parts is not used as the checksum of the object', async () => {
  const headers = { 'content-length': 7, 'x-amz-checksum-sha256': `${'A'.repeat(43)}=-3` }
  const store = await storeThat((_, response) => response.writeHead(200, headers).end())
  assert.deepEqual(await store.stat('key'), { sizeBytes: 7, sha256: null })
})

test('what a store returns about our credentials is not part of any error', async () => {
  const body =
    '<Error><Code>SignatureDoesNotMatch</Code><Message>No</Message>' +
    '<AWSAccessKeyId>key-id</AWSAccessKeyId><SignatureProvided>5160</SignatureProvided></Error>'
  const store = await storeThat((_, response) => response.writeHead(403).end(body))
  const error: ApiError = await store.check().then(
    () => assert.fail('the check passed'),
    (reason) => reason,
  )
  const cause = error.cause as Error
  assert.equal(cause.cause, undefined)
  assert.deepEqual(Object.keys(cause), [])
  assert.equal(cause.message, 'The object store failed: SignatureDoesNotMatch (HTTP 403): No')
})
