import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, NetworkError, type Retry, ShiplockError } from '@shiplock/sdk'
import {
  apiError,
  hangUp,
  json,
  type ScriptedServer,
  type Step,
  silence,
  startScriptedServer,
} from './support/scripted-server.ts'

const KEYS = json(200, { data: { keys: [] } })
/** The default policy with shorter times. */
const QUICK = { firstDelayMs: 2, delayMsMax: 20 }

type Tried = { server: ScriptedServer; retries: Retry[]; outcome: unknown }

/** Calls the server once with a client. Returns what was retried, and the result or the error. */
async function call(steps: Step[], options: Partial<Parameters<typeof createClient>[0]> = {}): Promise<Tried> {
  const server = await startScriptedServer(...steps)
  await using _ = server
  const retries: Retry[] = []
  const onRetry = (retry: Retry) => void retries.push(retry)
  const client = createClient({ url: server.url, token: 'secret', retry: QUICK, onRetry, ...options })
  const outcome = await client.api.GET('/v1/provenance/keys').catch((error) => error)
  return { server, retries, outcome }
}

function isError(outcome: unknown): asserts outcome is ShiplockError {
  assert.ok(outcome instanceof ShiplockError, String(outcome))
}

test('a request is sent up to six times, with pauses that double up to the longest', async () => {
  const { server, retries, outcome } = await call([apiError(503, 'unavailable')])
  isError(outcome)
  assert.deepEqual(
    [outcome.code, outcome.message, outcome.details],
    ['unavailable', 'The error unavailable.', { reason: 'TEST' }],
  )
  assert.equal(server.received.length, 6)
  assert.deepEqual(
    retries.map(({ delayMs }) => delayMs),
    [2, 4, 8, 16, 20],
  )
  assert.deepEqual(retries.map(({ attempt, attempts }) => [attempt, attempts])[0], [1, 6])
})

test('the default pauses are 2 seconds, doubling to 20', async () => {
  const stop = new AbortController()
  const delays: number[] = []
  const onRetry = ({ delayMs }: Retry) => {
    delays.push(delayMs)
    stop.abort(new Error('stopped'))
  }
  const { outcome } = await call([apiError(500, 'internal_error')], { retry: {}, onRetry, signal: stop.signal })
  assert.deepEqual([String(outcome), delays], ['Error: stopped', [2000]])
  const capped = await call([apiError(500, 'internal_error')], { retry: { firstDelayMs: 1, delayMsMax: 3 } })
  assert.deepEqual(
    capped.retries.map(({ delayMs }) => delayMs),
    [1, 2, 3, 3, 3],
  )
})

for (const status of [429, 500, 502, 503, 504]) {
  test(`${status} is retried, with the same body and another token`, async () => {
    await using server = await startScriptedServer(
      apiError(status, 'x'),
      apiError(status, 'x'),
      json(200, { data: {} }),
    )
    let asked = 0
    const client = createClient({ url: server.url, token: async () => `token-${++asked}`, retry: QUICK })
    await client.api.PATCH('/v1/ci/runs/{run_id}', {
      params: { path: { run_id: 'run_1' } },
      body: { status: 'success' },
    })
    assert.deepEqual(
      server.received.map(({ body }) => body),
      Array(3).fill('{"status":"success"}'),
    )
    const tokens = server.received.map(({ headers }) => headers.authorization)
    assert.deepEqual(tokens, ['Bearer token-1', 'Bearer token-2', 'Bearer token-3'])
  })
}

for (const status of [400, 401, 403, 404, 409, 413, 501]) {
  test(`${status} is not retried`, async () => {
    const { server, outcome } = await call([apiError(status, 'x')])
    isError(outcome)
    assert.deepEqual([outcome.status, outcome.retryable, server.received.length], [status, false, 1])
  })
}

test('any status is retried if the body says `retryable`', async () => {
  const body = { code: 'TOKEN_EXPIRED', error: 'The token has expired.', retryable: true }
  const { server, outcome } = await call([json(401, body), KEYS])
  assert.deepEqual((outcome as { data: unknown }).data, { data: { keys: [] } })
  assert.equal(server.received.length, 2)
  const failed = await call([json(404, { ...body, code: 'RUN_NOT_FOUND' })])
  isError(failed.outcome)
  const { status, code, message } = failed.outcome
  assert.deepEqual([status, code, message], [404, 'RUN_NOT_FOUND', 'The token has expired.'])
})

test('Retry-After replaces the pause: in seconds, or as an HTTP date', async () => {
  const seconds = await call([apiError(429, 'rate_limited', { 'retry-after': '0' }), KEYS], { retry: {} })
  assert.deepEqual(
    seconds.retries.map(({ delayMs }) => delayMs),
    [0],
  )
  const stop = new AbortController()
  let delayMs = 0
  const onRetry = (retry: Retry) => {
    delayMs = retry.delayMs
    stop.abort()
  }
  const odd = await call([apiError(503, 'unavailable', { 'retry-after': '-1.5' }), KEYS])
  assert.deepEqual(
    odd.retries.map(({ delayMs }) => delayMs),
    [2],
  )
  const date = new Date(Date.now() + 60_000).toUTCString()
  await call([apiError(503, 'unavailable', { 'retry-after': date })], { onRetry, signal: stop.signal })
  assert.ok(delayMs > 50_000 && delayMs <= 60_000, `${delayMs}`)
})

test('a Retry-After of more than five minutes is not waited for', async () => {
  const { server, outcome } = await call([apiError(429, 'rate_limited', { 'retry-after': '301' })])
  isError(outcome)
  assert.deepEqual([outcome.retryAfterMs, server.received.length], [301_000, 1])
})

test('a closed connection is retried', async () => {
  const { server, retries, outcome } = await call([hangUp, KEYS])
  assert.ok('data' in (outcome as object))
  assert.ok(retries[0]?.error instanceof NetworkError)
  assert.equal(server.received.length, 2)
})

test('an unreachable server is a NetworkError with the reason', async () => {
  const server = await startScriptedServer(silence)
  await server[Symbol.asyncDispose]()
  const retries: Retry[] = []
  const options = {
    url: `${server.url}/prefix`,
    token: 'secret',
    retry: QUICK,
    onRetry: (retry: Retry) => void retries.push(retry),
  }
  await assert.rejects(createClient(options).api.GET('/v1/provenance/keys'), {
    name: 'NetworkError',
    message: `The server at ${server.url} cannot be reached (ECONNREFUSED)`,
  })
  assert.equal(retries.length, 5)
})

test('a server that does not answer in time is a NetworkError, and is asked again', async () => {
  const { server, retries, outcome } = await call([silence], { retry: { ...QUICK, timeoutMs: 20, attempts: 2 } })
  assert.equal(String(outcome), `NetworkError: The server at ${server.url} did not answer within 0.02 seconds`)
  assert.equal(retries.length, 1)
})

test('a signal ends a request and throws its reason, whether of the call or of the client', async () => {
  for (const owner of ['call', 'client']) {
    const stop = new AbortController()
    await using server = await startScriptedServer(() => stop.abort(new Error('enough')))
    const client = createClient({ url: server.url, token: null, ...(owner === 'client' && { signal: stop.signal }) })
    const called = client.api.GET('/v1/provenance/keys', owner === 'call' ? { signal: stop.signal } : {})
    await assert.rejects(called, { message: 'enough' })
    assert.equal(server.received.length, 1)
  }
})

test('a redirect is not followed: the credential stays with the server', async () => {
  await using other = await startScriptedServer(KEYS)
  for (const status of [301, 302, 307, 308]) {
    const redirect: Step = (response) =>
      void response.writeHead(status, { location: `${other.url}/v1/provenance/keys` }).end()
    const { server, outcome } = await call([redirect])
    isError(outcome)
    assert.deepEqual([outcome.status, outcome.code, server.received.length], [status, 'redirected', 1])
    assert.ok(outcome.message.includes(`redirects to ${other.url}.`))
  }
  assert.deepEqual(other.received, [])
})

test('the HTML of a proxy is a ShiplockError that says what happened', async () => {
  const html =
    (status: number): Step =>
    (response) =>
      void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>')
  const failed = await call([html(502)])
  isError(failed.outcome)
  assert.deepEqual([failed.outcome.status, failed.outcome.code, failed.server.received.length], [502, 'http_error', 6])
  assert.equal(
    failed.outcome.message,
    `The server at ${failed.server.url} answered 502 Bad Gateway without a description of the error.`,
  )
  const wrong = await call([html(200)])
  isError(wrong.outcome)
  assert.deepEqual([wrong.outcome.code, wrong.server.received.length], ['invalid_response', 1])
  assert.equal(
    wrong.outcome.message,
    `The server at ${wrong.server.url} answered with text/html that is not JSON. Check the URL.`,
  )
})

test('JSON that is broken off is a ShiplockError, too', async () => {
  const { outcome } = await call([
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"da'),
  ])
  isError(outcome)
  assert.equal(outcome.code, 'invalid_response')
})

test('the URL may have a path and a slash at its end', async () => {
  for (const path of ['', '/', '/ship/lock', '/ship/lock//']) {
    await using server = await startScriptedServer(KEYS)
    await createClient({ url: server.url + path, token: null }).api.GET('/v1/provenance/keys')
    assert.equal(server.received[0]?.path, `${path.replace(/\/+$/, '')}/v1/provenance/keys`)
  }
})

test('a text that is not a URL, or one with a password, is refused at once', () => {
  for (const url of ['shiplock.example.com', 'ftp://example.com', '', 'localhost:8420'])
    assert.throws(() => createClient({ url, token: null }), /is not the URL of a server/)
  assert.throws(
    () => createClient({ url: 'https://a:b@example.com', token: null }),
    (error: Error) => !error.message.includes('b@'),
  )
})

test('headers: user agent, JSON, and no credential without a token', async () => {
  const { server } = await call([KEYS], { userAgent: 'shiplock/9' })
  const { 'user-agent': agent, accept, authorization } = server.received[0]?.headers ?? {}
  assert.deepEqual([agent, accept, authorization], ['shiplock/9', 'application/json', 'Bearer secret'])
  const without = await call([KEYS], { token: null })
  assert.equal(without.server.received[0]?.headers.authorization, undefined)
  assert.match(without.server.received[0]?.headers['user-agent'] ?? '', /^shiplock-sdk\/\d/)
})

test('a list asks for pages with the cursor alone, and only as they are needed', async () => {
  const page = (ids: string[], next_cursor: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), next_cursor, meta: {} })
  await using server = await startScriptedServer(page(['a', 'b'], 'next'), page(['c'], null))
  const client = createClient({ url: server.url, token: null })
  const items = client.list('/v1/deployments', {
    query: { since: '2026-01-01T00:00:00Z', environment: 'production', limit: 2 },
  })
  assert.deepEqual([(await items.next()).value?.id, (await items.next()).value?.id], ['a', 'b'])
  assert.equal(server.received.length, 1)
  assert.deepEqual([(await items.next()).value?.id, (await items.next()).done], ['c', true])
  assert.deepEqual(
    server.received.map(({ path }) => [...new URLSearchParams(path.split('?')[1])].sort().join(' ')),
    ['environment,production limit,2 since,2026-01-01T00:00:00Z', 'cursor,next environment,production limit,2'],
  )
})

test('`fetch` of the options is used instead of the platform’s', async () => {
  const urls: unknown[] = []
  const fetch: typeof globalThis.fetch = async (url) => {
    urls.push(url)
    return Response.json({ data: { keys: [] } })
  }
  await createClient({ url: 'https://example.com', token: null, fetch }).api.GET('/v1/provenance/keys')
  assert.deepEqual(urls, ['https://example.com/v1/provenance/keys'])
})
