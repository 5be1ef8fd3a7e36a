import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  admin = await createPerson(api, caller)
})
after(() => api?.close())

const create = (name: string, permissions: string[], person = admin) =>
  requestAs(api, person, 'POST', '/roles', { name, permissions })

test('the built-in roles come first, in their order, with their permissions and number of members', async () => {
  await create('Auditor', ['read_audit_log', 'view'])
  const { data } = (await requestAs(api, admin, 'GET', '/roles')).body
  assert.deepEqual(
    data.map(({ name }: { name: string }) => name),
    ['Viewer', 'Developer', 'Release manager', 'Security', 'Org admin', 'Auditor'],
  )
  assert.deepEqual(data[1].permissions, ['view', 'upload_security_reports'])
  assert.equal(data[4].members, 1)
  assert.deepEqual(data[5].permissions, ['view', 'read_audit_log'])
})

test('a member has the permissions of a custom role, also after it was changed', async () => {
  const role = (await create('Auditor', ['view'])).body.data
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: role.id })
  assertError(await requestAs(api, member, 'GET', '/roles'), 403, 'insufficient_permission')
  const change = { permissions: ['view', 'manage_members'] }
  const changed = await requestAs(api, admin, 'PATCH', `/roles/${role.id}`, change)
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.body.data.members, 1)
  assert.equal((await requestAs(api, member, 'GET', '/roles')).status, 200)
})

test('409 role_in_use while a member or an open invitation has the role', async () => {
  const role = (await create('Auditor', ['view'])).body.data
  const path = `/roles/${role.id}`
  const invitation = await requestAs(api, admin, 'POST', '/invitations', { email: 'a@example.com', role: role.id })
  assertError(await requestAs(api, admin, 'DELETE', path), 409, 'role_in_use')
  assert.equal((await requestAs(api, admin, 'DELETE', `/invitations/${invitation.body.data.id}`)).status, 204)
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: role.id })
  assertError(await requestAs(api, admin, 'DELETE', path), 409, 'role_in_use')
  await requestAs(api, admin, 'PATCH', `/members/${member.userId}`, { role: 'viewer' })
  assert.equal((await requestAs(api, admin, 'DELETE', path)).status, 204)
  assertError(await requestAs(api, admin, 'GET', path), 404, 'not_found')
})

test('403 for a role with a permission that one lacks, and for the role that one has', async () => {
  const manager = await createPerson(api, { ...caller, permissions: ['view', 'manage_members'] })
  assertError(await create('All', ['triage'], manager), 403, 'insufficient_permission')
  const strong = (await create('Strong', ['triage'])).body.data
  const weaker = { permissions: ['view'] }
  assertError(await requestAs(api, manager, 'PATCH', `/roles/${strong.id}`, weaker), 403, 'insufficient_permission')
  assertError(await requestAs(api, manager, 'DELETE', `/roles/${strong.id}`), 403, 'insufficient_permission')
  const [own] = (await requestAs(api, manager, 'GET', '/roles')).body.data.filter(
    ({ built_in, members }: { built_in: boolean; members: number }) => !built_in && members === 1,
  )
  assertError(await requestAs(api, manager, 'PATCH', `/roles/${own.id}`, { name: 'Mine' }), 403, 'own_membership')
})

test('409 for a taken name in any case, and for a change of a built-in role', async () => {
  await create('Auditor', ['view'])
  const other = (await create('Other', ['view'])).body.data
  assertError(await create('AUDITOR', ['view']), 409, 'role_name_taken')
  assertError(await create('viewer', ['view']), 409, 'role_name_taken')
  assertError(await requestAs(api, admin, 'PATCH', `/roles/${other.id}`, { name: 'auditor' }), 409, 'role_name_taken')
  assertError(await requestAs(api, admin, 'PATCH', '/roles/viewer', { name: 'Reader' }), 409, 'role_built_in')
  assertError(await requestAs(api, admin, 'DELETE', '/roles/viewer'), 409, 'role_built_in')
  assert.equal((await requestAs(api, admin, 'PATCH', `/roles/${other.id}`, { name: 'OTHER' })).status, 200)
})

test('a custom role of another organization is neither found nor given', async () => {
  const role = (await create('Auditor', ['view'])).body.data
  const stranger = await createPerson(api, await api.caller())
  assertError(await requestAs(api, stranger, 'GET', `/roles/${role.id}`), 404, 'not_found')
  assertError(await requestAs(api, stranger, 'PATCH', `/roles/${role.id}`, { name: 'Mine' }), 404, 'not_found')
  assertError(await requestAs(api, stranger, 'DELETE', `/roles/${role.id}`), 404, 'not_found')
  const invitation = { email: 'eve@example.com', role: role.id }
  assertError(await requestAs(api, stranger, 'POST', '/invitations', invitation), 400, 'invalid_request')
})

test('400 invalid_request for unknown, missing and no permissions', async () => {
  for (const body of [
    { name: 'a' },
    { name: 'a', permissions: [] },
    { name: 'a', permissions: ['root'] },
    { name: ' ', permissions: ['view'] },
  ])
    assertError(await requestAs(api, admin, 'POST', '/roles', body), 400, 'invalid_request')
})
