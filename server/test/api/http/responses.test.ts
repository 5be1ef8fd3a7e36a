import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { createRun, postRun } from '../../support/ci-runs.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

async function requestIdOf(path: string, given?: string): Promise<string | null> {
  const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given }
  return (await api.request('GET', path, { key: caller.key, headers })).headers.get('x-request-id')
}

for (const id of ['a', 'build-42.retry_1', 'Z'.repeat(64)]) {
  test(`a client's own request id is kept: ${id.slice(0, 20)}`, async () => {
    assert.equal(await requestIdOf('/v1/runs', id), id)
    assert.equal(await requestIdOf('/v1/nothing', id), id)
  })
}

for (const id of ['Z'.repeat(65), 'a b', 'a/b', 'a,b', '"a"', 'é']) {
  test(`a request id of another form is replaced: ${id.slice(0, 20)}`, async () => {
    const given = await requestIdOf('/v1/runs', id)
    assert.notEqual(given, id)
    assert.match(given ?? '', /^[A-Za-z0-9._-]{1,64}$/)
  })
}

test('every response has a different request id', async () => {
  const paths = ['/v1/runs', '/v1/runs', '/v1/runs/none', '/v1/nothing', '/v1/runs?x=1', '/healthz', '/v1/openapi.json']
  const ids = await Promise.all(paths.map((path) => requestIdOf(path)))
  assert.equal(new Set(ids.filter(Boolean)).size, paths.length)
})

test('bytes that are no HTTP get the error envelope and a request id too', async () => {
  const { hostname, port } = new URL(api.url)
  for (const [bytes, status] of [
    ['GET / HTTP/9.9\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nx-long: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect(Number(port), hostname)
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(head, /\r\nx-request-id: [\w-]+/)
    assert.equal(JSON.parse(body).error.code, 'invalid_request')
  }
})

test('times are returned in UTC with milliseconds and Z, for any offset in the request', async () => {
  const run = await createRun(api, caller, { started_at: '2026-01-02T03:04:05+05:30' })
  assert.equal(run.started_at, '2026-01-01T21:34:05.000Z')
  const { body } = await api.request('GET', '/v1/runs', { key: caller.key })
  const times = [...JSON.stringify([run, body]).matchAll(/"(?:\w+_at|since|until)":"([^"]*)"/g)].map(
    (match) => match[1],
  )
  assert.ok(times.length >= 10)
  for (const time of times) assert.match(time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

for (const time of ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123456789-07:00', '2026-01-02t03:04:05z']) {
  test(`201 for the time ${time}`, async () => {
    const { status, body } = await postRun(api, caller, { started_at: time })
    assert.equal(status, 201)
    assert.equal(Date.parse(body.data.started_at), Math.floor(Date.parse(time)))
  })
}

test('responses are JSON in UTF-8, errors included', async () => {
  for (const path of ['/v1/runs', '/v1/runs/none', '/v1/nothing', '/v1/runs?x=1']) {
    const { headers } = await api.request('GET', path, { key: caller.key })
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  }
})

test('500 internal_error does not reveal the cause, and the next request succeeds', async () => {
  const broken = await startTestApi({ env: { SHIPLOCK_LOG_LEVEL: 'silent' } })
  try {
    const { key } = await broken.caller()
    await broken.services.sql`drop table ci_runs cascade`
    const answer = await broken.request('GET', '/v1/runs', { key })
    assert.deepEqual(assertError(answer, 500, 'internal_error'), {})
    assert.doesNotMatch(answer.text, /ci_runs|relation|select|\/|\.ts/)
    assert.equal((await broken.request('GET', '/healthz')).status, 200)
  } finally {
    await broken.close()
  }
})
