import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PERMISSIONS } from '../../../../src/access/role.ts'
import { SCOPE_PERMISSIONS, SCOPES } from '../../../../src/access/scopes.ts'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import type { Tx } from '../../../../src/platform/db/sql.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { auditOf } from '../../../support/gates.ts'
import { createPerson, duringMemberChange, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  admin = await createPerson(api, caller)
})
after(() => api?.close())

const post = (person: Person, body: unknown) => requestAs(api, person, 'POST', '/api-keys', body)
const revoke = (person: Person, id: string, body?: unknown) =>
  requestAs(api, person, 'POST', `/api-keys/${id}/revoke`, body)

async function list(person: Person) {
  return (await requestAs(api, person, 'GET', '/api-keys')).body.data
}

test('201 with the key, which is shown once and works at once; the list names its creator', async () => {
  const created = await post(admin, { name: ' CI ', scopes: ['write:ci', 'read:pipelines'], reason: 'New pipeline' })
  assert.equal(created.status, 201, created.text)
  const { key, ...shown } = created.body.data
  assert.deepEqual([shown.name, shown.scopes, shown.environment], ['CI', ['read:pipelines', 'write:ci'], 'production'])
  assert.deepEqual([shown.created_by, shown.created_by_user_id], [`${admin.name} <${admin.email}>`, admin.userId])
  assert.equal((await api.request('GET', '/v1/runs', { key })).status, 200)
  assert.equal((await api.request('GET', '/v1/deployments', { key })).status, 403)
  const listed = (await list(admin)).find(({ id }: { id: string }) => id === shown.id)
  assert.deepEqual({ ...listed, last_used_at: null }, shown)
  assert.ok(!JSON.stringify(await list(admin)).includes(key.slice(9)))
  const [entry] = await auditOf(api, caller, shown.id)
  assert.deepEqual(
    [entry?.principal_type, entry?.principal_id, entry?.action, entry?.reason],
    ['user', admin.userId, 'api_key.create', 'New pipeline'],
  )
  assert.ok(!JSON.stringify(entry).includes(key.slice(9)))
})

test('a key of a person expires, and a revoked key is rejected at once; revoking again changes nothing', async () => {
  const expires_at = new Date(api.clock.now().getTime() + DAY_MS).toISOString()
  const { id, key } = (await post(admin, { name: 'k', scopes: ['read:pipelines'], expires_at })).body.data
  assert.equal((await api.request('GET', '/v1/runs', { key })).status, 200)
  api.clock.advance(1000)
  const revoked = await revoke(admin, id, { reason: 'Leaked' })
  assert.equal(revoked.body.data.revoked_at, api.clock.now().toISOString())
  assert.equal(revoked.body.data.expires_at, expires_at)
  const giveUp = AbortSignal.timeout(2000)
  while ((await api.request('GET', '/v1/runs', { key })).status !== 401) giveUp.throwIfAborted()
  api.clock.advance(1000)
  assert.deepEqual((await revoke(admin, id)).body.data.revoked_at, revoked.body.data.revoked_at)
  const actions = (await auditOf(api, caller, id)).map(({ action, reason }) => [action, reason])
  assert.deepEqual(actions, [
    ['api_key.create', null],
    ['api_key.revoke', 'Leaked'],
  ])
})

test('400 invalid_request for names, scopes and times that a key cannot have', async () => {
  const key = { name: 'k', scopes: ['read:pipelines'] }
  const at = (ms: number) => new Date(api.clock.now().getTime() + ms).toISOString()
  for (const body of [
    {},
    { ...key, name: '   ' },
    { ...key, name: 'x'.repeat(101) },
    { ...key, scopes: [] },
    { ...key, scopes: ['admin'] },
    { ...key, expires_at: at(0) },
    { ...key, expires_at: at(3651 * DAY_MS) },
    { ...key, expires_at: 'tomorrow' },
    { ...key, environment: 'staging' },
    { ...key, created_by: 'somebody else' },
  ])
    assertError(await post(admin, body), 400, 'invalid_request')
})

test('403 insufficient_permission for every scope whose permission the role lacks, and for no other', async () => {
  for (const scope of SCOPES) {
    const needed = SCOPE_PERMISSIONS[scope]
    const others = PERMISSIONS.filter((permission) => permission !== needed)
    const body = { name: scope, scopes: [scope] }
    const permitted = await createPerson(api, { ...caller, permissions: ['manage_integrations', needed] })
    assert.equal((await post(permitted, body)).status, 201, scope)
    if (needed === 'manage_integrations') continue
    const refused = await post(await createPerson(api, { ...caller, permissions: others }), body)
    assertError(refused, 403, 'insufficient_permission')
    assert.deepEqual(refused.body.error.details, { requiredPermission: needed, scope })
  }
})

test('403 for a key that a person creates while their role is changed or their account is disabled', async () => {
  const changes = [
    (tx: Tx, { userId }: Person) => tx`update members set built_in_role = 'viewer' where user_id = ${userId}`,
    (tx: Tx, { userId }: Person) => tx`update members set disabled_at = now() where user_id = ${userId}`,
  ]
  for (const change of changes) {
    const person = await createPerson(api, caller)
    const answer = await duringMemberChange(
      api,
      (tx) => change(tx, person),
      () => post(person, { name: 'late', scopes: ['write:ci'] }),
    )
    assertError(answer, 403, 'insufficient_permission')
  }
})

test('403 fresh_sign_in_required to create and to revoke a key 15 minutes after the sign-in, but not to list', async () => {
  const stale = await createPerson(api, caller)
  await api.services.sql`
    update user_sessions
    set signed_in_at = ${new Date(api.clock.now().getTime() - 16 * 60_000)}
    where user_id = ${stale.userId}`
  assertError(await post(stale, { name: 'k', scopes: ['write:ci'] }), 403, 'fresh_sign_in_required')
  assertError(await revoke(stale, caller.keyId), 403, 'fresh_sign_in_required')
  assert.ok(Array.isArray(await list(stale)))
})

test("404 not_found to revoke another organization's key, which keeps working, and for what is no id", async () => {
  const other = await api.caller()
  const answers = [await revoke(admin, other.keyId), await revoke(admin, crypto.randomUUID()), await revoke(admin, 'x')]
  for (const answer of answers) {
    assertError(answer, 404, 'not_found')
    assert.equal(answer.text, answers[0]?.text)
  }
  assert.equal((await api.request('GET', '/v1/runs', { key: other.key })).status, 200)
})

test('409 too_many_api_keys at 1,000 keys in use, exactly, also with parallel calls', async () => {
  const own = await api.caller()
  const person = await createPerson(api, own)
  await api.services.sql`
    insert into api_keys (org_id, id, name, key_sha256, environment, scopes, created_by, created_at, expires_at)
    select ${own.orgId}, gen_random_uuid(), 'many', sha256(convert_to(${own.orgId} || nth::text, 'UTF8')), 'production',
      array['write:ci'], 'test', ${api.clock.now()}, case when nth > 997 then ${api.clock.now()}::timestamptz end
    from generate_series(1, 1100) nth`
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, nth) => post(person, { name: `k${nth}`, scopes: ['write:ci'] })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409])
  for (const answer of answers.filter(({ status }) => status === 409)) assertError(answer, 409, 'too_many_api_keys')
})
