import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { MINUTE_MS } from '../../src/platform/clock.ts'
import type { Answer } from '../support/api.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import { createTrust, githubClaims, startIssuer } from '../support/oidc-issuer.ts'

let server: IngestServer
before(async () => {
  server = await startIngestServer()
})
after(() => server?.close())

const REPORT = { version: 1, job: { name: 'test' } }

type Sent = { key?: string; body?: unknown; path?: string; headers?: Record<string, string>; method?: string }

function post({ path = 'github/reports', method = 'POST', body = REPORT, ...others }: Sent = {}): Promise<Answer> {
  return server.api.request(method, `/api/ingest/${path}`, { body, ...others })
}

/** Asserts an error in the form of the protocol, and returns its text. */
function assertError(
  { status, body, text, headers }: Answer,
  expected: number,
  code: string,
  retryable = false,
): string {
  assert.equal(status, expected, text)
  assert.deepEqual(Object.keys(body), ['code', 'error', 'retryable'])
  assert.deepEqual([body.code, body.retryable], [code, retryable], text)
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(headers.get('www-authenticate'), expected === 401 ? 'Bearer' : null)
  return body.error
}

test('401 TOKEN_INVALID with one text for everything that is not a good token of this provider', async () => {
  const { caller, issuer, api } = server
  const good = await server.sign('github')
  const unknownIssuer = await issuer.sign({ iss: 'https://elsewhere.example.com', aud: api.url, exp: 9e9, iat: 1 })
  const answers = [
    await post({}),
    await post({ key: caller.key }),
    await post({ key: 'shl_gate_x' }),
    await post({ key: 'a.b.c' }),
    await post({ key: `${good.slice(0, -4)}AAAA` }),
    await post({ key: await server.sign('github', { aud: 'https://elsewhere.example.com' }) }),
    await post({ key: await server.sign('github', { nbf: 9e9 }) }),
    await post({ key: unknownIssuer }),
    await post({ key: good, path: 'gitlab/reports' }),
    await post({ key: await server.sign('azure'), path: 'github/reports/1-000000000000000000000000/complete' }),
    await post({ key: await server.sign('gitlab'), path: 'azure/reports', body: '{' }),
  ]
  const texts = answers.map((answer) => assertError(answer, 401, 'TOKEN_INVALID'))
  assert.deepEqual([...new Set(texts)], ['The token is not accepted.'])
})

test('401 TOKEN_EXPIRED, retryable, for a token that is good but for its exp; others stay TOKEN_INVALID', async () => {
  const seconds = Math.floor(server.api.clock.now().getTime() / 1000)
  const times = { iat: seconds - 900, nbf: seconds - 900, exp: seconds - 300 }
  assertError(await post({ key: await server.sign('github', times) }), 401, 'TOKEN_EXPIRED', true)
  assertError(await post({ key: await server.sign('github', { ...times, aud: 'x' }) }), 401, 'TOKEN_INVALID')
})

test('403 REPO_NOT_LINKED for a good token that no trust accepts for reports', async () => {
  const other = { repository: 'acme/other', repository_id: '1', sub: 'repo:acme/other:ref:refs/heads/main' }
  assertError(await post({ key: await server.sign('github', other) }), 403, 'REPO_NOT_LINKED')
  const uploads = { repository: 'acme/uploads', repository_id: '2', sub: 'repo:acme/uploads:ref:refs/heads/main' }
  await createTrust(server.api, server.caller.orgId, {
    issuer: server.issuer.url,
    conditions: { repository: 'acme/uploads' },
    scopes: ['write:security-findings'],
  })
  assertError(await post({ key: await server.sign('github', uploads) }), 403, 'REPO_NOT_LINKED')
})

test('402 PLAN_REQUIRED for a plan without API access', async () => {
  const { orgId } = await server.api.caller({ plan: 'free' })
  const issuer = await startIssuer()
  try {
    await createTrust(server.api, orgId, { issuer: issuer.url, conditions: { repository: 'acme/shop' } })
    assertError(await post({ key: await issuer.sign(githubClaims(server.api)) }), 402, 'PLAN_REQUIRED')
  } finally {
    await issuer.close()
  }
})

const BAD_BODIES: [why: string, body: unknown, names: RegExp][] = [
  ['no body', '', /body/],
  ['broken JSON', '{"version":1', /JSON/],
  ['no JSON at all', 'report', /JSON/],
  ['a list', [], /body/],
  ['null', 'null', /body/],
  ['no version', { job: {} }, /version/],
  ['another version', { ...REPORT, version: 2 }, /version/],
  ['no job', { version: 1 }, /job/],
  ['a job that is null', { version: 1, job: null }, /job/],
  ['a name that is a number', { ...REPORT, job: { name: 5 } }, /\/job\/name/],
  ['an unknown kind', { ...REPORT, attestations: [{ kind: 'x', name: 'x', data: {} }] }, /attestations\/0\/kind/],
  [
    'data that is a list',
    { ...REPORT, attestations: [{ kind: 'scan', name: 'x', data: [] }] },
    /attestations\/0\/data/,
  ],
  [
    'a scan without figures',
    { ...REPORT, attestations: [{ kind: 'scan', name: 'x', data: { tool: 'x' } }] },
    /critical/,
  ],
  ['custom without status', { ...REPORT, attestations: [{ kind: 'custom', name: 'x', data: {} }] }, /0\/status/],
  ['a bad path', { ...REPORT, artifacts: [{ path: '../x', size: 1, sha256: 'a'.repeat(64) }] }, /artifacts\/0\/path/],
  ['a bad checksum', { ...REPORT, artifacts: [{ path: 'x', size: 1, sha256: 'A' }] }, /artifacts\/0\/sha256/],
  ['a size that is a text', { ...REPORT, artifacts: [{ path: 'x', size: '1', sha256: 'a'.repeat(64) }] }, /0\/size/],
]

for (const [why, body, names] of BAD_BODIES) {
  test(`400 INVALID_REQUEST that names the mistake for ${why}`, async () => {
    const key = await server.sign('github')
    const headers = { 'content-type': 'application/json' }
    assert.match(assertError(await post({ key, body, headers }), 400, 'INVALID_REQUEST'), names)
  })
}

test('400 INVALID_REQUEST for a completion without a list of ids', async () => {
  const key = await server.sign('github')
  const path = 'github/reports/1-000000000000000000000000/complete'
  for (const body of [{}, { artifactIds: null }, { artifactIds: [5] }, { artifactIds: Array(51).fill('a') }]) {
    assert.match(assertError(await post({ key, path, body }), 400, 'INVALID_REQUEST'), /artifactIds/)
  }
})

test('413, 415, 404 and 405 have the form of the protocol, too', async () => {
  const key = await server.sign('github')
  const large = { ...REPORT, summary: 'x'.repeat(9 * 2 ** 20) }
  assertError(await post({ key, body: large }), 413, 'PAYLOAD_TOO_LARGE')
  const text = { body: 'version=1', headers: { 'content-type': 'text/plain' } }
  assertError(await post({ key, ...text }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  assertError(await post({ key, headers: { 'content-encoding': 'gzip' } }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  for (const path of ['', 'github', 'github/report', 'jenkins/reports', 'github/reports/1/finish', 'x'.repeat(300)]) {
    assertError(await post({ key, path }), 404, 'NOT_FOUND')
  }
  const answer = await server.api.request('GET', '/api/ingest/github/reports', { key })
  assertError(answer, 405, 'METHOD_NOT_ALLOWED')
  assert.equal(answer.headers.get('allow'), 'POST')
})

test('the other paths of the server keep their own form of errors', async () => {
  for (const path of ['/api', '/api/ingests/github/reports', '/v1/ci/run']) {
    assert.equal((await server.api.request('POST', path, { body: REPORT })).body.error.code, 'not_found')
  }
})

test('a body that is cut off half-way changes nothing, and the next one is stored', async () => {
  const before = await countReports()
  const body = JSON.stringify({ ...REPORT, summary: 'x'.repeat(100_000) })
  const head = [
    'POST /api/ingest/github/reports HTTP/1.1',
    'host: x',
    `authorization: Bearer ${await server.sign('github')}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  const socket = connect(Number(new URL(server.api.url).port), '127.0.0.1')
  socket.end(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 50_000)}`)
  const answer = (await socket.toArray()).join('')
  assert.ok(answer === '' || answer.startsWith('HTTP/1.1 400'), answer)
  assert.equal(await countReports(), before)
  assert.equal((await post({ key: await server.sign('github'), body })).status, 200)
})

async function countReports(): Promise<number> {
  const [row] = await server.api.services.sql<[{ count: number }]>`
    select count(*) as count
    from ci_reports
    where org_id = ${server.caller.orgId}`
  return row.count
}

test('429 RATE_LIMITED with Retry-After for the 301st report request of an organization in a minute', async () => {
  const limited = await startIngestServer({ env: { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '100000' } })
  try {
    const send = async (key: string) =>
      limited.api.request('POST', '/api/ingest/github/reports', { key, body: { version: 2 } })
    const key = await limited.sign('github')
    for (let sent = 0; sent < 300; sent += 1) assert.equal((await send(key)).status, 400)
    const answer = await send(key)
    assertError(answer, 429, 'RATE_LIMITED', true)
    assert.equal(answer.headers.get('retry-after'), '60')
    limited.api.clock.advance(MINUTE_MS)
    assert.equal((await send(key)).status, 400)
  } finally {
    await limited.close()
  }
})

test('500 INTERNAL_ERROR and 503 UNAVAILABLE are retryable, and do not tell the cause', ON_ONE_SERVER, async () => {
  const failing = await startIngestServer()
  try {
    const { sql } = failing.api.services
    const fail = (code: string) =>
      sql.unsafe(`
        create or replace function fail() returns trigger language plpgsql
        as $$ begin raise exception 'the cause' using errcode = '${code}'; end $$;
        create or replace trigger fail before insert on ci_reports execute function fail()`)
    const post = async () =>
      failing.api.request('POST', '/api/ingest/github/reports', { key: await failing.sign('github'), body: REPORT })
    await fail('XX000')
    assert.equal(assertError(await post(), 500, 'INTERNAL_ERROR', true), 'An internal error occurred.')
    await fail('57P03')
    const unavailable = await post()
    assert.doesNotMatch(assertError(unavailable, 503, 'UNAVAILABLE', true), /cause/)
    assert.equal(unavailable.headers.get('retry-after'), '5')
  } finally {
    await failing.close()
  }
})
