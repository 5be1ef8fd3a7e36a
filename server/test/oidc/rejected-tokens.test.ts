import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { base64url, CompactEncrypt, exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import { registerAuthorization } from '../../src/access/gateway/authorize.ts'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import { registerIngestRoutes } from '../../src/ci/ingest/ingest.routes.ts'
import { createHttpServer } from '../../src/platform/http/http-server.ts'
import { createLog } from '../../src/platform/log.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import { logLines } from '../support/log-lines.ts'
import {
  createTrust,
  githubClaims,
  type Issuer,
  JOB_AUDIENCE,
  newSigningKey,
  startIssuer,
} from '../support/oidc-issuer.ts'

let api: TestApi
let issuer: Issuer
/** An issuer that no trust names. It must never be asked for anything. */
let stranger: Issuer

before(async () => {
  api = await startTestApi()
  issuer = await startIssuer()
  stranger = await startIssuer()
  await createTrust(api, (await api.caller()).orgId, { issuer: issuer.url })
})
after(async () => {
  await stranger?.close()
  await issuer?.close()
  await api?.close()
})

const post = (key: string): Promise<Answer> =>
  api.request('POST', '/v1/ci/runs', { key, body: newRun({ repository: 'github.com/acme/shop' }) })
const claims = (overrides: Claims = {}): Claims => githubClaims(api, overrides)
const seconds = () => Math.floor(api.clock.now().getTime() / 1000)

function assertRejected(answer: Answer): void {
  assert.equal(answer.status, 401)
  assert.equal(answer.text, '{"message":"Unauthorized"}')
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
}

test('201 for a good token: what is rejected below is rejected for its own reason', async () => {
  const answer = await post(await issuer.sign(claims()))
  assert.equal(answer.status, 201, answer.text)
})

const BAD_CLAIMS: [title: string, overrides: () => Claims][] = [
  ['another audience', () => ({ aud: 'https://other.example' })],
  ['an audience that only starts alike', () => ({ aud: `${JOB_AUDIENCE}.evil.example` })],
  ['no audience', () => ({ aud: undefined })],
  ['an empty list of audiences', () => ({ aud: [] })],
  ['an audience that is an object', () => ({ aud: { [JOB_AUDIENCE]: true } })],
  ['expired more than 60 s ago', () => ({ iat: seconds() - 400, nbf: seconds() - 400, exp: seconds() - 60 })],
  ['no exp', () => ({ exp: undefined })],
  ['an exp that is a text', () => ({ exp: String(seconds() + 300) })],
  ['an endless exp', () => ({ exp: 1e300 })],
  ['no iat', () => ({ iat: undefined })],
  ['issued in the future', () => ({ iat: seconds() + 61, nbf: undefined })],
  ['not valid yet', () => ({ nbf: seconds() + 61 })],
  ['an nbf that is a text', () => ({ nbf: 'yesterday' })],
  ['a lifetime over 24 hours', () => ({ iat: seconds(), exp: seconds() + 86_401 })],
  ['another repository', () => ({ repository: 'acme/other' })],
  ['a repository of another case', () => ({ repository: 'Acme/Shop' })],
  ['no repository', () => ({ repository: undefined })],
  ['another issuer', () => ({ iss: stranger.url })],
  ['the issuer with a slash', () => ({ iss: `${issuer.url}/` })],
  ['no issuer', () => ({ iss: undefined })],
  ['an issuer that is an object', () => ({ iss: { url: issuer.url } })],
]

for (const [title, overrides] of BAD_CLAIMS) {
  test(`401 for a token with ${title}`, async () => {
    assertRejected(await post(await issuer.sign(claims(overrides()))))
  })
}

const GOOD_CLAIMS: [title: string, overrides: () => Claims][] = [
  ['expired less than 60 s ago', () => ({ iat: seconds() - 400, nbf: seconds() - 400, exp: seconds() - 59 })],
  ['issued 60 s in the future', () => ({ iat: seconds() + 60, nbf: seconds() + 60 })],
  ['no nbf', () => ({ nbf: undefined })],
  ['a lifetime of 24 hours', () => ({ iat: seconds(), exp: seconds() + 86_400 })],
  ['several audiences', () => ({ aud: ['https://other.example', JOB_AUDIENCE] })],
]

for (const [title, overrides] of GOOD_CLAIMS) {
  test(`201 for a token with ${title}`, async () => {
    const answer = await post(await issuer.sign(claims(overrides())))
    assert.equal(answer.status, 201, answer.text)
  })
}

/** A token with a header and payload of any form, signed by `signer`. */
function assemble(header: object, payload: Claims, signer: (input: string) => string): string {
  const input = [header, payload].map((part) => base64url.encode(JSON.stringify(part))).join('.')
  return `${input}.${signer(input)}`
}

const hmac = (secret: string | Buffer) => (input: string) =>
  createHmac('sha256', secret).update(input).digest('base64url')

const FORGED: [title: string, token: () => Promise<string>][] = [
  ['alg none', async () => new UnsecuredJWT({ iss: issuer.url, ...claims() }).encode()],
  ['alg none in other letters', async () => assemble({ alg: 'nOnE' }, { iss: issuer.url, ...claims() }, () => '')],
  [
    'HS256 with the public key (PEM) as the secret',
    async () => {
      const [key] = issuer.keys
      const pem = await exportSPKI((await importJWK(key?.publicJwk as never, 'RS256')) as never)
      return assemble({ alg: 'HS256', kid: key?.kid }, { iss: issuer.url, ...claims() }, hmac(pem))
    },
  ],
  [
    'HS256 with the modulus as the secret',
    async () => {
      const [key] = issuer.keys
      const secret = Buffer.from(String(key?.publicJwk.n), 'base64url')
      return assemble({ alg: 'HS256', kid: key?.kid }, { iss: issuer.url, ...claims() }, hmac(secret))
    },
  ],
  [
    'an algorithm that is not accepted',
    async () => issuer.sign(claims(), { key: await newSigningKey('RS512'), alg: 'RS512' }),
  ],
  ['EdDSA', async () => issuer.sign(claims(), { key: await newSigningKey('Ed25519'), alg: 'Ed25519' })],
  ['the key of another issuer', async () => issuer.sign(claims(), { key: stranger.keys[0] as never })],
  [
    'the key of another issuer under our kid',
    async () => {
      const forged = await newSigningKey('RS256', { kid: issuer.keys[0]?.kid as string })
      return issuer.sign(claims(), { key: forged })
    },
  ],
  [
    'its own key in the header (jwk)',
    async () => {
      const key = await newSigningKey('RS256')
      return issuer.sign(claims(), { key, header: { jwk: key.publicJwk } })
    },
  ],
  [
    'the address of other keys in the header (jku)',
    async () => issuer.sign(claims(), { key: stranger.keys[0] as never, header: { jku: `${stranger.url}/keys` } }),
  ],
  [
    'the address of a certificate in the header (x5u)',
    async () =>
      issuer.sign(claims(), { key: stranger.keys[0] as never, header: { x5u: `${stranger.url}/cert`, x5c: ['AA=='] } }),
  ],
  ['a critical header', async () => assembleCritical({ crit: ['exp'], exp: 1 })],
  ['the critical header b64, which jose knows', async () => assembleCritical({ crit: ['b64'], b64: true })],
  ['a changed payload', async () => changePart(await issuer.sign(claims()), 1)],
  ['a changed signature', async () => changePart(await issuer.sign(claims()), 2)],
  ['no signature', async () => (await issuer.sign(claims())).replace(/[^.]+$/, '')],
  ['a part too many', async () => `${await issuer.sign(claims())}.e30`],
  [
    'a payload that is no object',
    async () => (await issuer.sign(claims())).replace(/\.[^.]+\./, `.${base64url.encode('[]')}.`),
  ],
  ['only dots', async () => '..'],
  ['encryption (JWE)', async () => encrypt()],
  [
    '15 KB of claims of another repository',
    async () => issuer.sign(claims({ repository: 'x/y', groups: 'g'.repeat(10_500) })),
  ],
]

for (const [title, token] of FORGED) {
  test(`401 for a token with ${title}`, async () => {
    assertRejected(await post(await token()))
  })
}

async function assembleCritical(critical: object): Promise<string> {
  const key = issuer.keys[0]
  const header = { alg: 'RS256', kid: key?.kid, ...critical }
  const input = [header, { iss: issuer.url, ...claims() }]
    .map((part) => base64url.encode(JSON.stringify(part)))
    .join('.')
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key?.privateKey as never, Buffer.from(input))
  return `${input}.${base64url.encode(new Uint8Array(signature))}`
}

function changePart(token: string, at: number): string {
  const parts = token.split('.')
  const part = parts[at] as string
  const middle = Math.floor(part.length / 2)
  parts[at] = part.slice(0, middle) + (part[middle] === 'A' ? 'B' : 'A') + part.slice(middle + 1)
  return parts.join('.')
}

async function encrypt(): Promise<string> {
  const { publicJwk } = issuer.keys[0] as { publicJwk: object }
  const key = await importJWK({ ...publicJwk, alg: 'RSA-OAEP-256', use: 'enc' } as never, 'RSA-OAEP-256')
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify({ iss: issuer.url, ...claims() })))
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'x' })
    .encrypt(key)
}

test('431 with the error envelope for a token that is larger than all headers may be', async () => {
  const answer = await post(await issuer.sign(claims({ groups: 'g'.repeat(16_000) })))
  assert.equal(answer.status, 431)
  assert.equal(answer.body.error.code, 'invalid_request')
})

test('201 for a token of 8 KB, such as one with many groups', async () => {
  const answer = await post(await issuer.sign(claims({ groups_direct: Array(300).fill('acme/some-group') })))
  assert.equal(answer.status, 201, answer.text)
})

test('no request is ever sent to an issuer that no trust names', async () => {
  assertRejected(await post(await stranger.sign(claims())))
  assert.deepEqual(stranger.requests, [])
})

test('403 for a good token whose trust lacks the scope; tokens never have another scope', async () => {
  const own = await startIssuer()
  try {
    await createTrust(api, (await api.caller()).orgId, { issuer: own.url, scopes: ['write:security-findings'] })
    const key = await own.sign(claims())
    assert.deepEqual([(await post(key)).status, (await post(key)).text], [403, '{"message":"Forbidden"}'])
    assert.equal((await api.request('GET', '/v1/runs', { key })).status, 403)
    assert.equal((await api.request('GET', '/v1/security/uploads/x', { key })).status, 400)
  } finally {
    await own.close()
  }
})

test('the log has the reason, and never the token', async () => {
  const { log, lines } = logLines()
  const app = createHttpServer(log as never)
  await registerAuthorization(app as never, { ...api.services, log: log as never })
  app.get('/v1/with-scope', { config: { scope: 'write:ci' } }, async () => 'accepted')
  const token = await issuer.sign(claims({ repository: 'acme/other' }))
  const authorization = `Bearer ${token}`
  const answer = await app.inject({ url: '/v1/with-scope', headers: { authorization } })
  await app.close()
  assert.deepEqual([answer.statusCode, answer.body], [401, '{"message":"Unauthorized"}'])
  const [line] = lines as unknown as [Record<string, unknown>]
  assert.deepEqual([line.msg, line.reason], ['Rejected the token of a CI job', 'unmatched'])
  assert.equal(line.details, 'No trust has conditions that all hold for the token.')
  for (const part of token.split('.')) assert.ok(!JSON.stringify(lines).includes(part))
})

test('the log has the reason also for what is no token of the provider of an ingest route', async () => {
  const { log, lines } = logLines()
  const services = { ...api.services, log: log as never }
  const app = createHttpServer(log as never)
  await registerAuthorization(app as never, services)
  await registerIngestRoutes(app, services)
  const post = async (url: string, key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    return (await app.inject({ method: 'POST', url, headers, payload: { version: 1, job: {} } })).json().code
  }
  const { key } = await api.caller()
  assert.equal(await post('/api/ingest/github/reports', key), 'TOKEN_INVALID')
  assert.equal(await post('/api/ingest/gitlab/reports', await issuer.sign(claims())), 'TOKEN_INVALID')
  assert.equal(await post('/api/ingest/github/reports', await issuer.sign(claims({ run_id: '' }))), 'TOKEN_INVALID')
  await app.close()
  const rejected = (lines as unknown as Record<string, string>[]).filter(({ msg }) => msg?.startsWith('Rejected'))
  assert.deepEqual(
    rejected.map(({ reason, details }) => [reason, details?.slice(0, 30)]),
    [
      ['invalid', 'The route requires the token o'],
      ['invalid', 'The token does not name a run '],
      ['invalid', 'The token does not name a run '],
    ],
  )
})

test('a route for tokens only rejects API keys and requests without a credential', async () => {
  const app = createHttpServer(createLog('silent'))
  await registerAuthorization(app as never, api.services)
  app.get(
    '/v1/for-jobs',
    { config: { scope: 'write:ci', tokenOnly: true } },
    async ({ actor }) => actor.credential.type,
  )
  const ask = (headers: Record<string, string>) => app.inject({ url: '/v1/for-jobs', headers })
  const { key } = await api.caller()
  const token = await issuer.sign(claims())
  assert.deepEqual((await ask({ authorization: `Bearer ${token}` })).body, 'oidc_trust')
  for (const headers of [{}, { authorization: `Bearer ${key}` }, { authorization: 'Bearer x' }])
    assert.equal((await ask(headers)).statusCode, 401)
  await app.close()
})
