import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { blobSource, hashSource, putSlot, type Retry, type Source, streamSource } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { apiError, beforeBody, hangUp, type Step, silence, startScriptedServer } from './support/scripted-server.ts'

const TEXT = 'a report, with ümlauts'
const SIZE = Buffer.byteLength(TEXT)
const HEADERS = { 'Content-Type': 'application/json', 'X-Storage-Checksum-SHA256': 'abc+/=' }
const STORED: Step = (response) => void response.writeHead(200).end()
const QUICK = { firstDelayMs: 1 }

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-sdk-'))
})
after(() => rm(directory, { recursive: true }))

async function file(content: string | Uint8Array): Promise<Source> {
  const path = join(directory, `${randomBytes(4).toString('hex')}.json`)
  await writeFile(path, content)
  return fileSource(path)
}

const blob = async (content: string) => blobSource(new Blob([content]), 'report.json')

async function stream(content: string): Promise<Source> {
  const source = await blob(content)
  return streamSource(source.open(), { name: source.name, ...(await hashSource(source)) })
}

/** A source of zeros, which counts what is read from it. */
function zeros(size: number, onRead: (readBytes: number) => void = () => {}): Source {
  async function* open() {
    const chunk = new Uint8Array(256 * 1024)
    for (let read = 0; read < size; read += chunk.length) {
      onRead(read)
      yield chunk.subarray(0, size - read)
    }
  }
  return { name: 'zeros', size, open }
}

const SOURCES = { file, Blob: blob, stream }

for (const [what, open] of Object.entries(SOURCES)) {
  test(`a ${what} arrives with exactly the headers of the slot, its length, and progress to its end`, async () => {
    await using server = await startScriptedServer(STORED)
    const sent: number[] = []
    await putSlot({ url: `${server.url}/x?token=1`, headers: HEADERS }, await open(TEXT), {
      onProgress: (bytes) => sent.push(bytes),
    })
    const [put] = server.received
    assert.deepEqual([put?.method, put?.path, put?.body], ['PUT', '/x?token=1', TEXT])
    const { authorization, ...headers } = lowerCase(put?.headers)
    assert.deepEqual([headers['content-type'], headers['x-storage-checksum-sha256']], ['application/json', 'abc+/='])
    assert.deepEqual([headers['content-length'], headers['transfer-encoding']], [String(SIZE), undefined])
    assert.equal(authorization, undefined)
    assert.deepEqual([sent[0], sent.at(-1)], [0, SIZE])
  })

  test(`an empty ${what} is sent with the length 0`, async () => {
    await using server = await startScriptedServer(STORED)
    await putSlot({ url: server.url, headers: HEADERS }, await open(''))
    const { 'content-length': length, 'transfer-encoding': encoding } = lowerCase(server.received[0]?.headers)
    assert.deepEqual([length, encoding], ['0', undefined])
  })
}

function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

test('a Content-Length of the slot is sent once, and a file keeps the spelling of all headers', async () => {
  await using server = await startScriptedServer(STORED)
  await putSlot({ url: server.url, headers: { ...HEADERS, 'content-length': String(SIZE) } }, await file(TEXT))
  const names = Object.keys(server.received[0]?.headers ?? {})
  assert.deepEqual(
    names.filter((name) => name.toLowerCase() !== 'host' && name !== 'Connection'),
    ['Content-Type', 'X-Storage-Checksum-SHA256', 'content-length'],
  )
})

for (const [what, failure] of Object.entries({ '500': apiError(500, 'x'), '503': apiError(503, 'x'), hangUp })) {
  for (const [name, open] of Object.entries({ file, Blob: blob })) {
    test(`${what} is tried once more, with the whole ${name}`, async () => {
      await using server = await startScriptedServer(failure, STORED)
      const retries: Retry[] = []
      const onRetry = (retry: Retry) => void retries.push(retry)
      await putSlot({ url: `${server.url}/x?token=1`, headers: {} }, await open(TEXT), { retry: QUICK, onRetry })
      assert.deepEqual(
        server.received.map(({ body }) => body),
        [TEXT, TEXT],
      )
      assert.deepEqual([retries.length, retries[0]?.attempts, retries[0]?.url], [1, 2, `${server.url}/x`])
      await using broken = await startScriptedServer(failure)
      await assert.rejects(putSlot({ url: broken.url, headers: {} }, await open(TEXT), { retry: QUICK }))
      assert.equal(broken.received.length, 2)
    })
  }
}

test('neither 429 nor a 4xx is tried again', async () => {
  for (const status of [400, 403, 413, 429]) {
    await using server = await startScriptedServer(apiError(status, 'url_expired'))
    const put = putSlot({ url: server.url, headers: {} }, await file(TEXT))
    await assert.rejects(put, { name: 'ShiplockError', status, code: 'url_expired' })
    assert.equal(server.received.length, 1)
  }
})

test('a stream is sent only once', async () => {
  await using server = await startScriptedServer(apiError(500, 'internal_error'), STORED)
  await assert.rejects(putSlot({ url: server.url, headers: {} }, await stream(TEXT)), { code: 'internal_error' })
  assert.equal(server.received.length, 1)
})

test('the XML of an object store is read, and its secret URL not shown', async () => {
  const xml =
    '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>It does not match.</Message></Error>'
  await using server = await startScriptedServer((response) => void response.writeHead(403).end(xml))
  await assert.rejects(putSlot({ url: `${server.url}/?signature=secret`, headers: {} }, await file(TEXT)), {
    code: 'SignatureDoesNotMatch',
    message: 'The object store refused the file: It does not match.',
  })
  const gone = { url: `http://127.0.0.1:9/?signature=secret`, headers: {} }
  const options = { retry: { putAttempts: 1 } }
  await assert.rejects(putSlot(gone, await file(TEXT), options), (error) => !String(error).includes('secret'))
})

test('an answer that comes before the file has been sent ends the upload with its error', async () => {
  const refuse = beforeBody((response, request) => {
    apiError(413, 'payload_too_large')(response, request)
    request.resume()
  })
  await using server = await startScriptedServer(refuse)
  const big = await file(new Uint8Array(16 * 1024 * 1024))
  await assert.rejects(putSlot({ url: server.url, headers: {} }, big), { status: 413, code: 'payload_too_large' })
})

test('a file that changed since its size was read fails at once and says so', async () => {
  for (const [change, path] of [
    ['grown', 'grown.json'],
    ['shrunk', 'shrunk.json'],
  ] as const) {
    await writeFile(join(directory, path), TEXT)
    const source = fileSource(join(directory, path))
    if (change === 'grown') await appendFile(join(directory, path), 'more')
    else await writeFile(join(directory, path), 'less')
    await using server = await startScriptedServer(STORED)
    const message = `The file ${path} changed while it was read: it does not have ${SIZE} bytes any more.`
    await assert.rejects(hashSource(source), { message })
    await assert.rejects(putSlot({ url: server.url, headers: {} }, source), { message })
    const { send: _, ...portable } = source
    await assert.rejects(putSlot({ url: server.url, headers: {} }, portable), { message })
    assert.ok(server.received.length <= 2)
  }
})

test('a file that does not exist, and a directory, are refused at once', () => {
  assert.throws(() => fileSource(join(directory, 'missing')), { code: 'ENOENT' })
  assert.throws(() => fileSource(directory), /is not a file/)
})

test('a signal ends an upload and throws its reason', async () => {
  for (const open of [file, blob]) {
    const stop = new AbortController()
    await using server = await startScriptedServer(() => stop.abort(new Error('enough')))
    const put = putSlot({ url: server.url, headers: {} }, await open(TEXT), { signal: stop.signal })
    await assert.rejects(put, { message: 'enough' })
    assert.equal(server.received.length, 1)
  }
})

test('an upload that takes too long is a NetworkError', async () => {
  await using server = await startScriptedServer(silence)
  let retries = 0
  const options = { retry: { ...QUICK, putTimeoutMs: 20 }, onRetry: () => void retries++ }
  const message = `The server at ${server.url} did not answer within 0.02 seconds`
  await assert.rejects(putSlot({ url: server.url, headers: {} }, await file(TEXT), options), {
    name: 'NetworkError',
    message,
  })
  assert.equal(retries, 1)
})

test('a file of several chunks is hashed and sent as it is', async () => {
  const content = randomBytes(3_000_001)
  const source = await file(content)
  const received = createHash('sha256')
  const hash = beforeBody(async (response, request) => {
    for await (const chunk of request) received.update(chunk)
    response.end()
  })
  await using server = await startScriptedServer(hash)
  await putSlot({ url: server.url, headers: {} }, source)
  const sha256 = createHash('sha256').update(content).digest('hex')
  assert.deepEqual(await hashSource(source), { size: content.length, sha256 })
  assert.equal(received.digest('hex'), sha256)
})

const LARGE_BYTES = 128 * 1024 * 1024
const AHEAD_BYTES_MAX = 16 * 1024 * 1024

for (const how of ['node:http', 'fetch']) {
  test(`a large file is not read ahead of the network, by ${how}`, async () => {
    let receivedBytes = 0
    let aheadBytes = 0
    const count = beforeBody(async (response, request) => {
      for await (const chunk of request) receivedBytes += chunk.length
      response.end()
    })
    await using server = await startScriptedServer(count)
    const source = zeros(LARGE_BYTES, (readBytes) => {
      aheadBytes = Math.max(aheadBytes, readBytes - receivedBytes)
    })
    const { send } = await file(TEXT)
    const progress: number[] = []
    const onProgress = (bytes: number) => progress.push(bytes)
    await putSlot({ url: server.url, headers: {} }, how === 'fetch' || !send ? source : { ...source, send }, {
      onProgress,
    })
    assert.equal(receivedBytes, LARGE_BYTES)
    assert.ok(aheadBytes < AHEAD_BYTES_MAX, `${aheadBytes} bytes`)
    assert.deepEqual(
      progress,
      [...progress].sort((a, b) => a - b),
    )
    assert.deepEqual([progress[0], progress.at(-1)], [0, LARGE_BYTES])
  })
}
