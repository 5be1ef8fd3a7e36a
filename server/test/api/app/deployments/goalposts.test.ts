import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Permission } from '../../../../src/access/role.ts'
import { HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { answerWithKey, auditOf, configureGate, getDeployment, openGate, REASON } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, ownCredential, type Person, requestAs, signIn } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const policy = (expression: string) => `
name: Tests
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: tests
    name: Tests have passed
    expression: '${expression}'
`

const manager = () => createPerson(api, { ...caller, role: 'release_manager' })
const withPermissions = (...permissions: Permission[]) => createPerson(api, { ...caller, permissions })

type GateFields = NonNullable<Parameters<typeof configureGate>[2]>
const configure = (fields: GateFields = {}) => configureGate(api, caller, { allowRunCreator: false, ...fields })

async function open(): Promise<string> {
  const run = await createRun(api, caller)
  return (await openGate(api, caller, { run_id: run.id })).deployment_id
}

/** A person with a sign-in of now. */
async function fresh(who: Person): Promise<Person> {
  return { ...who, cookie: await signIn(api, who.userId) }
}

async function approve(who: Person, id: string, body: object = {}, verb = 'approve'): Promise<Answer> {
  return requestAs(api, await fresh(who), 'POST', `/deployments/${id}/${verb}`, body)
}

async function patch(who: Person, gate: string, fields: object): Promise<void> {
  const { status, text } = await requestAs(api, await fresh(who), 'PATCH', `/gates/${gate}`, fields)
  assert.equal(status, 200, text)
}

test('changing a gate or a policy needs a fresh sign-in', async () => {
  const admin = await createPerson(api, caller)
  const gate = await configure()
  const applied = await apply(api, caller, policy('true'))
  api.clock.advance(15 * MINUTE_MS + 1)
  const calls: [method: string, path: string, body?: object][] = [
    ['POST', '/gates', { name: 'new', environment: 'production' }],
    ['PATCH', `/gates/${gate.id}`, { required_approvals: 2 }],
    ['DELETE', `/gates/${gate.id}`],
    ['POST', '/policies', { file: policy('false') }],
    ['DELETE', `/policies/${applied.id}`],
  ]
  for (const [method, path, body] of calls)
    assertError(await requestAs(api, admin, method, path, body), 403, 'fresh_sign_in_required')
  assert.equal((await requestAs(api, admin, 'POST', '/policies/validate', { file: policy('false') })).status, 200)
  const [versions] = await api.services.sql<[{ gates: number; policies: number }]>`
    select (select count(*)::int from gate_versions where org_id = ${caller.orgId}) as gates,
      (select count(*)::int from policy_versions where org_id = ${caller.orgId}) as policies`
  assert.deepEqual({ ...versions }, { gates: 1, policies: 1 })
})

test('who lowered the gate within a day before does not approve; somebody else does', async () => {
  const [rita, grace] = [await manager(), await manager()]
  const gate = await configure({ requiredApprovals: 2 })
  await patch(rita, gate.id, { required_approvals: 1 })
  api.clock.advance(23 * HOUR_MS)
  const id = await open()
  assertError(await approve(rita, id), 409, 'change_author_refused')
  const { body } = await requestAs(api, await fresh(rita), 'GET', `/deployments/${id}/decision`)
  assert.equal(body.data.refused.approve.code, 'change_author_refused')
  assert.equal((await approve(grace, id)).body.data.status, 'approved')
  api.clock.advance(2 * HOUR_MS)
  assert.equal((await approve(rita, await open())).body.data.status, 'approved')
})

const LOOSENINGS: [what: string, change: (who: Person, gate: string) => Promise<unknown>][] = [
  ['let keys in', (who, gate) => patch(who, gate, { allow_api_keys: true })],
  ['let openers in', (who, gate) => patch(who, gate, { allow_run_creator: true })],
  ['dropped a policy', (who, gate) => patch(who, gate, { policies: [] })],
  ['let policies approve', (who, gate) => patch(who, gate, { approve_by_policies: true })],
  ['admitted unlinked accounts', (who, gate) => patch(who, gate, { require_linked_accounts: false })],
  ['narrowed it', (who, gate) => patch(who, gate, { environment: 'elsewhere' })],
  ['deleted it', async (who, gate) => requestAs(api, await fresh(who), 'DELETE', `/gates/${gate}`)],
]

for (const [what, change] of LOOSENINGS) {
  test(`who ${what} after the gate was opened does not approve, nor with a key, and can reject`, async () => {
    const rita = await manager()
    const strict = { allowApiKeys: false, policies: ['Tests'], approveByPolicies: false, requireLinkedAccounts: true }
    await apply(api, caller, policy('true'))
    const gate = await configure({ ...strict, name: 'Loosened' })
    await configure({ name: 'Kept' })
    const id = await open()
    await change(rita, gate.id)
    assertError(await approve(rita, id), 409, 'change_author_refused')
    const key = await api.caller({ orgId: caller.orgId, scopes: ['write:deployments'] })
    await ownCredential(api, rita, key.keyId)
    assertError(await answerWithKey(api, key, id, 'approve'), 409, 'change_author_refused')
    assert.equal((await approve(rita, id, {}, 'reject')).body.data.status, 'rejected')
  })
}

test('a stricter gate, a gate that does not cover the deployment, and a new gate loosen nothing', async () => {
  const rita = await manager()
  const gate = await configure()
  const other = await configure({ name: 'other', environment: 'other', requiredApprovals: 2 })
  await patch(rita, gate.id, { required_approvals: 2, name: 'stricter' })
  await patch(rita, other.id, { required_approvals: 1 })
  await requestAs(api, rita, 'POST', '/gates', { name: 'new', environment: 'production' })
  const id = await open()
  assert.equal((await approve(rita, id)).status, 200)
})

test('where the gate let openers in before, who loosened it counts, and the deployment says so', async () => {
  const rita = await manager()
  const gate = await configure({ allowRunCreator: true, requiredApprovals: 2 })
  await patch(rita, gate.id, { required_approvals: 1 })
  const id = await open()
  assert.equal((await approve(rita, id)).body.data.status, 'approved')
  assert.equal((await getDeployment(api, caller, id)).self_approved, true)
})

test('who changes a blocking policy does not override it alone; its first version is no change', async () => {
  const [sam, grace] = [await createPerson(api, caller), await createPerson(api, caller)]
  const write = async (expression: string) =>
    requestAs(api, await fresh(sam), 'POST', '/policies', { file: policy(expression) })
  await configure()
  assert.equal((await write('false')).status, 201)
  assert.equal((await approve(sam, await open(), { reason: REASON })).body.data.status, 'approved')
  assert.equal((await write('1 == 2')).status, 201)
  const id = await open()
  assertError(await approve(sam, id, { reason: REASON }), 409, 'change_author_refused')
  assert.equal((await approve(grace, id, { reason: REASON })).body.data.status, 'approved')
})

test('who removed a policy that covered the deployment does not approve it', async () => {
  const sam = await createPerson(api, caller)
  const { id: policyId } = await apply(api, caller, policy('false'))
  await configure()
  const id = await open()
  assert.equal((await requestAs(api, sam, 'DELETE', `/policies/${policyId}`)).status, 200)
  assertError(await approve(sam, id), 409, 'change_author_refused')
})

async function openBlocked(fields: GateFields = {}): Promise<string> {
  await apply(api, caller, policy('false'))
  await configure(fields)
  return open()
}

test('an override by two: the first answer is stored, the second completes it, and the override names both', async () => {
  const id = await openBlocked()
  const [sam, rita] = [await withPermissions('view', 'override_compliance'), await manager()]
  const first = await approve(sam, id, { reason: REASON })
  assert.deepEqual(first.body, { data: { approved: true, status: 'pending_approval' } })
  const waiting = await getDeployment(api, caller, id)
  assert.deepEqual([waiting.status, waiting.override, waiting.approvals.length], ['pending_approval', null, 1])
  assert.equal((await approve(rita, id, { reason: REASON })).body.data.status, 'approved')
  const { override } = await getDeployment(api, caller, id)
  assert.deepEqual([override.user_id, override.with], [rita.userId, [sam.name]])
  const actions = (await auditOf(api, caller, id)).map(({ action }: Json) => action)
  assert.deepEqual(actions.sort(), ['deployment.approve', 'deployment.approve', 'deployment.override'])
})

test('two people with the same one of the two permissions override nothing', async () => {
  const id = await openBlocked()
  for (const who of [await manager(), await manager()])
    assert.equal((await approve(who, id, { reason: REASON })).body.data.status, 'pending_approval')
  const reader = await withPermissions('view', 'triage')
  assertError(await approve(reader, id, { reason: REASON }), 403, 'insufficient_permission')
  const admin = await createPerson(api, caller)
  assert.equal((await approve(admin, id, { reason: REASON })).body.data.status, 'approved')
})

test('an answer with override_compliance alone counts for no approval once nothing blocks', async () => {
  const id = await openBlocked({ requiredApprovals: 2 })
  const sam = await withPermissions('view', 'override_compliance')
  assert.equal((await approve(sam, id, { reason: REASON })).status, 200)
  await apply(api, caller, policy('true'))
  assert.equal((await approve(await manager(), id)).body.data.status, 'pending_approval')
  assert.equal((await approve(await manager(), id)).body.data.status, 'approved')
})
