import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** Every test has its own organization with one Org admin. */
async function newOrganization() {
  caller = await api.caller()
  admin = await createPerson(api, { ...caller, name: 'Grace Hopper' })
}

const membersOf = async (person: Person, query = '') =>
  (await requestAs(api, person, 'GET', `/members${query}`)).body.data

test('the members are listed newest first, filtered by text, role and status, in pages', async () => {
  await newOrganization()
  api.clock.advance(1000)
  const viewer = await createPerson(api, { ...caller, role: 'viewer', name: 'Ada 100%' })
  const all = await membersOf(admin)
  assert.deepEqual(
    all.map(({ user_id }: { user_id: string }) => user_id),
    [viewer.userId, admin.userId],
  )
  assert.deepEqual(all[1], {
    user_id: admin.userId,
    email: admin.email,
    name: 'Grace Hopper',
    role: 'org_admin',
    role_name: 'Org admin',
    status: 'active',
    disabled_at: null,
    joined_at: all[1].joined_at,
    provider_accounts: [],
  })
  const idsOf = async (query: string) =>
    (await membersOf(admin, query)).map((member: Person['userId'] & { user_id: string }) => member.user_id)
  assert.deepEqual(await idsOf('?search=hopper'), [admin.userId])
  assert.deepEqual(await idsOf('?search=%25'), [viewer.userId])
  assert.deepEqual(await idsOf('?search=_'), [])
  assert.deepEqual(await idsOf('?role=viewer'), [viewer.userId])
  assert.deepEqual(await idsOf('?role=developer'), [])
  assert.deepEqual(await idsOf('?status=disabled'), [])
  const first = (await requestAs(api, admin, 'GET', '/members?limit=1')).body
  const second = (await requestAs(api, admin, 'GET', `/members?limit=1&cursor=${first.next_cursor}`)).body
  assert.deepEqual([first.data[0].user_id, second.data[0].user_id], [viewer.userId, admin.userId])
  assert.equal(second.next_cursor, null)
})

test('members stay listed when they joined before the data retention of the plan', async () => {
  await newOrganization()
  await api.services.sql`update members set created_at = '2001-01-01' where org_id = ${caller.orgId}`
  assert.equal((await membersOf(admin)).length, 1)
})

test('a changed role takes effect with the next request of the same session', async () => {
  await newOrganization()
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  assertError(await requestAs(api, member, 'GET', '/members'), 403, 'insufficient_permission')
  const answer = await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: 'org_admin' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data.role, 'org_admin')
  assert.equal((await requestAs(api, member, 'GET', '/members')).status, 200)
  assertInvalid(await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: 'nobody' }), '/body/role')
})

test('a disabled and a removed member lose access at once, and an enabled one has it again', async () => {
  await newOrganization()
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  const disabled = await requestAs(api, admin, 'POST', `/members/${member.userId}/disable`)
  assert.equal(disabled.body.data.status, 'disabled')
  assert.deepEqual((await membersOf(admin, '?status=disabled')).length, 1)
  assertError(await requestAs(api, member, 'GET', '/runs'), 404, 'not_found')
  assert.equal((await requestAs(api, admin, 'POST', `/members/${member.userId}/enable`)).body.data.status, 'active')
  assert.equal((await requestAs(api, member, 'GET', '/runs')).status, 200)
  assert.equal((await requestAs(api, admin, 'DELETE', `/members/${member.userId}`)).status, 204)
  assertError(await requestAs(api, member, 'GET', '/runs'), 404, 'not_found')
  assertError(await requestAs(api, admin, 'DELETE', `/members/${member.userId}`), 404, 'not_found')
})

test('403 own_membership for whoever changes, disables or removes themselves', async () => {
  await newOrganization()
  await createPerson(api, caller)
  const own = `/members/${admin.userId}`
  assertError(await requestAs(api, admin, 'PATCH', own, { role: 'viewer' }), 403, 'own_membership')
  assertError(await requestAs(api, admin, 'POST', `${own}/disable`), 403, 'own_membership')
  assertError(await requestAs(api, admin, 'DELETE', own), 403, 'own_membership')
})

test('403 insufficient_permission for giving a permission that one lacks, and for acting on a member who has one', async () => {
  await newOrganization()
  const manager = await createPerson(api, { ...caller, permissions: ['view', 'manage_members'] })
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  const target = `/members/${member.userId}`
  const given = await requestAs(api, manager, 'PATCH', target, { role: 'developer' })
  assert.equal(assertError(given, 403, 'insufficient_permission').requiredPermission, 'upload_security_reports')
  for (const [method, path] of [
    ['DELETE', `/members/${admin.userId}`],
    ['POST', `/members/${admin.userId}/disable`],
  ] as const)
    assertError(await requestAs(api, manager, method, path), 403, 'insufficient_permission')
  const invited = await requestAs(api, manager, 'POST', '/invitations', { email: 'eve@example.com', role: 'org_admin' })
  assertError(invited, 403, 'insufficient_permission')
  assert.equal((await requestAs(api, manager, 'DELETE', target)).status, 204)
})

test('409 last_org_admin: of two admins who remove each other at once, one remains', async () => {
  await newOrganization()
  const other = await createPerson(api, caller)
  const answers = await Promise.all([
    requestAs(api, admin, 'DELETE', `/members/${other.userId}`),
    requestAs(api, other, 'DELETE', `/members/${admin.userId}`),
  ])
  assert.equal(answers.filter(({ status }) => status === 204).length, 1)
  const [left] = await api.services.sql<{ count: number }[]>`
    select count(*) as count from members where org_id = ${caller.orgId}`
  assert.equal(left?.count, 1)
})

test('409 last_org_admin when a role with all permissions takes the role of the only Org admin', async () => {
  await newOrganization()
  const { PERMISSIONS } = await import('../../../../src/access/role.ts')
  const peer = await createPerson(api, { ...caller, permissions: PERMISSIONS })
  const target = `/members/${admin.userId}`
  assertError(await requestAs(api, peer, 'PATCH', target, { role: 'viewer' }), 409, 'last_org_admin')
  assertError(await requestAs(api, peer, 'POST', `${target}/disable`), 409, 'last_org_admin')
  assertError(await requestAs(api, peer, 'DELETE', target), 409, 'last_org_admin')
})

test('changes of members require a fresh sign-in', async () => {
  await newOrganization()
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  api.clock.advance(16 * 60_000)
  const answer = await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: 'developer' })
  assertError(answer, 403, 'fresh_sign_in_required')
})

test('members and roles of another organization are not found', async () => {
  await newOrganization()
  const [first, foreign] = [admin, await createPerson(api, await api.caller())]
  for (const [method, path, body] of [
    ['GET', `/members/${foreign.userId}`],
    ['PATCH', `/members/${foreign.userId}`, { role: 'viewer' }],
    ['POST', `/members/${foreign.userId}/disable`],
    ['DELETE', `/members/${foreign.userId}`],
  ] as const)
    assertError(await requestAs(api, first, method, path, body), 404, 'not_found')
})

test('every change is recorded with the person in the audit log', async () => {
  await newOrganization()
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: 'security' })
  const [entry] = await api.services.sql`
    select principal_type, principal_id, principal_name, object_type, object_id, details
    from audit_entries
    where org_id = ${caller.orgId} and action = 'member.change_role'`
  assert.deepEqual(entry, {
    principal_type: 'user',
    principal_id: admin.userId,
    principal_name: 'Grace Hopper',
    object_type: 'user',
    object_id: member.userId,
    details: { email: member.email, from: 'viewer', to: 'security' },
  })
})

test('a login at a code host belongs to one member, and members cannot change their own', async () => {
  await newOrganization()
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  const path = ({ userId }: Person) => `/members/${userId}/provider-accounts/github`
  const answer = await requestAs(api, admin, 'PUT', path(member), { login: 'Ada' })
  assert.deepEqual(answer.body.data.provider_accounts, [{ provider: 'github', login: 'Ada' }])
  assertError(await requestAs(api, admin, 'PUT', path(admin), { login: 'ada' }), 409, 'provider_account_taken')
  assert.equal((await requestAs(api, admin, 'PUT', path(admin), { login: 'grace' })).status, 200)
  assertError(await requestAs(api, admin, 'PUT', path(admin), { login: 'nobody' }), 403, 'own_membership')
  assertError(await requestAs(api, admin, 'DELETE', path(admin)), 403, 'own_membership')
  assert.equal((await requestAs(api, admin, 'DELETE', path(member))).status, 204)
})

test('400 invalid_request for a name of the organization that is not one line of text', async () => {
  for (const name of [' ', 'Acme\n\nPay here', 'Acme\u202e'])
    assertError(await requestAs(api, admin, 'PATCH', '', { name }), 400, 'invalid_request')
})

test('the organization is renamed by who manages members, and read by everybody', async () => {
  await newOrganization()
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  assertError(await requestAs(api, viewer, 'PATCH', '', { name: 'Acme' }), 403, 'insufficient_permission')
  assert.equal((await requestAs(api, admin, 'PATCH', '', { name: ' Acme ' })).body.data.name, 'Acme')
  assert.equal((await requestAs(api, viewer, 'GET', '')).body.data.name, 'Acme')
})
