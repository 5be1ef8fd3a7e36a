import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import { explainToken } from '../../src/access/oidc-trusts/trusts/explain-token.ts'
import { revokeTrust } from '../../src/access/oidc-trusts/trusts/manage-trusts.ts'
import { insertTrust, type NewTrust } from '../../src/access/oidc-trusts/trusts/trust.store.ts'
import { OPERATOR } from '../../src/audit/audit.store.ts'
import { insertOrganization, lockOrganizations } from '../../src/organizations/organization.store.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { newRun } from '../support/ci-runs.ts'
import { hostRepository, insertConnection } from '../support/host-objects.ts'
import { createTrust, githubClaims, type Issuer, startIssuer } from '../support/oidc-issuer.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { until } from '../support/until.ts'

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
const origin = () => new URL(api.url).origin
const audienceOf = ({ slug }: Caller) => `${origin()}/${slug}`

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

/** A trust of an earlier version, or one from before there were other organizations. */
function insertOlderTrust({ orgId }: Caller, audience: string, fields: Partial<NewTrust> = {}): Promise<string> {
  const id = createUuid(api.clock.now())
  return api.services.sql.begin(async (tx) => {
    await insertTrust(tx, orgId, {
      ...{ id, name: 'older', issuer: issuer.url, audience, provider: 'github', scopes: ['write:ci'] },
      ...{
        conditions: { repository: 'acme/shop' },
        trusted_events: [],
        self_hosted: false,
        speaks_for: [],
        as: 'uploaded' as const,
      },
      ...{ created_by: 'test', created_by_user_id: null, created_at: api.clock.now(), expires_at: null, ...fields },
    })
    return id
  })
}

test('a trust of another organization never refuses mine: each gets the tokens for its audience', async () => {
  const [attacker, other] = [await api.caller(), await api.caller()]
  const takes = { conditions: { repository_id: '7770001' }, audience: null }
  await createTrust(api, attacker.orgId, { issuer: issuer.url, ...takes })
  const { audience } = await createTrust(api, other.orgId, { issuer: issuer.url, audience: null })
  assert.equal(audience, audienceOf(other))
  for (const caller of [attacker, other]) {
    const { status, body, text } = await post(await token({ aud: audienceOf(caller), jti: caller.slug }))
    assert.equal(status, 201, text)
    assert.equal((await api.request('GET', `/v1/runs/${body.data.id}`, { key: caller.key })).status, 200)
  }
})

test('a token that names two organizations is refused, and one that names one is not, whatever else it names', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  for (const { orgId } of [one, other]) await createTrust(api, orgId, { issuer: issuer.url, audience: null })
  assert.equal((await post(await token({ aud: [audienceOf(one), audienceOf(other)] }))).status, 401)
  await insertOlderTrust(other, origin())
  assert.equal((await post(await token({ aud: [origin(), audienceOf(one)], jti: '2' }))).status, 201)
  const many = [audienceOf(one), ...Array.from({ length: 10 }, (_, nth) => `audience ${nth}`)]
  assert.equal((await post(await token({ aud: many, jti: '3' }))).status, 401)
})

test('a trust whose audience is that of another organization lets nothing in', async () => {
  const [attacker, victim] = [await api.caller(), await api.caller()]
  await insertOlderTrust(attacker, audienceOf(victim))
  const key = await token({ aud: audienceOf(victim) })
  assert.equal((await post(key)).status, 401)
  await createTrust(api, victim.orgId, { issuer: issuer.url, audience: null })
  await untilStatus(api, key, 201)
})

test('400 for people with any audience but that of their organization, 400 for the operator with the bare origin', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  const admin = await createPerson(api, one)
  const wanted = { name: 'shop', issuer: issuer.url, provider: 'github', scopes: ['write:ci'] }
  const body = { ...wanted, conditions: { repository: 'acme/shop' } }
  const create = (audience?: string) => requestAs(api, admin, 'POST', '/oidc-trusts', { ...body, audience })
  for (const audience of [origin(), audienceOf(other), 'api://AzureADTokenExchange', `${audienceOf(one)}/`]) {
    const refused = await create(audience)
    assertError(refused, 400, 'invalid_request')
    assert.deepEqual(refused.body.error.details.errors[0].path, '/body/audience')
    assert.ok(refused.text.includes(`must be ${audienceOf(one)}`), refused.text)
  }
  for (const audience of [undefined, audienceOf(one)]) {
    const made = await create(audience)
    assert.deepEqual([made.status, made.body.data?.audience], [201, audienceOf(one)], made.text)
  }
  const settings = await requestAs(api, admin, 'GET', '')
  assert.equal(settings.body.data?.job_audience, audienceOf(one), settings.text)
  for (const audience of [origin(), `${origin()}/`, audienceOf(other)])
    await assert.rejects(
      createTrust(api, one.orgId, { issuer: issuer.url, audience }),
      /does not name the organization/,
    )
  await createTrust(api, one.orgId, { issuer: issuer.url, audience: 'api://AzureADTokenExchange' })
})

test('an older trust for the bare origin works while one organization matches, then neither does', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  await insertOlderTrust(one, origin())
  const key = await token({ aud: origin() })
  assert.equal((await post(key)).status, 201)
  assert.equal((await post(await token({ aud: origin(), repository: 'evil/shop' }))).status, 401)

  await insertOlderTrust(other, origin(), { conditions: { repository_owner: 'acme' } })
  await untilStatus(api, key, 401)
  assert.equal((await post(await token({ aud: origin(), jti: '3' }))).text, '{"message":"Unauthorized"}')
  const { reason, details } = await explainToken(api.services, one.orgId, key)
  assert.equal(reason, 'invalid')
  assert.match(
    details ?? '',
    new RegExp(`does not say which organization.*Create a trust with the audience ${audienceOf(one)}`),
  )
  assert.ok(!details?.includes(other.orgId))
})

test('trust test says nothing of the trusts of others', async () => {
  const [one, other, stranger] = [await api.caller(), await api.caller(), await newOrganization()]
  await createTrust(api, one.orgId, { issuer: issuer.url, audience: 'agreed' })
  await createTrust(api, other.orgId, {
    issuer: issuer.url,
    audience: 'agreed',
    conditions: { repository: 'acme/web' },
  })
  const explain = async (orgId: string, claims: Claims) => {
    const { accepted, reason, details } = await explainToken(api.services, orgId, await token(claims))
    return [accepted, reason, details]
  }
  const web = { aud: 'agreed', repository: 'acme/web' }
  assert.deepEqual((await explain(one.orgId, web)).slice(0, 2), [false, 'unmatched'])
  const before = issuer.requests.length
  const unknown = await explain(stranger, web)
  assert.deepEqual(unknown.slice(0, 2), [false, 'invalid'])
  assert.equal(unknown[2], `No trust has the issuer "${issuer.url}" and the audience "agreed".`)
  assert.equal(issuer.requests.length, before)
})

test('a trust for the bare origin waits for an organization that is being created, and is refused then', async () => {
  const alone = await startTestApi()
  try {
    const { orgId } = await alone.caller()
    const { sql, clock } = alone.services
    const wanted = { issuer: issuer.url, audience: new URL(alone.url).origin }
    const waiting = await sql.begin(async (tx) => {
      await lockOrganizations(tx)
      const trust = createTrust(alone, orgId, wanted).catch(String)
      const later = { id: createUuid(clock.now()), slug: 'later', name: 'later', plan: 'enterprise' }
      await until('the trust waits', 10_000, async () => {
        const waiting = await sql`
          select from pg_stat_activity
          where datname = current_database()
            and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
      await insertOrganization(tx, later, clock.now())
      return { trust }
    })
    assert.match(String(await waiting.trust), /does not name the organization/)
  } finally {
    await alone.close()
  }
})

test('with one organization the audience is the origin unless another is given', async () => {
  const alone = await startTestApi()
  try {
    const caller = await alone.caller()
    const admin = await createPerson(alone, caller)
    const bare = new URL(alone.url).origin
    const wanted = { name: 'shop', issuer: issuer.url, provider: 'github', scopes: ['write:ci'] }
    for (const [audience, expected] of [
      [undefined, bare],
      ['anything', 'anything'],
    ]) {
      const body = { ...wanted, conditions: { repository: 'acme/shop' }, audience }
      const made = await requestAs(alone, admin, 'POST', '/oidc-trusts', body)
      assert.deepEqual([made.status, made.body.data?.audience], [201, expected], made.text)
    }
  } finally {
    await alone.close()
  }
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
