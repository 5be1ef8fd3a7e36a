import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { newRun } from '../../../support/ci-runs.ts'
import { auditOf } from '../../../support/gates.ts'
import { githubClaims, type Issuer, startIssuer } from '../../../support/oidc-issuer.ts'
import { createPerson, duringMemberChange, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let issuer: Issuer
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
  issuer = await startIssuer()
  caller = await api.caller()
  await api.caller()
  admin = await createPerson(api, caller)
})
after(async () => {
  await issuer?.close()
  await api?.close()
})

const post = (person: Person, body: unknown) => requestAs(api, person, 'POST', '/oidc-trusts', body)
const newTrust = (fields: object = {}) => ({
  ...{ name: 'shop', issuer: issuer.url, provider: 'github', scopes: ['write:ci'] },
  conditions: { repository: 'acme/shop', ref: ['refs/heads/*', 'refs/tags/*'] },
  ...fields,
})
const audienceOf = ({ slug }: Caller) => `${api.url}/${slug}`
const token = (claims = {}, of = caller) => issuer.sign(githubClaims(api, { aud: audienceOf(of), ...claims }))
const report = async (key: string) =>
  (await api.request('POST', '/v1/ci/runs', { key, body: newRun({ repository: 'github.com/acme/shop' }) })).status

test('201 with a trust whose tokens are accepted until it is revoked', async () => {
  const created = await post(admin, newTrust({ reason: 'Jobs of the shop' }))
  assert.equal(created.status, 201, created.text)
  const { id, ...trust } = created.body.data
  assert.deepEqual(
    [trust.audience, trust.created_by_user_id, trust.provider],
    [audienceOf(caller), admin.userId, 'github'],
  )
  assert.deepEqual(trust.conditions, { repository: 'acme/shop', ref: ['refs/heads/*', 'refs/tags/*'] })
  const key = await token()
  assert.equal(await report(key), 201)
  const [listed] = (await requestAs(api, admin, 'GET', '/oidc-trusts')).body.data
  const { pins, ...fields } = listed
  assert.deepEqual({ ...fields, last_used_at: null, pins: [] }, created.body.data)
  assert.deepEqual(
    pins.map((pin: { name: string }) => pin.name),
    ['github.com/acme/', 'github.com/acme/shop'],
  )

  api.clock.advance(1000)
  const revoked = await requestAs(api, admin, 'POST', `/oidc-trusts/${id}/revoke`, { reason: 'The shop has moved' })
  assert.equal(revoked.body.data.revoked_at, api.clock.now().toISOString())
  const giveUp = AbortSignal.timeout(2000)
  while ((await report(key)) !== 401) giveUp.throwIfAborted()
  const entries = (await auditOf(api, caller, id)).map(({ action, reason, principal_id }) => [
    action,
    reason,
    principal_id,
  ])
  assert.deepEqual(entries, [
    ['oidc_trust.create', 'Jobs of the shop', admin.userId],
    ['oidc_trust.revoke', 'The shop has moved', admin.userId],
  ])
})

test('201 with the events and runners that the trust counts as verified, which the audit log names', async () => {
  const plain = await post(admin, newTrust({ conditions: { repository: 'acme/plain' } }))
  assert.deepEqual([plain.body.data?.trusted_events, plain.body.data?.self_hosted], [[], false], plain.text)
  const terms = { trusted_events: ['repository_dispatch'], self_hosted: true }
  const { status, body, text } = await post(admin, newTrust({ conditions: { repository: 'acme/events' }, ...terms }))
  assert.equal(status, 201, text)
  assert.deepEqual([body.data.trusted_events, body.data.self_hosted], [['repository_dispatch'], true])
  const [entry] = await auditOf(api, caller, body.data.id)
  assert.deepEqual([entry?.details.trusted_events, entry?.details.self_hosted], [['repository_dispatch'], true])
  for (const trusted_events of [['Push'], ['a b'], Array.from('abcdefghijklmnopqrstu')])
    assert.equal((await post(admin, newTrust({ trusted_events }))).status, 400)
})

test('only an Org admin lets jobs speak for other repositories, and the audit log says so', async () => {
  const terms = { speaks_for: ['acme/*'], as: 'verified' }
  const person = await createPerson(api, { ...caller, permissions: ['manage_integrations'] })
  const refused = await post(person, newTrust({ scopes: ['write:ci'], ...terms }))
  assertError(refused, 403, 'insufficient_permission')
  assert.equal(refused.body.error.details.requiredPermission, 'manage_members')
  const { status, body, text } = await post(admin, newTrust(terms))
  assert.equal(status, 201, text)
  assert.deepEqual([body.data.speaks_for, body.data.as], [['acme/*'], 'verified'])
  const [entry] = await auditOf(api, caller, body.data.id)
  assert.deepEqual([entry?.details.speaks_for, entry?.details.as], [['acme/*'], 'verified'])
  for (const fields of [
    { as: 'verified' },
    { as: 'key', speaks_for: ['acme/*'] },
    { speaks_for: ['   '] },
    { speaks_for: Array.from({ length: 51 }, (_, at) => `acme/${at}`) },
  ])
    assertError(await post(admin, newTrust(fields)), 400, 'invalid_request')
})

test('a test shows whether a token is accepted, and every condition beside its claim', async () => {
  const of = await api.caller()
  const own = await createPerson(api, of)
  const { id } = (await post(own, newTrust({ conditions: { repository: 'globex/app', ref: 'refs/heads/*' } }))).body
    .data
  const explain = async (given: string) =>
    (await requestAs(api, own, 'POST', '/oidc-trusts/test', { token: given })).body.data
  const claims = { repository: 'globex/app', repository_owner: 'globex' }
  const good = await explain(`${await token(claims, of)}\n`)
  assert.deepEqual([good.accepted, good.reason, good.trust], [true, null, { id, name: 'shop' }])
  assert.equal(good.job.repository.address, 'github.com/globex/app')
  const bad = await explain(await token({ ...claims, ref: 'refs/pull/7/merge' }, of))
  assert.deepEqual([bad.accepted, bad.reason, bad.trust, bad.job], [false, 'unmatched', null, null])
  const { conditions, audience } = bad.trusts[0]
  const [ref] = conditions.filter(({ claim }: { claim: string }) => claim === 'ref')
  assert.deepEqual(ref, { claim: 'ref', expected: ['refs/heads/*'], seen: ['refs/pull/7/merge'], matches: false })
  assert.equal(audience.matches, true)
  const none = await explain('no token')
  assert.deepEqual([none.accepted, none.reason], [false, 'invalid'])
  const other = await createPerson(api, await api.caller())
  const foreign = await requestAs(api, other, 'POST', '/oidc-trusts/test', { token: await token(claims, of) })
  assert.deepEqual([foreign.body.data.accepted, foreign.body.data.trusts], [false, []])
  assert.ok(!foreign.text.includes(id))
})

test('201 for whatever another organization trusts, whose trusts nothing tells', async () => {
  const [one, other] = [await createPerson(api, await api.caller()), await createPerson(api, await api.caller())]
  const { id } = (await post(one, newTrust({ conditions: { repository: 'initech/secret-project' } }))).body.data
  const made = await post(other, newTrust({ conditions: { repository: 'initech/*' } }))
  assert.equal(made.status, 201, made.text)
  assert.ok(!made.text.includes(id) && !made.text.includes('secret-project'))
})

test('400 invalid_request for what cannot be trusted, and for scopes that a trust cannot have', async () => {
  for (const fields of [
    { issuer: 'http://issuer.example' },
    { issuer: 'http://169.254.169.254' },
    { issuer: 'https://issuer.example?x=1' },
    { issuer: 'file:///etc/passwd' },
    { conditions: {} },
    { conditions: { repository: '*' } },
    { conditions: { repository: [] } },
    { conditions: { repository: 1 } },
    { scopes: ['read:security'] },
    { scopes: [] },
    { name: ' ' },
    { expires_at: api.clock.now().toISOString() },
  ])
    assertError(await post(admin, newTrust(fields)), 400, 'invalid_request')
})

test('403 insufficient_permission for a scope whose permission the role lacks', async () => {
  const person = await createPerson(api, { ...caller, permissions: ['manage_integrations'] })
  const refused = await post(person, newTrust({ scopes: ['write:ci', 'write:security-findings'] }))
  assertError(refused, 403, 'insufficient_permission')
  assert.equal(refused.body.error.details.requiredPermission, 'upload_security_reports')
})

test('403 for a trust that a person creates while their role is changed', async () => {
  const person = await createPerson(api, caller)
  const answer = await duringMemberChange(
    api,
    (tx) => tx`update members set built_in_role = 'viewer' where user_id = ${person.userId}`,
    () => post(person, newTrust({ conditions: { repository: 'acme/late' } })),
  )
  assertError(answer, 403, 'insufficient_permission')
})

test("404 not_found to revoke another organization's trust", async () => {
  const owner = await createPerson(api, await api.caller())
  const { id } = (await post(owner, newTrust({ conditions: { repository: 'hooli/box' } }))).body.data
  assertError(await requestAs(api, admin, 'POST', `/oidc-trusts/${id}/revoke`, {}), 404, 'not_found')
  const [trust] = (await requestAs(api, owner, 'GET', '/oidc-trusts')).body.data
  assert.equal(trust.revoked_at, null)
})
