import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { SCRIPT, standInConsole } from '../../support/built-console.ts'

const MAIN = '/assets/main-B2xK9f.js'
let stand: Awaited<ReturnType<typeof standInConsole>>
let api: TestApi

before(async () => {
  stand = await standInConsole()
  await stand.build()
  api = await startTestApi({ env: { SHIPLOCK_CONSOLE: stand.directory } })
})
after(async () => {
  await api?.close()
  await stand?.remove()
})

type Received = { status: number | undefined; headers: IncomingHttpHeaders; body: Buffer }

/** Sends the path as it is, and does not decode the body. */
function send(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Received> {
  const { hostname, port } = new URL(api.url)
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers }, async (response) =>
      resolve({ status: response.statusCode, headers: response.headers, body: await buffer(response) }),
    )
    request.on('error', reject).end()
  })
}

test('an asset is cached for a year, has its type, and its type is not guessed', async () => {
  const types = {
    [MAIN]: 'text/javascript; charset=utf-8',
    '/assets/theme-C41aa0.css': 'text/css; charset=utf-8',
    '/assets/font-D00d1e.woff2': 'font/woff2',
  }
  for (const [path, type] of Object.entries(types)) {
    const { status, headers } = await send(path)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], type)
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
  }
})

const ENCODINGS: [accepted: string, encoding: string | undefined, decode: (body: Buffer) => Buffer][] = [
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['br;q=0, gzip', 'gzip', gunzipSync],
  ['br;q=0, gzip;q=0', undefined, (body) => body],
  ['identity', undefined, (body) => body],
]
for (const [accepted, encoding, decode] of ENCODINGS) {
  test(`an asset is sent as ${encoding ?? 'it is'} for Accept-Encoding: ${accepted}`, async () => {
    const { headers, body } = await send(MAIN, { 'accept-encoding': accepted })
    assert.equal(headers['content-encoding'], encoding)
    assert.equal(headers.vary, 'accept-encoding')
    assert.equal(headers['content-length'], String(body.length))
    assert.equal(decode(body).toString('utf8'), SCRIPT)
  })
}

test('a file that was not compressed at the build is sent as it is', async () => {
  const { headers, body } = await send('/assets/theme-C41aa0.css', { 'accept-encoding': 'br, gzip' })
  assert.equal(headers['content-encoding'], undefined)
  assert.equal(body.toString('utf8'), 'body { margin: 0 }')
})

test('the compressed forms have no address of their own', async () => {
  for (const ending of ['.br', '.gz']) assert.equal((await send(MAIN + ending)).status, 404)
})

test('HEAD has the headers of GET and no body', async () => {
  for (const path of [MAIN, '/', '/org/runs', '/favicon.svg']) {
    const accept = { accept: 'text/html', 'accept-encoding': 'identity' }
    const [get, head] = [await send(path, accept), await send(path, accept, 'HEAD')]
    assert.equal(head.status, 200, path)
    assert.equal(head.body.length, 0)
    for (const name of ['content-type', 'content-length', 'cache-control', 'etag', 'vary'])
      assert.equal(head.headers[name], get.headers[name], `${name} of ${path}`)
  }
})

test('304 with the entity tag of the same encoding, 200 with another one', async () => {
  const gzip = { 'accept-encoding': 'gzip' }
  const { etag = '' } = (await send(MAIN, gzip)).headers
  const known = await send(MAIN, { ...gzip, 'if-none-match': etag })
  assert.deepEqual([known.status, known.body.length, known.headers.etag], [304, 0, etag])
  assert.equal(known.headers.vary, 'accept-encoding')
  assert.equal((await send(MAIN, { ...gzip, 'if-none-match': `W/${etag}` })).status, 304)
  assert.equal((await send(MAIN, { 'accept-encoding': 'br', 'if-none-match': etag })).status, 200)
})

test('files beside the page are revalidated, because their names have no hash', async () => {
  const { status, headers } = await send('/favicon.svg')
  assert.deepEqual([status, headers['content-type'], headers['cache-control']], [200, 'image/svg+xml', 'no-cache'])
  assert.equal((await send('/favicon.svg', { 'if-none-match': headers.etag ?? '' })).status, 304)
})

test('404 for an asset that does not exist, never the page', async () => {
  for (const path of ['/assets/main-old.js', '/assets/', '/assets', '/assets/index.html', `${MAIN}/`]) {
    const { status, headers, body } = await send(path, { accept: 'text/html' })
    assert.equal(status, 404, path)
    assert.match(headers['content-type'] ?? '', /json/)
    assert.equal(JSON.parse(body.toString('utf8')).error.code, 'not_found')
  }
})

test('nothing outside of the console can be read, however the path is written', async () => {
  const paths = [
    '/assets/../../secret.txt',
    '/assets/../index.html',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets/..\\..\\secret.txt',
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    `/assets/${encodeURIComponent(stand.directory)}/index.html`,
    '/assets/main-B2xK9f.js%00.css',
    '/../secret.txt',
    '/.built-from',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/etc/passwd',
    '//etc/passwd',
    '/assets/%zz',
  ]
  for (const path of paths) {
    const { status, body } = await send(path, { accept: '*/*' })
    assert.ok(status === 404 || status === 400, `${status} for ${path}`)
    assert.ok(!body.includes('outside of the console'), path)
    JSON.parse(body.toString('utf8'))
  }
})

test('405 with Allow for other methods on assets', async () => {
  const answer = await api.request('POST', MAIN)
  assertError(answer, 405, 'method_not_allowed')
  assert.equal(answer.headers.get('allow'), 'GET, HEAD')
})
