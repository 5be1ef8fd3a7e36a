import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { standInConsole } from '../../support/built-console.ts'
import { logLines } from '../../support/log-lines.ts'

let api: TestApi
let stand: Awaited<ReturnType<typeof standInConsole>>

before(async () => {
  stand = await standInConsole()
  api = await startTestApi({ env: { SHIPLOCK_CONSOLE: stand.directory } })
})
beforeEach(() => stand.build())
after(async () => {
  await api?.close()
  await stand?.remove()
})

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const open = (path: string, of = api) => of.request('GET', path, { headers: HTML })
const nonceOf = (text: string) => /(?:content|nonce)="([^"_]+)"/.exec(text.slice(text.indexOf('nonce')))?.[1]

test('the page is sent at / and at every path that no route has, and is revalidated', async () => {
  for (const path of [
    '/',
    '/sign-in?next=/x',
    '/join',
    '/acme/runs?status=failed',
    '/acme/runs?repository=%00',
    '/acme/security/issues/issue_1',
    '/a.b/c',
  ]) {
    const { status, headers, text } = await open(path)
    assert.equal(status, 200, path)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-cache')
    assert.equal(headers.get('etag'), null) // a 304 would keep the page with its old nonce
    assert.match(text, /assets\/main-B2xK9f\.js/)
  }
  assert.equal((await api.request('GET', '/')).status, 200)
})

test('every response has a nonce of its own, in its policy and in its page', async () => {
  const nonces = new Set<string>()
  for (let times = 0; times < 3; times += 1) {
    const { headers, text } = await open('/')
    const nonce = nonceOf(text)
    assert.ok(nonce && nonce.length >= 22)
    assert.doesNotMatch(text, /__CSP_NONCE__/)
    assert.ok(headers.get('content-security-policy')?.includes(`style-src 'self' 'nonce-${nonce}'`))
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 3)
})

test('the policy allows the own files and the own API, and nothing inline', async () => {
  const { headers } = await open('/')
  const policy = (headers.get('content-security-policy') ?? '').replace(/nonce-[^']+/, 'nonce')
  assert.deepEqual(policy.split('; '), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${api.url}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.match(headers.get('permissions-policy') ?? '', /camera=\(\)/)
})

test('the page is compressed', async () => {
  for (const encoding of ['br', 'gzip']) {
    const { headers, text } = await api.request('GET', '/', { headers: { ...HTML, 'accept-encoding': encoding } })
    assert.equal(headers.get('content-encoding'), encoding)
    assert.equal(headers.get('vary'), 'accept-encoding')
    assert.match(text, /<title>Shiplock/)
  }
})

test('a page in place of a 404 is no error in the log', async () => {
  const { log, lines } = logLines()
  const app = createHttpServer(log as never)
  app.answerUnknownPaths(async (_request, reply) => {
    await reply.send('a page')
    return true
  })
  assert.equal((await app.inject('/acme/runs')).body, 'a page')
  await app.close()
  assert.deepEqual(
    lines.filter((line) => JSON.stringify(line).includes('Promise errored')),
    [],
  )
})

test('404 in JSON for unknown paths of the API, also where a browser opens them', async () => {
  for (const path of [
    '/v1/nothing',
    '/v1',
    '/app/api/nothing',
    '/app/nothing',
    '/docs/nothing',
    '/healthz/nothing',
    '/readyz/x',
    '/metrics/x',
    '/webhooks/nobody/x/y',
    '/api/ingest/nothing',
    '/storage/nothing',
  ]) {
    const answer = await open(path)
    assert.equal(answer.status, 404, path)
    assert.match(answer.headers.get('content-type') ?? '', /json/, path)
  }
})

test('404 in JSON for unknown paths where no browser asks, and for other methods', async () => {
  assertError(await api.request('GET', '/acme/runs'), 404, 'not_found')
  assertError(await api.request('GET', '/acme/runs', { headers: { accept: 'application/json' } }), 404, 'not_found')
  for (const method of ['POST', 'PUT', 'DELETE'])
    assertError(await api.request(method, '/acme/runs', { headers: HTML }), 404, 'not_found')
  assertError(await api.request('POST', '/', { headers: HTML }), 405, 'method_not_allowed')
  const { key } = await api.caller()
  for (const path of ['/', '/acme/runs'])
    assertError(await api.request('GET', path, { key, headers: HTML }), 404, 'not_found')
})

test('a build is served once it is there, and replaced by the next one', async () => {
  const later = await standInConsole()
  const own = await startTestApi({ env: { SHIPLOCK_CONSOLE: later.directory }, beside: api })
  try {
    const waiting = await open('/acme/runs', own)
    assert.equal(waiting.status, 200)
    assert.match(waiting.text, /<h1>The console is being built<\/h1>/)
    assert.match(waiting.text, /<meta http-equiv="refresh"/)
    assert.doesNotMatch(waiting.text, /<script/)
    const nonce = nonceOf(waiting.text)
    assert.ok(nonce && waiting.headers.get('content-security-policy')?.includes(`'nonce-${nonce}'`))
    assertError(await open('/assets/main-B2xK9f.js', own), 404, 'not_found')

    await later.build()
    assert.equal((await open('/assets/main-B2xK9f.js', own)).status, 200)
    assert.match((await open('/', own)).text, /<title>Shiplock<\/title>/)

    await later.build({ 'index.html': '<title>Next</title>', 'assets/next-E5.js': 'export {}' })
    assert.match((await open('/', own)).text, /Next/)
    assert.equal((await open('/assets/next-E5.js', own)).status, 200)
  } finally {
    await own.close()
    await later.remove()
  }
})

test('open pages can load the parts of the build before', async () => {
  await stand.build({ 'assets/part-A1.js': 'export const part = 1' })
  assert.equal((await open('/')).status, 200)
  await stand.build({ 'assets/part-B2.js': 'export const part = 2' })
  assert.equal((await open('/')).status, 200)
  for (const name of ['part-A1.js', 'part-B2.js']) assert.equal((await open(`/assets/${name}`)).status, 200, name)
})

test('a build that is removed while the server runs is still served', async () => {
  assert.equal((await open('/')).status, 200)
  await stand.remove()
  assert.match((await open('/')).text, /<title>Shiplock/)
  assert.equal((await open('/assets/main-B2xK9f.js')).status, 200)
})

test('SHIPLOCK_CONSOLE=off: no page, no file', async () => {
  const own = await startTestApi({ env: { SHIPLOCK_CONSOLE: 'off' }, beside: api })
  try {
    for (const path of ['/', '/acme/runs', '/assets/main-B2xK9f.js', '/favicon.svg'])
      assertError(await open(path, own), 404, 'not_found')
  } finally {
    await own.close()
  }
})
