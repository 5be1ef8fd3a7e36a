import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { COMMAND_LINE } from '../../../../src/audit/audit.store.ts'
import { confirmChange, toOperator } from '../../../../src/deployments/gates/pending-change.ts'
import { updateOrganizationRules } from '../../../../src/organizations/organization.ts'
import { MINUTE_MS } from '../../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { auditOf, configureGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'

let api: TestApi
let caller: Caller
let rita: Person
let mona: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  rita = await createPerson(api, caller)
  mona = await createPerson(api, caller)
  await updateOrganizationRules(api.services, caller.slug, { two_person_changes: true })
})

const POLICY = `
name: Tests
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: tests
    name: Tests have passed
    expression: 'true'
`

const call = (who: Person, method: string, path: string, body?: object): Promise<Answer> =>
  requestAs(api, who, method, path, body)
const confirm = (who: Person, id: string) => call(who, 'POST', `/pending-changes/${id}/confirm`)
const list = async (): Promise<Json[]> => (await call(rita, 'GET', '/pending-changes')).body.data
const gates = async (): Promise<Json[]> => (await call(rita, 'GET', '/gates')).body.data
const policies = async (): Promise<Json[]> => (await call(rita, 'GET', '/policies')).body.data

/** What the request proposes. */
async function propose(who: Person, method: string, path: string, body?: object): Promise<Json> {
  const { status, body: answer, text } = await call(who, method, path, body)
  assert.equal(status, 202, text)
  return answer.data
}

test('a change of a gate waits for a second person, and is stored in the name of who proposed it', async () => {
  const gate = await configureGate(api, caller, { requiredApprovals: 2 })
  const { id, ...change } = await propose(rita, 'PATCH', `/gates/${gate.id}`, {
    required_approvals: 1,
    reason: 'Alone',
  })
  assert.deepEqual([change.kind, change.action, change.object_id, change.base_version], ['gate', 'change', gate.id, 1])
  assert.deepEqual([change.content.required_approvals, change.proposed_by.id], [1, rita.userId])
  assert.equal((await gates())[0]?.required_approvals, 2)
  assertError(await confirm(rita, id), 409, 'second_person_required')
  assert.deepEqual(
    (await list()).map((each) => each.id),
    [id],
  )
  assert.equal((await confirm(mona, id)).status, 200)
  assert.deepEqual([(await gates())[0]?.required_approvals, await list()], [1, []])
  const [newest] = (await call(rita, 'GET', `/gates/${gate.id}/versions`)).body.data
  assert.deepEqual([newest.changed_by.id, newest.reason], [rita.userId, 'Alone'])
  const actions = (await auditOf(api, caller, gate.id)).map(({ action }: Json) => action)
  assert.deepEqual(actions.sort(), ['gate.change', 'gate.confirm_change', 'gate.create', 'gate.propose_change'])
  assertError(await confirm(mona, id), 404, 'not_found')
})

test('new and deleted gates and policies wait, too', async () => {
  const gate = await configureGate(api, caller)
  const applied = await apply(api, caller, POLICY.replace('Tests', 'Old'))
  const changes = [
    await propose(rita, 'POST', '/gates', { name: 'new', environment: 'staging' }),
    await propose(rita, 'DELETE', `/gates/${gate.id}?reason=Unused`),
    await propose(rita, 'POST', '/policies', { file: POLICY }),
    await propose(rita, 'DELETE', `/policies/${applied.id}`),
  ]
  assert.deepEqual(
    (await gates()).map(({ name }) => name),
    ['Production'],
  )
  assert.deepEqual(
    (await policies()).map(({ name }) => name),
    ['Old'],
  )
  for (const { id } of changes) assert.equal((await confirm(mona, id)).status, 200)
  assert.deepEqual(
    (await gates()).map(({ name }) => name),
    ['new'],
  )
  assert.deepEqual(
    (await policies()).map(({ name }) => name),
    ['Tests'],
  )
})

test('what is not valid is refused when it is proposed', async () => {
  const gate = await configureGate(api, caller)
  assertError(await call(rita, 'POST', '/policies', { file: 'name: x' }), 400, 'invalid_policy')
  assertError(await call(rita, 'PATCH', `/gates/${gate.id}`, { approve_by_policies: true }), 400, 'invalid_request')
  const stale = { required_approvals: 2, expected_version: 7 }
  assertError(await call(rita, 'PATCH', `/gates/${gate.id}`, stale), 409, 'version_conflict')
  assertError(await call(rita, 'DELETE', `/policies/${gate.id}`), 404, 'not_found')
  assert.deepEqual(await list(), [])
})

test('of two confirmations at the same time one stores the change', async () => {
  const gate = await configureGate(api, caller)
  const { id } = await propose(rita, 'PATCH', `/gates/${gate.id}`, { required_approvals: 3 })
  const third = await createPerson(api, caller)
  const answers = await Promise.all([confirm(mona, id), confirm(third, id)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404])
  assert.equal((await gates())[0]?.version, 2)
})

test('409 version_conflict if the gate or policy has changed since; the change keeps waiting', async () => {
  const gate = await configureGate(api, caller)
  const first = await propose(rita, 'PATCH', `/gates/${gate.id}`, { required_approvals: 2 })
  const removal = await propose(rita, 'DELETE', `/gates/${gate.id}`)
  const policy = await propose(rita, 'POST', '/policies', { file: POLICY })
  assert.equal((await confirm(mona, first.id)).status, 200)
  await apply(api, caller, POLICY)
  for (const { id } of [removal, policy]) assertError(await confirm(mona, id), 409, 'version_conflict')
  assert.equal((await list()).length, 2)
})

test('confirming needs the permission for what is changed, and a fresh sign-in', async () => {
  const { id } = await propose(rita, 'POST', '/policies', { file: POLICY })
  const manager = await createPerson(api, { ...caller, permissions: ['view', 'manage_gates'] })
  assertError(await confirm(manager, id), 403, 'insufficient_permission')
  assertError(await call(manager, 'POST', `/pending-changes/${id}/withdraw`), 403, 'insufficient_permission')
  const stranger = await createPerson(api, await api.caller())
  assertError(await confirm(stranger, id), 404, 'not_found')
  assert.equal((await list()).length, 1)
  api.clock.advance(15 * MINUTE_MS + 1)
  assertError(await confirm(mona, id), 403, 'fresh_sign_in_required')
})

test('who proposed a change, or another person, withdraws it', async () => {
  const { id } = await propose(rita, 'POST', '/gates', { name: 'new', environment: 'staging' })
  assert.equal((await call(rita, 'POST', `/pending-changes/${id}/withdraw`)).status, 200)
  assertError(await confirm(mona, id), 404, 'not_found')
  assert.deepEqual(await gates(), [])
})

test('the operator confirms at the command line', async () => {
  const { id } = await propose(rita, 'POST', '/gates', { name: 'new', environment: 'staging' })
  await confirmChange(api.services, toOperator(caller.orgId, COMMAND_LINE), id)
  assert.deepEqual(
    (await gates()).map(({ name }) => name),
    ['new'],
  )
})

test('409 too_many_pending_changes beyond 100', async () => {
  const proposed = [...Array(100).keys()].map((at) =>
    propose(rita, 'POST', '/gates', { name: `gate ${at}`, environment: 'staging' }),
  )
  await Promise.all(proposed)
  const more = await call(rita, 'POST', '/gates', { name: 'one more', environment: 'staging' })
  assertError(more, 409, 'too_many_pending_changes')
})

test('a second person who was made one for the purpose confirms nothing', async () => {
  const first = await createPerson(api, { ...caller, role: 'viewer' })
  const { id } = await propose(rita, 'POST', '/gates', { name: 'new', environment: 'staging' })
  api.clock.advance(1000)
  const late = await createPerson(api, caller)
  assertError(await confirm(late, id), 409, 'second_person_required')
  const promoted = await call(rita, 'PATCH', `/members/${first.userId}`, { role: 'org_admin' })
  assert.equal(promoted.status, 200, promoted.text)
  assertError(await confirm(first, id), 409, 'second_person_required')
  assert.equal((await confirm(mona, id)).status, 200)
})

test('a change of somebody who may not make it any more is not confirmed', async () => {
  const former = await createPerson(api, caller)
  const { id } = await propose(former, 'POST', '/gates', { name: 'new', environment: 'staging' })
  const demoted = await call(rita, 'PATCH', `/members/${former.userId}`, { role: 'viewer' })
  assert.equal(demoted.status, 200, demoted.text)
  assertError(await confirm(mona, id), 409, 'proposer_refused')
  assert.deepEqual(
    (await list()).map((change) => change.id),
    [id],
  )
})

test('the list has pages, newest first, and says what each change would replace', async () => {
  const gate = await configureGate(api, caller, { requiredApprovals: 2 })
  const { id: policyId } = await apply(api, caller, POLICY)
  const proposed: string[] = []
  for (const [method, path, body] of [
    ['PATCH', `/gates/${gate.id}`, { required_approvals: 1 }],
    ['POST', '/policies', { file: POLICY.replace("'true'", "'false'") }],
    ['DELETE', `/policies/${policyId}`],
    ['POST', '/gates', { name: 'new', environment: 'staging' }],
  ] as const) {
    api.clock.advance(1000)
    proposed.unshift((await propose(rita, method, path, body)).id)
  }
  const first = (await call(mona, 'GET', '/pending-changes?limit=3')).body
  const second = (await call(mona, 'GET', `/pending-changes?limit=3&cursor=${first.next_cursor}`)).body
  const changes: Json[] = [...first.data, ...second.data]
  assert.deepEqual([changes.map(({ id }) => id), second.next_cursor], [proposed, null])
  const [created, removed, changed, lowered] = changes as [Json, Json, Json, Json]
  assert.equal(created.before, null)
  assert.deepEqual([removed.before.file, removed.content], [POLICY, null])
  assert.equal(changed.before.file, POLICY)
  assert.deepEqual([lowered.before.required_approvals, lowered.content.required_approvals], [2, 1])
  assert.deepEqual(Object.keys(lowered.before).sort(), Object.keys(lowered.content).sort())
})

test('the audit log keeps the start of a long policy and its checksum', async () => {
  const file = `${POLICY}# ${'x'.repeat(30_000)}\n`
  const { id } = await propose(rita, 'POST', '/policies', { file })
  const [entry] = await auditOf(api, caller, id)
  assert.ok(entry?.details.content.file.length <= 2000)
  assert.match(entry?.details.content.sha256, /^[0-9a-f]{64}$/)
})

test('the settings of the organization say that changes wait', async () => {
  assert.equal((await call(mona, 'GET', '')).body.data.two_person_changes, true)
})
