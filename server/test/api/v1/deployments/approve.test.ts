import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import {
  answer,
  answerWithKey,
  approverOf,
  auditOf,
  configureGate,
  getDeployment,
  openGate,
  pollGate,
  REASON,
} from '../../../support/gates.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function opened(gate: Parameters<typeof configureGate>[2] = {}) {
  caller = await api.caller()
  await configureGate(api, caller, gate)
  return openGate(api, caller, { run_id: (await createRun(api, caller)).id })
}

const another = () => api.caller({ orgId: caller.orgId })

test('200 with approved and the status; gate and deployment show the key as principal', async () => {
  const gate = await opened()
  const { status, body } = await answer(api, caller, gate.deployment_id, 'approve', { reason: REASON, comment: 'Go' })
  assert.deepEqual([status, body], [200, { data: { approved: true, status: 'approved' } }])
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.decision, polled.status, polled.decided_by], ['approved', 'decided', 'api_key:test key'])
  const deployment = await getDeployment(api, caller, gate.deployment_id)
  const { custom_rule_state, custom_rule_awaiting, approvals, override } = deployment
  assert.deepEqual([deployment.status, custom_rule_state, custom_rule_awaiting], ['approved', 'approved', null])
  assert.equal(override, null)
  assert.deepEqual(approvals, [
    {
      user_id: null,
      email: null,
      display_name: 'test key',
      decision: 'approved',
      principal: 'api_key',
      gates: ['customRule'],
      provider_account: null,
      at: api.clock.now().toISOString(),
      note: `${REASON}\n\nGo`,
      self_approved: false,
    },
  ])
})

test('the audit log records the approval with the key as principal and the reason', async () => {
  const gate = await opened()
  await answer(api, caller, gate.deployment_id, 'approve')
  const [entry, ...others] = await auditOf(api, caller, gate.deployment_id)
  assert.deepEqual(others, [])
  assert.deepEqual(entry, {
    principal_type: 'api_key',
    principal_id: (await approverOf(api, caller)).keyId,
    principal_name: 'test key',
    action: 'deployment.approve',
    object_type: 'deployment',
    reason: REASON,
    details: {},
    at: api.clock.now(),
  })
})

for (const [title, body] of [
  ['no reason', {}],
  ['an empty body', undefined],
  ['a reason of 9 characters', { reason: '123456789' }],
  ['9 characters surrounded by spaces', { reason: '   123456789    ' }],
  ['a reason of 501 characters', { reason: 'r'.repeat(501) }],
] as const) {
  test(`400 reason_required for ${title}, and the gate stays waiting`, async () => {
    const gate = await opened()
    for (const verb of ['approve', 'reject'] as const) {
      const refused = await api.request('POST', `/v1/deployments/${gate.deployment_id}/${verb}`, {
        key: caller.key,
        ...(body === undefined ? {} : { body }),
      })
      assertError(refused, 400, 'reason_required')
    }
    assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  })
}

test('200 for a reason of 10 or 500 characters and a comment of 1,000', async () => {
  for (const reason of ['1234567890', 'r'.repeat(500)]) {
    const { deployment_id } = await opened()
    const given = await answer(api, caller, deployment_id, 'approve', { reason, comment: 'c'.repeat(1000) })
    assert.equal(given.status, 200)
  }
})

test('400 for a comment of 1,001 characters, a reason that is not a string, and an unknown field', async () => {
  const { deployment_id } = await opened()
  const refuse = async (field: string, value: unknown) =>
    assertInvalid(
      await answer(api, caller, deployment_id, 'approve', { reason: REASON, [field]: value }),
      `/body/${field}`,
    )
  await refuse('comment', 'c'.repeat(1001))
  await refuse('reason', 7)
  await refuse('force', true)
})

test('409 already_decided for any second answer, by the same key or another', async () => {
  for (const first of ['approve', 'reject'] as const) {
    const { deployment_id } = await opened()
    await answer(api, caller, deployment_id, first)
    for (const second of ['approve', 'reject'] as const) {
      for (const key of [caller, await another()])
        assertError(await answer(api, key, deployment_id, second), 409, 'already_decided')
    }
    const { approvals } = await getDeployment(api, caller, deployment_id)
    assert.equal(approvals.length, 1)
  }
})

test('of twelve simultaneous answers exactly one is 200, the others are 409 already_decided', async () => {
  const gate = await opened()
  const keys = await Promise.all(Array.from({ length: 12 }, another))
  const answers = await Promise.all(
    keys.map((key, at) => answer(api, key, gate.deployment_id, at % 2 === 0 ? 'approve' : 'reject')),
  )
  const won = answers.filter(({ status }) => status === 200)
  assert.equal(won.length, 1)
  for (const refused of answers.filter(({ status }) => status !== 200)) assertError(refused, 409, 'already_decided')
  const { decision } = (await pollGate(api, gate)).body.data
  assert.equal(won[0]?.body.data.status, decision)
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).status, decision)
  assert.equal((await auditOf(api, caller, gate.deployment_id)).length, 1)
})

test('two required approvals must come from two keys; the same key twice is 409 already_decided', async () => {
  const gate = await opened({ requiredApprovals: 2 })
  const first = await answer(api, caller, gate.deployment_id, 'approve')
  assert.deepEqual(first.body, { data: { approved: true, status: 'pending_approval' } })
  assertError(await answer(api, caller, gate.deployment_id, 'approve'), 409, 'already_decided')
  assert.equal((await pollGate(api, gate)).body.data.decision, 'pending')
  const last = await answer(api, await another(), gate.deployment_id, 'approve')
  assert.equal(last.body.data.status, 'approved')
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).approvals.length, 2)
})

test('simultaneous answers by one key count once', async () => {
  const gate = await opened({ requiredApprovals: 2 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => answer(api, caller, gate.deployment_id, 'approve')))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
  assert.equal((await pollGate(api, gate)).body.data.decision, 'pending')
})

test('one rejection is final even if two approvals are required', async () => {
  const gate = await opened({ requiredApprovals: 2 })
  await answer(api, caller, gate.deployment_id, 'approve')
  const { body } = await answer(api, await another(), gate.deployment_id, 'reject')
  assert.deepEqual(body, { data: { rejected: true, status: 'rejected' } })
  assert.equal((await pollGate(api, gate)).body.data.decision, 'rejected')
})

test('all covering gates must approve; the first one that has not is shown', async () => {
  caller = await api.caller()
  await configureGate(api, caller, { name: 'one' })
  const two = await configureGate(api, caller, { name: 'two', requiredApprovals: 2 })
  const gate = await openGate(api, caller, { run_id: (await createRun(api, caller)).id })
  assert.equal(gate.gate.name, 'one')
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).body.data.status, 'pending_approval')
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.gate, polled.decision], [{ id: two.id, name: 'two' }, 'pending'])
  const last = await answer(api, await another(), gate.deployment_id, 'approve')
  assert.equal(last.body.data.status, 'approved')
})

test('409 reviewer_gate_requires_human when the gate does not allow API keys', async () => {
  const { deployment_id } = await opened({ allowApiKeys: false })
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answer(api, caller, deployment_id, verb), 409, 'reviewer_gate_requires_human')
})

test('a key approves the one of two gates that allows API keys; the other needs a person', async () => {
  caller = await api.caller()
  await configureGate(api, caller, { name: 'keys' })
  await configureGate(api, caller, { name: 'people', allowApiKeys: false })
  const { deployment_id } = await openGate(api, caller, { run_id: (await createRun(api, caller)).id })
  assert.equal((await answer(api, caller, deployment_id, 'approve')).body.data.status, 'pending_approval')
  for (const key of [caller, await another()])
    assertError(await answer(api, key, deployment_id, 'approve'), 409, 'reviewer_gate_requires_human')
})

test('409 run_creator_refused for the key that reported the run when the gate refuses it; another key succeeds', async () => {
  const { deployment_id } = await opened({ allowRunCreator: false })
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answerWithKey(api, caller, deployment_id, verb), 409, 'run_creator_refused')
  assert.equal((await answer(api, await another(), deployment_id, 'approve')).body.data.status, 'approved')
})

test('403 for a key with write:ci but without write:deployments', async () => {
  const { deployment_id } = await opened()
  const opener = await api.caller({ orgId: caller.orgId, scopes: ['write:ci'] })
  const refused = await answer(api, opener, deployment_id, 'approve')
  assert.deepEqual([refused.status, refused.text], [403, '{"message":"Forbidden"}'])
})

test('404 for a deployment that does not exist, is another organization’s, or is past the retention', async () => {
  const { deployment_id } = await opened()
  const stranger = await api.caller()
  assertError(await answer(api, stranger, deployment_id, 'approve'), 404, 'not_found')
  assertError(await answer(api, caller, 'dep_none', 'approve'), 404, 'not_found')
  const team = await api.caller({ plan: 'team' })
  await configureGate(api, team)
  const old = await openGate(api, team, { run_id: (await createRun(api, team)).id })
  const createdAt = new Date(api.clock.now().getTime() - 91 * DAY_MS)
  const waiting = await openGate(api, team, { run_id: (await createRun(api, team)).id })
  await api.services.sql`
    update deployments set created_at = ${createdAt} where id in (${old.deployment_id}, ${waiting.deployment_id})`
  assert.equal((await answer(api, team, old.deployment_id, 'reject')).status, 200, 'it waits')
  await api.services.sql`update deployments set updated_at = ${createdAt} where id = ${old.deployment_id}`
  assertError(await answer(api, team, old.deployment_id, 'approve'), 404, 'not_found')
  assert.equal((await answer(api, team, waiting.deployment_id, 'approve')).status, 200, 'it still waits')
})

test('409 run_finished when the run has failed but its gate is not cancelled yet', async () => {
  const gate = await opened()
  const { pipeline_run_id } = await getDeployment(api, caller, gate.deployment_id)
  await patchRun(api, caller, pipeline_run_id, { status: 'failure' })
  assertError(await answer(api, caller, gate.deployment_id, 'approve'), 409, 'run_finished')
})

test('a refused answer leaves no audit entry', async () => {
  const { deployment_id } = await opened({ allowApiKeys: false })
  const refused: Answer = await answer(api, caller, deployment_id, 'approve')
  assert.equal(refused.status, 409)
  assert.deepEqual(await auditOf(api, caller, deployment_id), [])
})

test('the audit log is append-only', async () => {
  const { deployment_id } = await opened()
  await answer(api, caller, deployment_id, 'approve')
  const { sql } = api.services
  await assert.rejects(sql`update audit_entries set reason = 'other'`, /append only/)
  await assert.rejects(sql`delete from audit_entries`, /append only/)
  await assert.rejects(sql`truncate audit_entries`, /append only/)
})
