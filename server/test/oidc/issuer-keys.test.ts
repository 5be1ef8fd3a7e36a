import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, test } from 'node:test'
import { startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import { createTrust, githubClaims, type Issuer, newSigningKey, startIssuer } from '../support/oidc-issuer.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let api: TestApi
let issuer: Issuer

beforeEach(async () => {
  api = await startTestApi()
  issuer = await startIssuer()
  await createTrust(api, (await api.caller()).orgId, { issuer: issuer.url })
})
afterEach(async () => {
  await issuer.close()
  await api.close()
})

let made = 0

/** A token that no cache knows. */
async function newToken(key = issuer.keys[0], from = issuer): Promise<string> {
  made += 1
  return from.sign(githubClaims(api, { jti: `token-${made}` }), key && { key, alg: key.alg })
}

async function statusOf(token: string): Promise<number> {
  return (
    await api.request('POST', '/v1/ci/runs', { key: token, body: newRun({ repository: 'github.com/acme/shop' }) })
  ).status
}

const keyRequests = () => issuer.requests.filter((path) => path === '/keys').length
const discoveries = () => issuer.requests.filter((path) => path.endsWith('openid-configuration')).length

test('simultaneous requests share one fetch, and the keys serve for an hour', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => newToken()))
  assert.deepEqual(await Promise.all(tokens.map(statusOf)), Array(20).fill(201))
  assert.deepEqual([discoveries(), keyRequests()], [1, 1])
  api.clock.advance(HOUR - 1)
  assert.equal(await statusOf(await newToken()), 201)
  assert.deepEqual([discoveries(), keyRequests()], [1, 1])
  api.clock.advance(1)
  assert.equal(await statusOf(await newToken()), 201)
  assert.deepEqual([discoveries(), keyRequests()], [2, 2])
})

test('a storm of unknown keys causes one fetch a minute, also before the first good token', async () => {
  const storm = async () => {
    const key = await newSigningKey()
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, at) => issuer.sign(githubClaims(api), { key: { ...key, kid: `unknown-${at}` } })),
    )
    assert.deepEqual(await Promise.all(tokens.map(statusOf)), Array(20).fill(401))
    for (const token of tokens) assert.equal(await statusOf(token), 401)
  }
  await storm()
  assert.equal(keyRequests(), 1)
  api.clock.advance(MINUTE - 1)
  await storm()
  assert.equal(keyRequests(), 1)
  api.clock.advance(1)
  await storm()
  assert.equal(keyRequests(), 2)
  assert.equal(await statusOf(await newToken()), 201)
  assert.equal(keyRequests(), 2)
})

test('a new key is accepted at once, and a removed one is rejected after an hour', async () => {
  const [old] = issuer.keys
  assert.equal(await statusOf(await newToken(old)), 201)
  const added = await newSigningKey()
  issuer.keys = [added]
  assert.equal(await statusOf(await newToken(added)), 201)
  assert.equal(await statusOf(await newToken(old)), 401)
  assert.equal(keyRequests(), 2)

  const third = await newSigningKey()
  issuer.keys = [third]
  assert.equal(await statusOf(await newToken(third)), 401, 'at most one fetch a minute')
  assert.equal(await statusOf(await newToken(added)), 201)
  api.clock.advance(HOUR)
  assert.equal(await statusOf(await newToken(added)), 401)
  assert.equal(await statusOf(await newToken(third)), 201)
})

test('the keys of an issuer that is down serve for 24 hours, and it is asked once a minute', async () => {
  assert.equal(await statusOf(await newToken()), 201)
  issuer.answer('/keys', (_request, response) => response.writeHead(500).end())
  api.clock.advance(HOUR)
  for (let asked = 0; asked < 5; asked += 1) assert.equal(await statusOf(await newToken()), 201)
  assert.equal(keyRequests(), 2)
  api.clock.advance(MINUTE)
  for (let asked = 0; asked < 5; asked += 1) assert.equal(await statusOf(await newToken()), 201)
  assert.equal(keyRequests(), 3)
  api.clock.advance(23 * HOUR - MINUTE - 1)
  assert.equal(await statusOf(await newToken()), 201)
  api.clock.advance(1)
  assert.equal(await statusOf(await newToken()), 401)
  issuer.answer('/keys', null)
  api.clock.advance(MINUTE)
  assert.equal(await statusOf(await newToken()), 201)
})

test('an issuer without keys is not asked for every request, and does not affect another issuer', async () => {
  const other = await startIssuer()
  try {
    await createTrust(api, (await api.caller()).orgId, { issuer: other.url })
    // The answer begins and never ends.
    issuer.answer('/keys', (_request, response) => response.writeHead(200).write('{'))
    const waiting = statusOf(await newToken())
    assert.equal(await statusOf(await newToken(other.keys[0], other)), 201)
    assert.equal(await waiting, 401)
    for (let asked = 0; asked < 5; asked += 1) assert.equal(await statusOf(await newToken()), 401)
    assert.equal(keyRequests(), 1)
    issuer.answer('/keys', null)
    api.clock.advance(10_000)
    assert.equal(await statusOf(await newToken()), 201)
  } finally {
    await other.close()
  }
})

const DISCOVERY = '/.well-known/openid-configuration'

type Broken = [title: string, path: string, answer: (respond: Respond, issuerUrl: string) => void]
type Respond = (status: number, headers: Record<string, string>, body: string) => void

const BROKEN: Broken[] = [
  ['a redirecting key set', '/keys', (respond, url) => respond(302, { location: `${url}/keys2` }, '')],
  ['a redirecting discovery document', DISCOVERY, (respond, url) => respond(307, { location: `${url}/other` }, '')],
  ['a key set of 10 MB', '/keys', (respond) => respond(200, {}, `{"keys":[],"x":"${'x'.repeat(10_000_000)}"}`)],
  ['a key set that is no JSON', '/keys', (respond) => respond(200, {}, '<html>')],
  ['a key set without keys', '/keys', (respond) => respond(200, {}, '{}')],
  ['keys that are no objects', '/keys', (respond) => respond(200, {}, '{"keys":[1,null,"x",[]]}')],
  ['a key set with status 206', '/keys', (respond) => respond(206, {}, '{"keys":[]}')],
  ['no discovery document', DISCOVERY, (respond) => respond(404, {}, '')],
  [
    'a discovery document of another issuer',
    DISCOVERY,
    (respond, url) => respond(200, {}, JSON.stringify({ issuer: `${url}/`, jwks_uri: `${url}/keys` })),
  ],
  [
    'a discovery document without jwks_uri',
    DISCOVERY,
    (respond, url) => respond(200, {}, JSON.stringify({ issuer: url })),
  ],
  [
    'a key set over http on another host',
    DISCOVERY,
    (respond, url) => respond(200, {}, JSON.stringify({ issuer: url, jwks_uri: 'http://192.0.2.1/keys' })),
  ],
  [
    'a key set in a file',
    DISCOVERY,
    (respond, url) => respond(200, {}, JSON.stringify({ issuer: url, jwks_uri: 'file:///etc/passwd' })),
  ],
]

for (const [title, path, answer] of BROKEN) {
  test(`401 for an issuer with ${title}; nothing else is fetched`, async () => {
    issuer.answer(path, (_request, response) =>
      answer((status, headers, body) => response.writeHead(status, headers).end(body), issuer.url),
    )
    assert.equal(await statusOf(await newToken()), 401)
    assert.deepEqual(
      issuer.requests.filter((asked) => asked !== DISCOVERY && asked !== '/keys'),
      [],
    )
  })
}

test('a set may contain keys of other kinds and broken keys', async () => {
  issuer.answer('/keys', (_request, response) => {
    const odd = [
      { kty: 'oct', k: 'c2VjcmV0' },
      { kty: 'XYZ' },
      {},
      { kty: 'RSA', kid: 'broken', alg: 'RS256', n: 'AA', e: 'AQ' },
    ]
    response.end(JSON.stringify({ keys: [...odd, ...issuer.keys.map(({ publicJwk }) => publicJwk)] }))
  })
  for (const key of issuer.keys) assert.equal(await statusOf(await newToken(key)), 201)
  const [rsa] = issuer.keys
  assert.equal(await statusOf(await newToken(rsa && { ...rsa, kid: 'broken' })), 401)
})

test('401 after 5 s for an issuer that never answers, or whose key set never ends', async () => {
  const slow = await startIssuer()
  await createTrust(api, (await api.caller()).orgId, { issuer: slow.url })
  const closed: Promise<unknown>[] = []
  const never = (part: string) => (_request: IncomingMessage, response: ServerResponse) => {
    if (part !== '') response.writeHead(200).write(part)
    closed.push(once(response, 'close'))
  }
  slow.answer(DISCOVERY, never(''))
  issuer.answer('/keys', never('{"keys":['))
  const startedAt = performance.now()
  const statuses = await Promise.all([newToken(), newToken(slow.keys[0], slow)].map(async (key) => statusOf(await key)))
  const tookMs = performance.now() - startedAt
  assert.deepEqual([statuses, closed.length], [[401, 401], 2])
  assert.ok(tookMs >= 4900 && tookMs < 15_000, `took ${tookMs} ms`)
  await Promise.all(closed)
  await slow.close()
})
