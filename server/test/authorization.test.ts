import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createKeyText } from '../src/access/api-key.ts'
import { registerAuthorization } from '../src/access/gateway/authorize.ts'
import { revokeApiKey } from '../src/access/manage-access.ts'
import { TRUST_SCOPES } from '../src/access/oidc-trusts/trusts/trust-request.ts'
import { SCOPES, type Scope } from '../src/access/scopes.ts'
import { OPERATOR } from '../src/audit/audit.store.ts'
import { createHttpServer, type HttpServer } from '../src/platform/http/http-server.ts'
import { createLog } from '../src/platform/log.ts'
import { type Answer, startTestApi, type TestApi } from './support/api.ts'
import { callOperation } from './support/call-operation.ts'
import { keyedOperationsOf, type Operation } from './support/openapi.ts'
import { startTokenCaller } from './support/token-caller.ts'

let api: TestApi
let operations: Operation[]

before(async () => {
  api = await startTestApi()
  operations = keyedOperationsOf((await api.request('GET', '/v1/openapi.json')).body)
})
after(() => api?.close())

/**
 * The specification's scope of each route. The list of uploads is an addition. The first matching
 * line applies.
 */
const SCOPE_OF_ROUTE: [route: RegExp, ...scopes: Scope[]][] = [
  [/^GET \/v1\/(?:components|exposure|sboms)(?:\/|$)/, 'read:security'],
  [/^GET \/v1\/artifacts$/, 'read:pipelines'],
  [/^DELETE \/v1\/deployments\//, 'write:deployments'],
  [/^(POST|PATCH) \/v1\/ci\//, 'write:ci'],
  [/^GET \/v1\/security\/uploads$/, 'read:security'],
  [/^POST \/v1\/security\/(uploads\/[^/]+\/confirm$|streams\/)/, 'write:triage'],
  [/^(POST|GET) \/v1\/security\/uploads/, 'write:security-findings'],
  [/^GET \/v1\/(security|components|sboms)(\/|$)/, 'read:security'],
  [/^GET \/v1\/deployments/, 'read:deployments'],
  [/^POST \/v1\/deployments\//, 'write:deployments'],
  [/^PATCH \/v1\/deployments\//, 'write:deployments', 'write:ci'],
  [/^GET \/v1\/runs/, 'read:pipelines'],
  [/^GET \/v1\/compliance\//, 'read:compliance'],
  [/^GET \/v1\/(provenance|changes)/, 'read:attestations'],
]

/** One of them is enough. */
function scopesOf({ method, path }: Operation): Scope[] {
  const [, ...scopes] = SCOPE_OF_ROUTE.find(([route]) => route.test(`${method} ${path}`)) ?? []
  return scopes.length > 0
    ? scopes
    : assert.fail(`the specification names no scope for ${method} ${path}: add it to SCOPE_OF_ROUTE`)
}

function assertGatewayRejection(answer: Answer, status: 401 | 403, operation: Operation): void {
  const route = `${operation.method} ${operation.path}`
  assert.equal(answer.status, status, route)
  assert.equal(answer.text, status === 401 ? '{"message":"Unauthorized"}' : '{"message":"Forbidden"}', route)
  assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null, route)
  assert.ok(answer.headers.get('x-request-id'), route)
}

const UNACCEPTABLE: [title: string, key: () => Promise<string | undefined>][] = [
  ['no key', async () => undefined],
  ['a malformed key', async () => 'ghp_0123456789'],
  ['a mistyped key with a wrong CRC', async () => mistype((await api.caller()).key)],
  ['a key that was never issued', async () => createKeyText('production')],
  ['a key of the other environment', async () => (await api.caller({ environment: 'development' })).key],
  ['an expired key', async () => (await api.caller({ expiresAt: api.clock.now() })).key],
  ['a revoked key', revokedKey],
]

for (const [title, makeKey] of UNACCEPTABLE) {
  test(`401 with the gateway's own body on every route: ${title}`, async () => {
    const key = await makeKey()
    for (const operation of operations) {
      assertGatewayRejection(await callOperation(api, operation, key === undefined ? {} : { key }), 401, operation)
    }
  })
}

test("403 with the gateway's own body on every route: a key with every scope but the route's", async () => {
  for (const operation of operations) {
    const { key } = await api.caller({ scopes: SCOPES.filter((scope) => !scopesOf(operation).includes(scope)) })
    assertGatewayRejection(await callOperation(api, operation, { key }), 403, operation)
  }
})

test("every route accepts a key that has only the route's scope", async () => {
  for (const operation of operations) {
    for (const scope of scopesOf(operation)) {
      const { key } = await api.caller({ scopes: [scope] })
      const { status } = await callOperation(api, operation, { key })
      assert.ok([200, 400, 404].includes(status), `${operation.method} ${operation.path} answers ${status}`)
    }
  }
})

test('tokens of CI jobs are accepted on every route with a scope that trusts can have, and 403 on the others', async () => {
  const job = await startTokenCaller(api)
  const key = await job.sign()
  for (const operation of operations) {
    const isForJobs = scopesOf(operation).some((scope) => TRUST_SCOPES.includes(scope))
    const answer = await callOperation(api, operation, { key })
    if (!isForJobs) assertGatewayRejection(answer, 403, operation)
    else assert.ok([200, 400, 404].includes(answer.status), `${operation.path} answers ${answer.status}`)
  }
  await job.close()
})

test('HEAD requires the same key as GET', async () => {
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const answer = await callOperation(api, operation, { method: 'HEAD' })
    // The stored file of a bill of materials is sent as a stream, and has no HEAD.
    if (answer.status === 405 && operation.path.endsWith('/document')) continue
    assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer'], operation.path)
  }
})

test('a route under /v1 without a scope prevents the server from starting', async () => {
  const app: HttpServer = createHttpServer(createLog('silent'))
  await registerAuthorization(app as never, api.services)
  assert.throws(() => app.get('/v1/forgotten', async () => 'open to all'), /GET \/v1\/forgotten declares no scope/)
  app.get('/v1/open', { config: { public: true } }, async () => 'meant to be open')
  app.get('/v1/closed', { config: { scope: 'read:pipelines' } }, async () => 'closed')
  await app.close()
})

function mistype(key: string): string {
  const at = key.length - 10
  return key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1)
}

async function revokedKey(): Promise<string> {
  const { key, keyId } = await api.caller()
  await revokeApiKey(api.services, { org_id: null, id: keyId }, OPERATOR)
  return key
}
