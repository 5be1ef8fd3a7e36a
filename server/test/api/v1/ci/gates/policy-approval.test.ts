import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { listGatesWithProblems } from '../../../../../src/deployments/gates/list-gate-problems.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertInvalid } from '../../../../support/assert-error.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { auditOf, configureGate, getDeployment, openGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'

let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  admin = await createPerson(api, caller)
})

type Rule = { passes: boolean; blocking?: boolean }

const PASS: Rule = { passes: true }
const FAIL: Rule = { passes: false }
const HINT: Rule = { passes: false, blocking: false }

/** Applies a policy whose rules are called r1, r2 and so on. It covers all environments if it is bound. */
function applyPolicy(name: string, rules: Rule[], { mode = 'enforce', bound = false } = {}): Promise<unknown> {
  const listed = rules.map(
    ({ passes, blocking = true }, at) => `
  - rule: r${at + 1}
    expression: '${passes}'
    blocking: ${blocking}`,
  )
  const bindings = bound ? "bindings: { environments: ['*'] }\n" : ''
  return apply(api, caller, `name: ${name}\nmode: ${mode}\n${bindings}rules:${listed.join('')}\n`)
}

async function open(gate: Parameters<typeof configureGate>[2]): Promise<Json> {
  await configureGate(api, caller, { name: 'gate', ...gate })
  const { id: run_id } = await createRun(api, caller, { ref: 'main' })
  return openGate(api, caller, { run_id })
}

test('a named policy in monitor leaves the gate to people', async () => {
  await applyPolicy('m', [FAIL], { mode: 'monitor' })
  await applyPolicy('e', [PASS])
  const gate = await open({ policies: ['m', 'e'] })
  assert.deepEqual([gate.decision, gate.status], ['pending', 'waiting'])
})

test('policies that a gate names approve it together, and the note, the audit log and the deployment say which', async () => {
  await applyPolicy('e', [PASS])
  await applyPolicy('other', [PASS], { bound: true })
  await applyPolicy('watching', [FAIL], { bound: true, mode: 'monitor' })
  const gate = await open({ policies: ['e'], requiredApprovals: 2 })
  const note = 'Passed: e, other. Monitored: watching.'
  assert.deepEqual([gate.decision, gate.decided_by, gate.note], ['approved', 'policy', note])
  const [entry] = await auditOf(api, caller, gate.deployment_id)
  assert.deepEqual([entry?.principal_name, entry?.reason], ['e', note])
  const { policies } = (await getDeployment(api, caller, gate.deployment_id)).policy_evaluation
  assert.deepEqual(
    policies.map(({ name, path, decision }: Json) => [name, path, decision]),
    [
      ['e', null, 'approve'],
      ['other', null, 'approve'],
      ['watching', null, 'warn'],
    ],
  )
})

test('a failed rule that does not block is named and decides nothing', async () => {
  await applyPolicy('e', [PASS, HINT])
  const gate = await open({ policies: ['e'] })
  assert.deepEqual([gate.decision, gate.note], ['approved', 'Passed: e. Failed, not blocking: e: r2.'])
})

test('a policy without a blocking rule approves nothing', async () => {
  await applyPolicy('hints', [{ passes: true, blocking: false }])
  await applyPolicy('e', [PASS])
  assert.equal((await open({ policies: ['hints', 'e'] })).decision, 'pending')
})

test('a policy of the organization that covers and is not named blocks, and does not approve', async () => {
  await applyPolicy('covering', [PASS], { bound: true })
  assert.equal((await open({ name: 'unnamed' })).decision, 'pending')
  await applyPolicy('e', [PASS])
  await applyPolicy('covering', [FAIL], { bound: true })
  const gate = await open({ name: 'named', policies: ['e'] })
  assert.deepEqual([gate.decision, gate.note], ['pending', 'covering: r1'])
})

test('each gate is approved by its own policies, and others wait', async () => {
  await applyPolicy('e', [PASS])
  await configureGate(api, caller, { name: 'by policy', policies: ['e'] })
  const gate = await open({ name: 'by people' })
  assert.equal(gate.decision, 'pending')
  const { body } = await requestAs(api, admin, 'GET', `/deployments/${gate.deployment_id}/decision`)
  assert.deepEqual(
    body.data.gates.map(({ name, approved_by }: Json) => [name, approved_by]),
    [
      ['by people', null],
      ['by policy', 'policies'],
    ],
  )
})

test('with approve_by_policies: false, named policies only block', async () => {
  await applyPolicy('e', [PASS])
  assert.equal((await open({ policies: ['e'], approveByPolicies: false })).decision, 'pending')
})

const postGate = (fields: object) =>
  requestAs(api, admin, 'POST', '/gates', { name: 'new', environment: 'production', ...fields })

const patchGate = (id: string, fields: object) => requestAs(api, admin, 'PATCH', `/gates/${id}`, fields)

test('400 for approve_by_policies that nothing backs; a change never lets policies approve by itself', async () => {
  assertInvalid(await postGate({ approve_by_policies: true }), '/body/approve_by_policies')
  assertInvalid(await postGate({ approve_by_policies: 'covering' }), '/body/approve_by_policies')
  const created = (await postGate({ policies: ['e'] })).body.data
  assert.equal(created.approve_by_policies, true)
  const change = async (fields: object) => (await patchGate(created.id, fields)).body.data.approve_by_policies
  assert.equal(await change({ policies: [] }), false)
  assert.equal(await change({ policies: ['e'] }), false)
  assert.equal(await change({ approve_by_policies: true }), true)
  assertInvalid(await patchGate(created.id, { approve_by_policies: 'covering' }), '/body/approve_by_policies')
})

test('a gate from before the upgrade keeps its meaning until it names policies', async () => {
  const { sql } = api.services
  const { id } = await configureGate(api, caller)
  const one = await configureGate(api, caller, { name: 'two', environment: 'none', requiredApprovals: 2 })
  const named = await configureGate(api, caller, { name: 'named', environment: 'none', policies: ['e'] })
  await sql`update configured_gates set approve_by_policies = null where org_id = ${caller.orgId}`
  const read = async (gate: string) => (await requestAs(api, admin, 'GET', `/gates/${gate}`)).body.data
  const shown = await Promise.all([id, one.id, named.id].map(read))
  assert.deepEqual(
    shown.map(({ approve_by_policies }) => approve_by_policies),
    ['covering', false, true],
  )
  await applyPolicy('hints', [HINT], { bound: true })
  const openAnother = async () => openGate(api, caller, { run_id: (await createRun(api, caller)).id })
  assert.equal((await openAnother()).decision, 'pending')
  await applyPolicy('e', [PASS], { bound: true })
  const gate = await openAnother()
  assert.deepEqual([gate.decision, gate.note], ['approved', 'Passed: e. Failed, not blocking: hints: r1.'])
  assert.equal((await patchGate(id, { name: 'renamed' })).body.data.approve_by_policies, 'covering')
  assert.equal((await openAnother()).decision, 'approved')
  assert.equal((await patchGate(id, { policies: ['e'] })).body.data.approve_by_policies, true)
})

test('a deployment that waits since before the upgrade is approved as its gate was', async () => {
  const { sql } = api.services
  const gate = await open({})
  await sql`update required_gates set approve_by_policies = null where org_id = ${caller.orgId}`
  const { body } = await requestAs(api, admin, 'GET', `/deployments/${gate.deployment_id}/decision`)
  assert.equal(body.data.gates[0].approve_by_policies, 'covering')
})

test('gates whose policies cannot approve, gates from before, and gates that nobody can answer are named', async () => {
  const { sql } = api.services
  await applyPolicy('m', [PASS], { mode: 'monitor' })
  await applyPolicy('hints', [HINT])
  await applyPolicy('e', [PASS])
  await configureGate(api, caller, { name: 'covering' })
  await sql`update configured_gates set approve_by_policies = null where org_id = ${caller.orgId}`
  await configureGate(api, caller, { name: 'fine', policies: ['e'], allowApiKeys: false, requiredApprovals: 2 })
  await configureGate(api, caller, { name: 'stuck', policies: ['m', 'hints', 'gone'] })
  await configureGate(api, caller, { name: 'two', requiredApprovals: 2, allowApiKeys: false })
  const found = await listGatesWithProblems(sql, caller.orgId)
  const unable =
    'the policy m is in monitor, and the policy hints has no blocking rule, and the policy gone does not exist'
  assert.deepEqual(
    found.flatMap(({ name, problems }) => problems.map((problem) => [name, problem])),
    [
      ['covering', 'is approved by all policies that cover it, as before the upgrade'],
      ['stuck', `waits for people, because ${unable}`],
      ['two', 'can be answered by too few people'],
    ],
  )
})
