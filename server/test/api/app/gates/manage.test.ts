import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { auditOf, getDeployment, postGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let manager: Person

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  manager = await createPerson(api, { ...caller, role: 'release_manager', name: 'Grace Hopper' })
})
after(() => api?.close())

const call = (method: string, path: string, body?: unknown, person = manager) =>
  requestAs(api, person, method, `/gates${path}`, body)
const create = async (fields: object = {}): Promise<Json> => {
  const answer = await call('POST', '', { name: 'Production', environment: 'production', ...fields })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}
const open = async () => {
  const run = await createRun(api, caller)
  return postGate(api, caller, { run_id: run.id, environment: 'production' })
}

test('201 with a gate that people must approve by default; deployments require it at once', async () => {
  assertError(await open(), 409, 'gate_not_configured')
  const gate = await create({ reason: 'Releases need a second look' })
  const defaults = { repository: null, branch: null, required_approvals: 1, allow_api_keys: false, policies: [] }
  const { id, created_at, updated_at, ...settings } = gate
  assert.deepEqual(settings, {
    ...{ name: 'Production', environment: 'production', ...defaults },
    ...{ allow_run_creator: false, approve_by_policies: false, require_linked_accounts: false, version: 1 },
  })
  assert.equal(created_at, updated_at)
  assert.deepEqual((await open()).body.data.gate, { id, name: 'Production' })
  assert.deepEqual((await call('GET', '')).body.data, [{ ...gate, problems: [] }])
  assert.deepEqual((await call('GET', `/${id}`)).body.data, gate)
  const [entry] = await auditOf(api, caller, id)
  assert.deepEqual(
    [entry?.action, entry?.principal_id, entry?.reason],
    ['gate.create', manager.userId, 'Releases need a second look'],
  )
})

test('a change stores a version with who changed what and why; deployments in flight keep their rule', async () => {
  const gate = await create({ allow_api_keys: true })
  const before = (await open()).body.data.deployment_id
  api.clock.advance(1000)
  const changed = await call('PATCH', `/${gate.id}`, { required_approvals: 2, branch: null, reason: 'Four eyes' })
  assert.equal(changed.status, 200, changed.text)
  const now = api.clock.now().toISOString()
  assert.deepEqual(changed.body.data, { ...gate, required_approvals: 2, version: 2, updated_at: now })
  const after = (await open()).body.data.deployment_id
  const required = async (id: string) =>
    (await api.services.sql`select required_approvals from required_gates where deployment_id = ${id}`)[0]
      ?.required_approvals
  assert.deepEqual([await required(before), await required(after)], [1, 2])
  assert.equal((await getDeployment(api, caller, before)).status, 'pending_approval')

  const { data } = (await call('GET', `/${gate.id}/versions`)).body
  const grace = { type: 'user', id: manager.userId, name: `Grace Hopper <${manager.email}>` }
  assert.deepEqual(
    data.map(({ version, required_approvals, changed_by, reason }: Json) => [
      version,
      required_approvals,
      changed_by,
      reason,
    ]),
    [
      [2, 2, grace, 'Four eyes'],
      [1, 1, grace, null],
    ],
  )
  const [, entry] = await auditOf(api, caller, gate.id)
  assert.deepEqual(entry?.details, { version: 2, before: { required_approvals: 1 }, after: { required_approvals: 2 } })
})

test('a change of nothing stores no version', async () => {
  const gate = await create()
  api.clock.advance(1000)
  for (const body of [{}, { name: ' Production ' }, { reason: 'Why not' }])
    assert.deepEqual((await call('PATCH', `/${gate.id}`, body)).body.data, gate)
  assert.equal((await call('GET', `/${gate.id}/versions`)).body.data.length, 1)
  assert.equal((await auditOf(api, caller, gate.id)).length, 1)
})

test('409 version_conflict for all but one of several changes that are based on the same version', async () => {
  const { id } = await create()
  const answers = await Promise.all(
    [2, 3, 4, 5].map((required_approvals) => call('PATCH', `/${id}`, { required_approvals, expected_version: 1 })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
  const refused = answers.find(({ status }) => status === 409)
  assertError(refused as never, 409, 'version_conflict')
  assert.deepEqual(refused?.body.error.details, { version: 2 })
})

test('simultaneous changes without an expected version are stored one after the other', async () => {
  const { id } = await create()
  const changes = [2, 3, 4, 5].map((required_approvals) => call('PATCH', `/${id}`, { required_approvals }))
  for (const { status } of await Promise.all(changes)) assert.equal(status, 200)
  const versions = (await call('GET', `/${id}/versions`)).body.data
  assert.deepEqual(
    versions.map(({ version }: Json) => version),
    [5, 4, 3, 2, 1],
  )
  assert.equal((await call('GET', `/${id}`)).body.data.required_approvals, versions[0].required_approvals)
})

test('a deleted gate that let openers in covers no later deployment, and keeps its versions', async () => {
  const { id, name } = await create({ allow_run_creator: true })
  const before = (await open()).body.data.deployment_id
  const deleted = await call('DELETE', `/${id}?reason=Not%20used`)
  assert.deepEqual([deleted.status, deleted.body.data], [200, { id, name }])
  assertError(await open(), 409, 'gate_not_configured')
  assert.equal((await getDeployment(api, caller, before)).status, 'pending_approval')
  const versions = (await call('GET', `/${id}/versions`)).body.data
  assert.deepEqual(
    versions.map(({ version, deleted }: Json) => [version, deleted]),
    [
      [2, true],
      [1, false],
    ],
  )
  assertError(await call('GET', `/${id}`), 404, 'not_found')
  assertError(await call('DELETE', `/${id}`), 404, 'not_found')
  const actions = (await auditOf(api, caller, id)).map(({ action, reason }) => `${action} ${reason}`)
  assert.deepEqual(actions.sort(), ['gate.create null', 'gate.delete Not used'])
})

test('409 name_taken, also for a change and for parallel calls; a name can be used again after its deletion', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', '', { name: 'Twin', environment: 'production' })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
  const { id } = await create({ name: 'Other' })
  assertError(await call('PATCH', `/${id}`, { name: 'Twin' }), 409, 'name_taken')
  const twin = answers.find(({ status }) => status === 201)?.body.data
  await call('DELETE', `/${twin.id}`)
  assert.equal((await call('PATCH', `/${id}`, { name: 'Twin' })).status, 200)
})

test('400 invalid_request for settings that a gate cannot have, when it is created and when it is changed', async () => {
  const { id } = await create()
  for (const fields of [
    { environment: '(a+)+*' },
    { environment: '' },
    { repository: 'x'.repeat(201) },
    { required_approvals: 0 },
    { required_approvals: 21 },
    { required_approvals: 1.5 },
    { required_approvals: null },
    { name: '\u0007bell' },
    { name: ' ' },
    { policies: Array.from({ length: 21 }, (_, nth) => `p${nth}`) },
    { allow_api_keys: 'yes' },
    { version: 7 },
  ]) {
    assertError(await call('PATCH', `/${id}`, fields), 400, 'invalid_request')
    const body = { name: 'New', environment: 'production', ...fields }
    assertError(await call('POST', '', body), 400, 'invalid_request')
  }
  assert.equal((await call('GET', '')).body.data.length, 1)
})

test("404 not_found for another organization's gate, which does not change", async () => {
  const { id } = await create()
  const stranger = await createPerson(api, await api.caller())
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { required_approvals: 2 }],
    ['DELETE', ''],
    ['GET', '/versions'],
  ] as const)
    assertError(await call(method, `/${id}${path}`, body, stranger), 404, 'not_found')
  assert.equal((await call('GET', `/${id}`)).body.data.version, 1)
})

test('every viewer can read gates, and only the permission manage_gates changes them', async () => {
  const { id } = await create()
  const security = await createPerson(api, { ...caller, role: 'security' })
  assert.equal((await call('GET', `/${id}/versions`, undefined, security)).status, 200)
  for (const [method, path] of [
    ['POST', ''],
    ['PATCH', `/${id}`],
    ['DELETE', `/${id}`],
  ] as const)
    assertError(
      await call(method, path, method === 'DELETE' ? undefined : {}, security),
      403,
      'insufficient_permission',
    )
})

test('the list says of each gate why it cannot be approved as it was meant', async () => {
  const problemsOf = async (id: string) =>
    (await call('GET', '')).body.data.find((gate: Json) => gate.id === id).problems as string[]
  const gate = await create({ policies: ['gone'], approve_by_policies: true })
  assert.deepEqual(await problemsOf(gate.id), ['waits for people, because the policy gone does not exist'])
  const strict = await create({ name: 'Strict', environment: 'strict', required_approvals: 3 })
  assert.deepEqual(await problemsOf(strict.id), ['can be answered by too few people'])
  const open = await create({ name: 'Open', environment: 'open' })
  assert.deepEqual(await problemsOf(open.id), [])
})
