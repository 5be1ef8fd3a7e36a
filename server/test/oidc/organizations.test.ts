import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { revokeTrust } from '../../src/access/oidc-trusts/trusts/manage-trusts.ts'
import { insertTrust } from '../../src/access/oidc-trusts/trusts/trust.store.ts'
import { OPERATOR } from '../../src/audit/audit.store.ts'
import { ApiError } from '../../src/platform/http/api-error.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import { hostRepository, insertConnection } from '../support/host-objects.ts'
import { createTrust, githubClaims, type Issuer, startIssuer } from '../support/oidc-issuer.ts'

let api: TestApi
let beside: TestApi
let issuer: Issuer

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
beforeEach(async () => {
  issuer = await startIssuer()
})
afterEach(() => issuer.close())
after(async () => {
  await beside?.close()
  await api?.close()
})

const newOrganization = async () => (await api.caller()).orgId
const revoke = (id: string) => revokeTrust(api.services, { org_id: null, id }, OPERATOR)
const token = (overrides = {}) => issuer.sign(githubClaims(api, overrides))

function post(key: string, on = api): Promise<Answer> {
  return on.request('POST', '/v1/ci/runs', { key, body: newRun({ repository: 'github.com/acme/shop' }) })
}

/** The clock is frozen, so only a notification can change the response. */
async function untilStatus(on: TestApi, key: string, status: number): Promise<void> {
  const giveUp = AbortSignal.timeout(2000)
  let last = 0
  while (last !== status && !giveUp.aborted) last = (await post(key, on)).status
  assert.equal(last, status)
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.code === 'trust_conflict'
}

test('a trust is refused where a trust of another organization could match the same token', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()]
  const first = await createTrust(api, one, { issuer: issuer.url })
  for (const conditions of [{ repository: 'acme/*' }, { repository_owner: 'acme' }, { repository_id: '7770001' }])
    await assert.rejects(createTrust(api, other, { issuer: issuer.url, conditions }), isConflict)
  await createTrust(api, one, { issuer: issuer.url, conditions: { repository: 'acme/*' } })
  await createTrust(api, other, { issuer: issuer.url, conditions: { repository: 'other/*' } })

  await revoke(first.id)
  await assert.rejects(createTrust(api, other, { issuer: issuer.url }), isConflict)
})

test('an expired or revoked trust does not compete', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()]
  const { id } = await createTrust(api, one, { issuer: issuer.url })
  await revoke(id)
  await createTrust(api, other, { issuer: issuer.url, lifetimeMs: 1000 })
  await assert.rejects(createTrust(api, one, { issuer: issuer.url }), isConflict)
  api.clock.advance(1000)
  await createTrust(api, one, { issuer: issuer.url })
})

test('of simultaneous trusts of two organizations, one is created', async () => {
  const organizations = await Promise.all(Array.from({ length: 6 }, newOrganization))
  const results = await Promise.allSettled(
    organizations.map((orgId) => createTrust(api, orgId, { issuer: issuer.url })),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) assert.ok(result.status === 'fulfilled' || isConflict(result.reason))
})

test('a trust is refused where another organization has a connected repository that it could match', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()]
  const repository = hostRepository({ id: '4711', full_name: 'globex/app', owner_id: '5' })
  await insertConnection(api.services.sql, one, repository)
  for (const conditions of [{ repository: 'globex/app' }, { repository: 'globex/*' }, { repository_id: '4711' }])
    await assert.rejects(createTrust(api, other, { issuer: issuer.url, conditions }), isConflict)
  await createTrust(api, one, { issuer: issuer.url, conditions: { repository: 'globex/app' } })
  await createTrust(api, other, { issuer: issuer.url, conditions: { repository: 'globex-two/*' } })
})

test('401 for a token that trusts of two organizations match, and for a token of another organization', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()]
  await createTrust(api, one, { issuer: issuer.url })
  const key = await token()
  assert.equal((await post(key)).status, 201)
  const first = await post(await token({ jti: '2' }))
  assert.equal((await post(await token({ repository: 'evil/shop' }))).status, 401)
  assert.equal(first.status, 201)

  // Such a trust cannot be created: the row stands for one from a restored backup, for example.
  await api.services.sql.begin((tx) =>
    insertTrust(tx, other, {
      id: createUuid(api.clock.now()),
      name: 'rival',
      issuer: issuer.url,
      audience: new URL(api.url).origin,
      provider: 'github',
      conditions: { repository_owner: 'acme' },
      scopes: ['write:ci'],
      trusted_events: [],
      self_hosted: false,
      created_by: 'test',
      created_by_user_id: null,
      created_at: api.clock.now(),
      expires_at: null,
    }),
  )
  await untilStatus(api, key, 401)
  assert.equal((await post(await token({ jti: '3' }))).text, '{"message":"Unauthorized"}')
})

test('of the trusts of one organization, the one with most conditions counts, then the oldest', async () => {
  const orgId = await newOrganization()
  const shared = { issuer: issuer.url, scopes: ['write:ci'] }
  const names = async (key: string) => (await post(key)).body.data.credential.name
  await createTrust(api, orgId, { ...shared, name: 'oldest' })
  api.clock.advance(1000)
  await createTrust(api, orgId, { ...shared, name: 'newer', conditions: { repository: 'acme/**' } })
  assert.equal(await names(await token({ jti: 'a' })), 'oldest')
  const conditions = { repository: 'acme/*', ref: 'refs/heads/main' }
  await createTrust(api, orgId, { ...shared, name: 'most conditions', conditions })
  const key = await token({ jti: 'b' })
  const giveUp = AbortSignal.timeout(2000)
  let name = await names(key)
  while (name !== 'most conditions' && !giveUp.aborted) name = await names(key)
  assert.equal(name, 'most conditions')
  assert.equal(await names(await token({ jti: 'c', ref: 'refs/heads/dev' })), 'oldest')
})

test('tokens of a revoked trust are refused within a second on every server, also used ones', async () => {
  const { id } = await createTrust(api, await newOrganization(), { issuer: issuer.url })
  const key = await token()
  for (const on of [api, beside]) assert.equal((await post(key, on)).status, 201)
  const revoked = await revoke(id)
  for (const on of [api, beside]) await untilStatus(on, key, 401)
  api.clock.advance(5000)
  assert.deepEqual((await revoke(id)).revoked_at, revoked.revoked_at)
})

test('a token and a trust are refused from the moment they expire, even if they were just used', async () => {
  const orgId = await newOrganization()
  await createTrust(api, orgId, { issuer: issuer.url, lifetimeMs: 20_000 })
  const now = Math.floor(api.clock.now().getTime() / 1000)
  const short = await token({ exp: now + 1 - 60, iat: now - 300, nbf: now - 300 })
  const long = await token()
  for (const key of [short, long]) assert.equal((await post(key)).status, 201)
  api.clock.advance(1000)
  assert.deepEqual([(await post(short)).status, (await post(long)).status], [401, 201])
  api.clock.advance(18_999)
  assert.equal((await post(long)).status, 201)
  api.clock.advance(1)
  assert.equal((await post(long)).status, 401)
})

test('last_used_at is stored to the minute, and creation and revocation are audited', async () => {
  const orgId = await newOrganization()
  const { id } = await createTrust(api, orgId, { issuer: issuer.url })
  await post(await token())
  const minute = new Date(Math.floor(api.clock.now().getTime() / 60_000) * 60_000)
  let seen: Date | null = null
  for (let asked = 0; asked < 1000 && seen === null; asked += 1) {
    const [row] = await api.services.sql`select last_used_at from oidc_trusts where id = ${id}`
    seen = row?.last_used_at
  }
  assert.deepEqual(seen, minute)
  await revoke(id)
  await revoke(id)
  const entries = await api.services.sql`
    select action
    from audit_entries
    where org_id = ${orgId}
      and object_id = ${id}
    order by action`
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['oidc_trust.create', 'oidc_trust.revoke'],
  )
})

// The last test: the connected repository competes with the trusts of other organizations.
test('a repository of a code host on this machine is the one that a token of an issuer on it names', async () => {
  const { orgId } = await api.caller()
  await createTrust(api, orgId, { issuer: issuer.url })
  await insertConnection(api.services.sql, orgId, hostRepository({ id: '7770001', host: '127.0.0.1:9' }))
  const { run_id, sha, workflow } = githubClaims(api)
  const own = { ci_system: 'github-actions', external_run_id: run_id, commit_sha: sha, pipeline_name: workflow }
  const body = newRun({ ...own, repository: 'github.com/acme/shop' })
  const answer = await api.request('POST', '/v1/ci/runs', { key: await token(), body })
  assert.deepEqual([answer.status, answer.body.error.code], [404, 'run_not_found'])
})
