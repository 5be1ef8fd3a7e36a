import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { TrustProvider } from '../../src/access/oidc-trusts/token-job.ts'
import { explainToken } from '../../src/access/oidc-trusts/trusts/explain-token.ts'
import { PINS_OF_TRUST_MAX } from '../../src/access/oidc-trusts/trusts/trust-pin.store.ts'
import type { TrustRequest } from '../../src/access/oidc-trusts/trusts/trust-request.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { newRun } from '../support/ci-runs.ts'
import { auditOf } from '../support/gates.ts'
import { hostRepository, insertConnection } from '../support/host-objects.ts'
import { createTrust, startIssuer } from '../support/oidc-issuer.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../support/token-caller.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** An organization that trusts `acme/**`, and that has an Org admin. */
async function startPinning(trust: Partial<TrustRequest> = {}, provider: TrustProvider = 'github') {
  const byName = provider === 'github' ? { repository: 'acme/**' } : { project_path: 'acme/**' }
  const caller = await startTokenCaller(api, { provider, trust: { conditions: byName, ...trust } })
  return { caller, admin: await createPerson(api, caller) }
}

/** Reports a run of the job itself. */
async function report(caller: TokenCaller, fields: Claims = {}): Promise<Answer> {
  const claims = newRunClaims(fields)
  const address = `github.com/${fields.repository ?? 'acme/shop'}`
  return caller.send('POST', '/v1/ci/runs', ownRun(claims, { repository: address }), claims)
}

async function pinsOf({ orgId, trustId }: TokenCaller): Promise<Record<string, string>> {
  const rows = await api.services.sql<{ name: string; id: string }[]>`
    select name, id
    from trust_pins
    where org_id = ${orgId}
      and trust_id = ${trustId}`
  return Object.fromEntries(rows.map(({ name, id }) => [name, id]))
}

const SQUATTED = { repository_id: '666' }

test('401 for another repository under a pinned name, until a person who is told of it releases the name', async (t) => {
  const { caller, admin } = await startPinning()
  t.after(() => caller.close())
  assert.equal((await report(caller)).status, 201)
  assert.equal((await report(caller, { repository: 'Acme/Shop' })).status, 401)
  assert.equal((await report(caller)).status, 201)
  const refused = await report(caller, SQUATTED)
  assert.deepEqual([refused.status, refused.text], [401, '{"message":"Unauthorized"}'])

  const explained = await explainToken(api.services, caller.orgId, await caller.sign(SQUATTED))
  assert.deepEqual([explained.accepted, explained.reason, explained.job], [false, 'unmatched', null])
  assert.match(explained.details ?? '', /^github\.com\/acme\/shop had the id 7770001 when .* and has 666 now/)
  const [listed] = (await requestAs(api, admin, 'GET', '/oidc-trusts')).body.data
  assert.deepEqual(
    listed.pins.map(({ name, id, refused_id, refused_at }: Record<string, string>) => [
      name,
      id,
      refused_id,
      refused_at,
    ]),
    [
      ['github.com/acme/shop', '7770001', '666', api.clock.now().toISOString()],
      ['github.com/acme/', '5550001', null, null],
    ],
  )

  const unpin = (body: object) => requestAs(api, admin, 'POST', `/oidc-trusts/${caller.trustId}/unpin`, body)
  assertError(await unpin({ name: 'github.com/acme/other' }), 404, 'not_found')
  const released = await unpin({ name: 'github.com/acme/shop', reason: 'Moved' })
  assert.equal(released.status, 200, released.text)
  assert.deepEqual(Object.keys(await pinsOf(caller)), ['github.com/acme/'])
  assert.equal((await report(caller, SQUATTED)).status, 201)
  assert.equal((await report(caller)).status, 401)
  const [entry] = (await auditOf(api, caller, caller.trustId)).filter(({ action }) => action === 'oidc_trust.unpin')
  assert.deepEqual(entry?.details.pins, [{ name: 'github.com/acme/shop', id: '7770001' }])
  assert.equal((await unpin({})).body.data?.pins.length, 0)
})

test('401 for every repository of somebody else who has the name of the owner, which pins nothing', async (t) => {
  const { caller } = await startPinning()
  t.after(() => caller.close())
  assert.equal((await report(caller)).status, 201)
  const squatter = { repository: 'acme/fresh', repository_id: '667', repository_owner_id: '9' }
  assert.equal((await report(caller, squatter)).status, 401)
  assert.ok(!('github.com/acme/fresh' in (await pinsOf(caller))))
  const own = { repository: 'acme/fresh', repository_id: '7770002' }
  assert.equal((await report(caller, own)).status, 201)
})

test('of two first tokens at once with one name and two ids, one is accepted', async (t) => {
  const { caller } = await startPinning()
  t.after(() => caller.close())
  const answers = await Promise.all([1, 2, 3, 4].map((id) => report(caller, { repository_id: String(id) })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401, 401])
})

test('a trust test pins nothing', async (t) => {
  const { caller } = await startPinning()
  t.after(() => caller.close())
  assert.equal((await explainToken(api.services, caller.orgId, await caller.sign())).accepted, true)
  assert.deepEqual(await pinsOf(caller), {})
})

test('what the conditions state by id is not pinned', async (t) => {
  const { caller } = await startPinning({ conditions: { repository_id: ['7770001', '7770002'] } })
  t.after(() => caller.close())
  for (const repository_id of ['7770001', '7770002'])
    assert.equal((await report(caller, { repository_id })).status, 201)
  assert.deepEqual(await pinsOf(caller), {})
  const owned = await startPinning({ conditions: { repository_owner_id: '5550001', repository_id: '777*' } })
  t.after(() => owned.caller.close())
  assert.equal((await report(owned.caller)).status, 201)
  assert.deepEqual(await pinsOf(owned.caller), { 'github.com/acme/shop': '7770001' })
})

test('names that a connection knows are pinned when the trust is created', async (t) => {
  const caller = await api.caller()
  const repository = hostRepository({ id: '7770001', full_name: 'acme/shop', owner_id: '5550001' })
  await insertConnection(api.services.sql, caller.orgId, repository)
  await insertConnection(
    api.services.sql,
    (await api.caller()).orgId,
    hostRepository({ id: '4', full_name: 'acme/web' }),
  )
  const issuer = await startIssuer()
  t.after(() => issuer.close())
  const { pins } = await createTrust(api, caller.orgId, { issuer: issuer.url, conditions: { repository: 'acme/*' } })
  assert.deepEqual(
    pins.map(({ name, id }) => [name, id]),
    [
      ['github.com/acme/', '5550001'],
      ['github.com/acme/shop', '7770001'],
    ],
  )
})

test('a project of GitLab is pinned with the group above it', async (t) => {
  const { caller } = await startPinning({}, 'gitlab')
  t.after(() => caller.close())
  const send = (pipeline_id: string, claims: Claims) => {
    const body = newRun({ ci_system: 'gitlab-ci', external_run_id: pipeline_id, repository: 'gitlab.com/acme/shop' })
    const own = { ...body, commit_sha: '8fe1b322a576d59fe6257052a4107df7dc1b8c78' }
    return caller.send('POST', '/v1/ci/runs', own, { pipeline_id, ...claims })
  }
  const made = await send('1', {})
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(await pinsOf(caller), { 'gitlab.com/acme/': '68413579', 'gitlab.com/acme/shop': '46573356' })
  assert.equal((await send('2', { project_id: '1', job_project_id: '1' })).status, 401)
})

test('404 for the trust of another organization, 403 without a fresh sign-in', async (t) => {
  const { caller, admin } = await startPinning()
  t.after(() => caller.close())
  assert.equal((await report(caller)).status, 201)
  const stranger = await createPerson(api, await api.caller())
  assertError(await requestAs(api, stranger, 'POST', `/oidc-trusts/${caller.trustId}/unpin`, {}), 404, 'not_found')
  assert.equal(Object.keys(await pinsOf(caller)).length, 2)
  await api.services.sql`
    update user_sessions
    set signed_in_at = signed_in_at - interval '1 day'
    where user_id = ${admin.userId}`
  const stale = await requestAs(api, admin, 'POST', `/oidc-trusts/${caller.trustId}/unpin`, {})
  assertError(stale, 403, 'fresh_sign_in_required')
})

test('401 for a further name when a trust has pinned as many as it can', async (t) => {
  const { caller } = await startPinning()
  t.after(() => caller.close())
  assert.equal((await report(caller)).status, 201)
  await api.services.sql`
    insert into trust_pins (org_id, trust_id, name, id, pinned_at)
    select ${caller.orgId}::uuid, ${caller.trustId}::uuid, 'github.com/acme/' || n, n::text, now()
    from generate_series(1, ${PINS_OF_TRUST_MAX}) n`
  assert.equal((await report(caller, { repository: 'acme/further', repository_id: '8' })).status, 401)
  assert.equal((await report(caller)).status, 201)
})

test('the upgrade pins nothing: the next token of an older trust does', async (t) => {
  const migration = readFileSync(new URL('../../migrations/0006_trust_pins.sql', import.meta.url), 'utf8')
  assert.doesNotMatch(migration, /insert into|update /)
  const { caller } = await startPinning()
  t.after(() => caller.close())
  await api.services.sql`update oidc_trusts set audience = ${new URL(api.url).origin} where id = ${caller.trustId}`
  await api.services.sql`select pg_notify('shiplock_access', '*')`
  const claims = { aud: new URL(api.url).origin }
  assert.equal((await report(caller, claims)).status, 201)
  assert.equal((await report(caller, { ...claims, ...SQUATTED })).status, 401)
})
