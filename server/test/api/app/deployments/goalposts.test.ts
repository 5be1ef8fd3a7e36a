import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Permission } from '../../../../src/access/role.ts'
import { OPERATOR } from '../../../../src/audit/audit.store.ts'
import { deleteGate } from '../../../../src/deployments/gates/configure-gate.ts'
import { settleDeployments } from '../../../../src/deployments/gates/settle-deployments.job.ts'
import { HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { sendReport, TESTS } from '../../../support/ci-reports.ts'
import { createRun } from '../../../support/ci-runs.ts'
import {
  answerWithKey,
  auditOf,
  configureGate,
  getDeployment,
  openGate,
  postGate,
  REASON,
} from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, ownCredential, type Person, requestAs, signIn } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'
import { drainQueue } from '../../../support/queue.ts'

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

test('who lowered the gate within a day before does not approve; others do, as many as before', async () => {
  const [rita, grace, mona] = [await manager(), await manager(), await manager()]
  const gate = await configure({ requiredApprovals: 2 })
  await patch(rita, gate.id, { required_approvals: 1 })
  api.clock.advance(23 * HOUR_MS)
  const id = await open()
  assertError(await approve(rita, id), 409, 'change_author_refused')
  const { body } = await requestAs(api, await fresh(rita), 'GET', `/deployments/${id}/decision`)
  assert.equal(body.data.refused.approve.code, 'change_author_refused')
  assert.equal((await approve(grace, id)).body.data.status, 'pending_approval')
  assert.equal((await approve(mona, id)).body.data.status, 'approved')
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
  const gate = await configure({ allowRunCreator: true, allowApiKeys: false })
  await patch(rita, gate.id, { allow_api_keys: true })
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
  await apply(api, caller, `${policy('attestations.exists(a, a.status == "pass")')}    trust: any\n`)
  await configure({ requiredApprovals: 2, allowRunCreator: true })
  const run = await createRun(api, caller)
  const id = (await openGate(api, caller, { run_id: run.id })).deployment_id
  const sam = await withPermissions('view', 'override_compliance')
  assert.equal((await approve(sam, id, { reason: REASON })).status, 200)
  assert.equal((await getDeployment(api, caller, id)).approvals[0].blocked, true)
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  assert.equal((await approve(await manager(), id)).body.data.status, 'pending_approval')
  assert.equal((await approve(await manager(), id)).body.data.status, 'approved')
})

const LOOSE = policy('true')
const STRICT = policy('false')

async function decisionOf(who: Person, id: string): Promise<Json> {
  return (await requestAs(api, await fresh(who), 'GET', `/deployments/${id}/decision`)).body.data
}

async function statusOf(id: string): Promise<string> {
  return (await getDeployment(api, caller, id)).status
}

/** The approval of who may not override needs that of somebody who may. */
async function assertBlocked(who: Person, id: string): Promise<void> {
  assert.equal((await approve(who, id, { reason: REASON })).body.data.status, 'pending_approval')
  assert.equal((await getDeployment(api, caller, id)).policy_evaluation.decision, 'block')
}

const named = (fields: GateFields = {}) => configure({ policies: ['Tests'], ...fields })

test('a policy that was loosened still blocks for a day, and the answers say which version and until when', async () => {
  const grace = await manager()
  await apply(api, caller, STRICT)
  await named()
  const changed = api.clock.now()
  await apply(api, caller, LOOSE)
  api.clock.advance(23 * HOUR_MS)
  const run = await createRun(api, caller)
  const { body } = await postGate(api, caller, { run_id: run.id, environment: 'production' })
  const { deployment_id: id, note } = body.data
  assert.match(note, /^Tests \(version 1, replaced .* UTC, still asked until .* UTC\): /)
  await assertBlocked(grace, id)
  const { policies } = await decisionOf(grace, id)
  const earlier = {
    replaced_at: changed.toISOString(),
    asked_until: new Date(changed.getTime() + 24 * HOUR_MS).toISOString(),
  }
  assert.deepEqual(
    policies.map(({ version, decision, earlier }: Json) => ({ version, decision, earlier })),
    [
      { version: 2, decision: 'approve', earlier: undefined },
      { version: 1, decision: 'block', earlier },
    ],
  )
  const { policy_evaluation } = await getDeployment(api, caller, id)
  assert.deepEqual([policy_evaluation.decision, policy_evaluation.policies[1].earlier], ['block', earlier])
  api.clock.advance(2 * HOUR_MS)
  await settleDeployments.run(api.services, {})
  await drainQueue(api)
  assert.equal(await statusOf(id), 'approved')
  assert.equal(await statusOf(await open()), 'approved')
})

test('loosening a policy twice hides no version of the last day', async () => {
  for (const text of [STRICT, LOOSE, policy('1 == 1')]) await apply(api, caller, text)
  await named()
  assert.equal((await getDeployment(api, caller, await open())).policy_evaluation.decision, 'block')
  for (let at = 0; at < 21; at += 1) await apply(api, caller, policy(`${at} == ${at}`))
  const { policy_evaluation } = await getDeployment(api, caller, await open())
  assert.equal(policy_evaluation.decision, 'block')
})

test('the version of the opening is asked as long as the deployment waits', async () => {
  const grace = await manager()
  await apply(api, caller, STRICT)
  api.clock.advance(25 * HOUR_MS)
  await named()
  const id = await open()
  api.clock.advance(MINUTE_MS)
  await apply(api, caller, LOOSE)
  api.clock.advance(11 * HOUR_MS)
  await assertBlocked(grace, id)
  const admin = await createPerson(api, caller)
  assert.equal((await approve(admin, id, { reason: REASON })).body.data.status, 'approved')
  const { policies } = await decisionOf(admin, id)
  assert.equal(policies.find(({ version }: Json) => version === 1).earlier.asked_until, null)
})

test('a policy that becomes stricter blocks what waits; its lenient version helps nobody', async () => {
  const grace = await manager()
  await apply(api, caller, LOOSE)
  await configure()
  const id = await open()
  await apply(api, caller, STRICT)
  await assertBlocked(grace, id)
  const { policies } = await decisionOf(grace, await open())
  assert.deepEqual(
    policies.map(({ version }: Json) => version),
    [2],
  )
})

test('a removed policy still blocks for a day, whoever removed it, also after it was applied again', async () => {
  const [sam, grace] = [await createPerson(api, caller), await manager()]
  const { id: policyId } = await apply(api, caller, STRICT)
  await configure()
  assert.equal((await requestAs(api, sam, 'DELETE', `/policies/${policyId}`)).status, 200)
  await assertBlocked(grace, await open())
  // Before the upgrade, removals at the command line were stored like this.
  await api.services.sql`
    update policy_versions
    set removed_at = null, removed_by_id = null
    where org_id = ${caller.orgId}`
  await assertBlocked(grace, await open())
  await apply(api, caller, LOOSE)
  await assertBlocked(grace, await open())
  api.clock.advance(24 * HOUR_MS)
  assert.equal((await approve(grace, await open())).body.data.status, 'approved')
})

test('a policy that was in monitor does not approve for a day after it is enforced', async () => {
  await apply(api, caller, LOOSE.replace('enforce', 'monitor'))
  await apply(api, caller, LOOSE)
  await named()
  const run = await createRun(api, caller)
  const { body } = await postGate(api, caller, { run_id: run.id, environment: 'production' })
  assert.equal(body.data.decision, 'pending')
  assert.match(body.data.note, /^Tests \(version 1, replaced .*\) does not approve\.$/)
  assert.equal((await approve(await manager(), body.data.deployment_id)).body.data.status, 'approved')
  api.clock.advance(24 * HOUR_MS)
  assert.equal(await statusOf(await open()), 'approved')
})

test('a gate that was loosened counts as before for what is opened within a day, and says so', async () => {
  const [grace, mona] = [await manager(), await manager()]
  const gate = await configure({ requiredApprovals: 2, allowApiKeys: false })
  const changed = api.clock.now()
  await patch(await createPerson(api, caller), gate.id, { required_approvals: 1, allow_api_keys: true })
  api.clock.advance(23 * HOUR_MS)
  const id = await open()
  const [shown] = (await decisionOf(grace, id)).gates
  assert.deepEqual([shown.required_approvals, shown.replaced_at], [2, changed.toISOString()])
  assertError(
    await answerWithKey(api, await api.caller({ orgId: caller.orgId, scopes: ['write:deployments'] }), id, 'approve'),
    409,
    'reviewer_gate_requires_human',
  )
  assert.equal((await approve(grace, id)).body.data.status, 'pending_approval')
  assert.equal((await approve(mona, id)).body.data.status, 'approved')
  api.clock.advance(HOUR_MS)
  const later = await open()
  assert.equal((await decisionOf(grace, later)).gates[0].replaced_at, null)
  assert.equal((await approve(grace, later)).body.data.status, 'approved')
})

test('a gate that was deleted or narrowed still holds what is opened within a day', async () => {
  const grace = await manager()
  const [deleted, narrowed] = [await configure({ name: 'deleted' }), await configure({ name: 'narrowed' })]
  await deleteGate(api.services, { org_id: caller.orgId, id: deleted.id }, OPERATOR)
  await patch(await createPerson(api, caller), narrowed.id, { environment: 'elsewhere' })
  const id = await open()
  const { gates } = await decisionOf(grace, id)
  assert.deepEqual(gates.map(({ name, replaced_at }: Json) => [name, replaced_at !== null]).sort(), [
    ['deleted', true],
    ['narrowed', true],
  ])
  assert.equal((await approve(grace, id)).body.data.status, 'approved')
  api.clock.advance(24 * HOUR_MS)
  const run = await createRun(api, caller)
  assertError(await postGate(api, caller, { run_id: run.id, environment: 'production' }), 409, 'gate_not_configured')
})

test('a gate that becomes stricter after the opening counts as it is now', async () => {
  const [grace, mona] = [await manager(), await manager()]
  const gate = await configure()
  const id = await open()
  await patch(await createPerson(api, caller), gate.id, { required_approvals: 2 })
  assert.equal((await approve(grace, id)).body.data.status, 'pending_approval')
  assert.equal((await approve(mona, id)).body.data.status, 'approved')
  await patch(await createPerson(api, caller), gate.id, { required_approvals: 3 })
  const [decided] = (await decisionOf(grace, id)).gates
  assert.deepEqual([decided.required_approvals, decided.approved_at === null], [2, false])
})

test('a gate that is approved and becomes stricter counts the answers again', async () => {
  const [grace, mona] = [await manager(), await manager()]
  const gate = await configure({ name: 'first' })
  await configure({ name: 'second', requiredApprovals: 2 })
  const id = await open()
  assert.equal((await approve(grace, id)).body.data.status, 'pending_approval')
  await patch(await createPerson(api, caller), gate.id, { required_approvals: 3 })
  assert.equal((await approve(mona, id)).body.data.status, 'pending_approval')
  assert.equal((await approve(await manager(), id)).body.data.status, 'approved')
})

test('a gate that is approved again after it became stricter stays approved', async () => {
  const [grace, mona] = [await manager(), await manager()]
  const gate = await configure({ name: 'first' })
  await configure({ name: 'second', requiredApprovals: 3 })
  const id = await open()
  assert.equal((await approve(grace, id)).body.data.status, 'pending_approval')
  await patch(await createPerson(api, caller), gate.id, { required_approvals: 2 })
  assert.equal((await approve(mona, id)).body.data.status, 'pending_approval')
  const { gates } = await decisionOf(grace, id)
  const approved = gates.map(({ name, approved_at }: Json) => [name, approved_at !== null])
  assert.deepEqual(Object.fromEntries(approved), { first: true, second: false })
})

test('a gate that has let openers in since it was made is asked as it is now, and so are its policies', async () => {
  const admin = await createPerson(api, caller)
  await apply(api, caller, STRICT)
  const gate = await named({ allowRunCreator: true, allowApiKeys: false })
  const waiting = await open()
  await apply(api, caller, LOOSE)
  await patch(admin, gate.id, { allow_api_keys: true })
  assert.equal(await statusOf(await open()), 'approved')
  assert.equal((await decisionOf(admin, waiting)).gates[0].allow_api_keys, true)
  await patch(admin, gate.id, { policies: [] })
  await requestAs(api, await fresh(admin), 'DELETE', `/gates/${gate.id}`)
  const run = await createRun(api, caller)
  assertError(await postGate(api, caller, { run_id: run.id, environment: 'production' }), 409, 'gate_not_configured')
})

test('letting openers in releases from earlier versions only after a day', async () => {
  const admin = await createPerson(api, caller)
  await apply(api, caller, STRICT)
  const gate = await named({ requiredApprovals: 2 })
  await patch(admin, gate.id, { allow_run_creator: true, required_approvals: 1 })
  api.clock.advance(23 * HOUR_MS)
  const id = await open()
  const [shown] = (await decisionOf(admin, id)).gates
  assert.deepEqual([shown.required_approvals, shown.allow_run_creator], [2, false])
  api.clock.advance(HOUR_MS)
  await apply(api, caller, LOOSE)
  assert.equal(await statusOf(await open()), 'approved')
})

test('a gate that lets openers in and asked for two people asks for two for a day after it was lowered', async () => {
  const [admin, grace] = [await createPerson(api, caller), await manager()]
  await apply(api, caller, STRICT)
  const gate = await configure({ allowRunCreator: true, requiredApprovals: 2 })
  await apply(api, caller, LOOSE)
  const waiting = await open()
  await patch(admin, gate.id, { required_approvals: 1 })
  for (const id of [waiting, await open()]) {
    const [shown] = (await decisionOf(admin, id)).gates
    assert.equal(shown.required_approvals, 2)
    assert.equal((await getDeployment(api, caller, id)).policy_evaluation.decision, 'block')
  }
  api.clock.advance(24 * HOUR_MS)
  assert.equal((await approve(grace, await open())).body.data.status, 'approved')
})

test('a removed policy that did not approve keeps a covering gate waiting for a day', async () => {
  const sam = await createPerson(api, caller)
  const undecided = policy('true').replace("'true'", '\'{"status": "warn"}\'')
  const { id: policyId } = await apply(api, caller, undecided)
  const gate = await configure()
  // As a gate that was stored before gates said who approves.
  await api.services.sql`update configured_gates set approve_by_policies = null where id = ${gate.id}`
  await api.services.sql`update gate_versions set approve_by_policies = null where gate_id = ${gate.id}`
  assert.equal((await requestAs(api, sam, 'DELETE', `/policies/${policyId}`)).status, 200)
  await apply(api, caller, policy('true').replace('name: Tests', 'name: New'))
  assert.equal(await statusOf(await open()), 'pending_approval')
  api.clock.advance(24 * HOUR_MS)
  assert.equal(await statusOf(await open()), 'approved')
})
