import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { HostAction } from '../../src/codehosts/code-host.ts'
import { enqueueCall } from '../../src/codehosts/connections/send-call.job.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { followCall } from '../../src/deployments/events/read-reviews.ts'
import { settleDeployments } from '../../src/deployments/gates/settle-deployments.job.ts'
import { toBrowserAddress } from '../../src/platform/loopback.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { answer, auditOf, configureGate, getDeployment, REASON } from '../support/gates.ts'
import {
  applyEvents,
  CALLBACK,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostReview,
  hostStatus,
  minute,
  REVIEWED,
} from '../support/host-deployments.ts'
import { hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { drainQueue } from '../support/queue.ts'

const ID = 'gh_deployment_501'
const DEPLOYMENT = { kind: 'deployment', data: hostDeployment() } as const
const WAITING = { kind: 'deployment_status', data: hostStatus('waiting', minute(1)) } as const
const IN_PROGRESS = { kind: 'deployment_status', data: hostStatus('in_progress', minute(5)) } as const
const SUCCESS = { kind: 'deployment_status', data: hostStatus('success', minute(6)) } as const
const ASKED = { kind: 'gate_request', data: gateRequest() } as const

const host = fakeCodeHost()
let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
  host.answers.readEnvironment = async () => hostEnvironment()
  host.answers.listDeploymentReviews = async () => []
})

/** A deployment that waits for our rule, and for reviewers if the environment requires them. */
async function arrive(): Promise<void> {
  await applyEvents(api, source, [DEPLOYMENT, WAITING, ASKED])
  await drainQueue(api)
}

const show = () => getDeployment(api, caller, ID)
const another = () => api.caller({ orgId: caller.orgId })

type Call = { id: string; key: string; action: Extract<HostAction, { text: string }> }

/** The calls about deployments, oldest first. */
async function calls(): Promise<Call[]> {
  const rows = await api.services.sql<Call[]>`
    select id, idempotency_key as key, action
    from codehost_calls
    where org_id = ${caller.orgId}
    order by created_at, id`
  return [...rows]
}

async function decisions(): Promise<Call[]> {
  return (await calls()).filter(({ action }) => action.type === 'decision')
}

async function endCall(outcome: 'done' | 'refused' | 'failed', call?: Call): Promise<void> {
  const { id } = call ?? ((await decisions())[0] as Call)
  const subject = { subject_type: 'deployment', subject_id: ID }
  await followCall(api.services, { org_id: caller.orgId, call_id: id, ...subject, outcome })
}

for (const [verb, decision, word] of [
  ['approve', 'approved', 'Approved'],
  ['reject', 'rejected', 'Rejected'],
] as const) {
  test(`${verb}: the code host receives one decision, whose comment has the key and its reason`, async () => {
    await configureGate(api, caller)
    await arrive()
    const { body } = await answer(api, caller, ID, verb, { reason: REASON, comment: 'Line one\n# Line two' })
    assert.equal(body.data.status, decision)
    const [call, ...others] = await decisions()
    assert.deepEqual(others, [])
    assert.ok(call?.action.type === 'decision')
    assert.equal(call.key, `deployment:${ID}:decision`)
    assert.equal(call.action.decision, decision)
    const { text } = call.action
    assert.match(text, new RegExp(`^${word} through Shiplock by the API key \\*\\*test key\\*\\*, not by a person\\.`))
    assert.ok(text.includes(`> ${REASON}\n\n> Line one\n> \\# Line two`), text)
    assert.ok(text.endsWith(`(${toBrowserAddress(api.url)}/deployments/${ID})`), text)
    assert.deepEqual(call.action.target, {
      repository: { id: '1001', full_name: 'acme/shop' },
      environment: 'production',
      run_id: '9001',
      callback_url: CALLBACK,
      callback_secret: null,
    })
  })
}

test('a waiting deployment gets one comment that says what it waits for, and one for each answer that is not final', async () => {
  await configureGate(api, caller, { requiredApprovals: 2 })
  await arrive()
  await applyEvents(api, source, [ASKED, WAITING])
  await drainQueue(api)
  const [waiting, ...none] = await calls()
  assert.deepEqual(none, [])
  assert.equal(waiting?.action.type, 'comment')
  assert.match(
    waiting?.action.text ?? '',
    /^Shiplock holds this deployment\.\n\n- The gate Production needs 2 approvals\./,
  )
  await answer(api, caller, ID, 'approve')
  const comments = (await calls()).filter(({ action }) => action.type === 'comment')
  assert.equal(comments.length, 2)
  assert.ok(comments.some(({ action }) => action.text.includes(REASON)))
  assert.deepEqual(await decisions(), [])
  await answer(api, await another(), ID, 'approve')
  assert.equal((await decisions()).length, 1)
})

test('a call with the same key is stored once', async () => {
  await configureGate(api, caller)
  await arrive()
  await answer(api, caller, ID, 'approve')
  const [call] = await decisions()
  const { org_id, connection_id } = source
  const again = {
    ...{ org_id, connection_id, subject: { type: 'deployment', id: ID } as const },
    idempotency_key: call?.key ?? '',
    action: call?.action as HostAction,
  }
  await api.services.sql.begin((tx) => enqueueCall(tx, again, api.clock.now()))
  assert.equal((await decisions()).length, 1)
})

test('after 12 hours without an answer the deployment is expired and the code host receives a rejection', async () => {
  await configureGate(api, caller)
  await arrive()
  api.clock.advance(12 * 3_600_000)
  await settleDeployments.run(api.services, {})
  const { status, custom_rule_state } = await show()
  assert.deepEqual([status, custom_rule_state], ['expired', 'expired'])
  const [call] = await decisions()
  assert.ok(call?.action.type === 'decision' && call.action.decision === 'rejected')
  assert.match(call.action.text, /not approved or rejected within 12 hours/)
  await applyEvents(api, source, [{ kind: 'deployment_status', data: hostStatus('failure', minute(9)) }])
  assert.equal((await show()).status, 'expired')
  assert.equal((await show()).bypass, null)
})

test('a decision that the host never took is shown on the deployment until the host takes it or goes on', async () => {
  await configureGate(api, caller)
  await arrive()
  await answer(api, caller, ID, 'approve')
  await endCall('failed')
  assert.equal((await show()).custom_rule_awaiting, 'decision_not_delivered')
  await endCall('done')
  assert.equal((await show()).custom_rule_awaiting, null)
  await endCall('failed')
  await applyEvents(api, source, [IN_PROGRESS])
  assert.equal((await show()).custom_rule_awaiting, null)
})

test('after a refused decision the view of the host is read and stored', async () => {
  await configureGate(api, caller)
  await arrive()
  await answer(api, caller, ID, 'reject')
  host.answers.listPendingDeployments = async () => []
  host.answers.listDeploymentStatuses = async () => [
    hostStatus('waiting', minute(1)),
    hostStatus('cancelled', minute(4)),
  ]
  await endCall('refused')
  const { status, custom_rule_awaiting } = await show()
  assert.deepEqual([status, custom_rule_awaiting], ['rejected', null])
  host.answers.listPendingDeployments = async () => [{ environment: 'production', reviewers: [], reviewer_teams: [] }]
  host.answers.listDeploymentReviews = async () => [hostReview('approved', { run: { id: '9001', attempt: null } })]
  await endCall('refused')
  assert.deepEqual(
    (await show()).reviews.map(({ reviewer, state }: Json) => [reviewer, state]),
    [['grace', 'approved']],
  )
})

test('409 reviewer_gate_requires_human when only reviewers on the code host are required; nothing is sent', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  await applyEvents(api, source, [DEPLOYMENT, WAITING])
  await drainQueue(api)
  const { status, reviewers_state, required_reviewers, required_reviewer_teams } = await show()
  assert.deepEqual([status, reviewers_state], ['pending_approval', 'pending'])
  assert.deepEqual([required_reviewers, required_reviewer_teams], [['grace'], ['release']])
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answer(api, caller, ID, verb), 409, 'reviewer_gate_requires_human')
  assert.deepEqual(await calls(), [])
  assert.deepEqual(await auditOf(api, caller, ID), [])
})

for (const [verb, decision] of [
  ['approve', 'approved'],
  ['reject', 'rejected'],
] as const) {
  test(`with both gates a key can ${verb} the service's own rule first; the status stays, and a further key request is refused`, async () => {
    host.answers.readEnvironment = async () => REVIEWED
    await configureGate(api, caller)
    await arrive()
    const { status, body } = await answer(api, caller, ID, verb)
    assert.deepEqual([status, body.data.status], [200, 'pending_approval'])
    const deployment = await show()
    const { custom_rule_state, reviewers_state, approvals } = deployment
    assert.deepEqual([deployment.status, custom_rule_state, reviewers_state], ['pending_approval', decision, 'pending'])
    assert.equal(approvals.length, 1)
    for (const key of [caller, await another()])
      assertError(await answer(api, key, ID, 'approve'), 409, 'reviewer_gate_requires_human')
    assert.equal((await decisions()).length, 1)
    await applyEvents(api, source, [{ kind: 'deployment_review', data: hostReview('approved') }])
    assert.equal((await show()).status, decision)
    assertError(await answer(api, caller, ID, 'approve'), 409, 'already_decided')
    await applyEvents(api, source, [IN_PROGRESS, SUCCESS])
    assert.equal((await show()).status, verb === 'approve' ? 'success' : 'rejected')
  })
}

test('after a refused comment the view of the host is read too', async () => {
  await configureGate(api, caller)
  await arrive()
  host.answers.listPendingDeployments = async () => []
  host.answers.listDeploymentStatuses = async () => []
  host.answers.listDeploymentReviews = async () => [hostReview('rejected', { run: { id: '9001', attempt: null } })]
  const [comment] = await calls()
  assert.equal(comment?.action.type, 'comment')
  await endCall('refused', comment)
  assert.deepEqual([(await show()).status, (await show()).reviewers_state], ['rejected', 'rejected'])
})

test('a deployment that a reviewer rejected stays rejected, and its review is shown', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  await configureGate(api, caller)
  await arrive()
  await applyEvents(api, source, [
    { kind: 'deployment_review', data: hostReview('rejected', { comment: 'Not today' }) },
    { kind: 'deployment_status', data: hostStatus('failure', minute(4)) },
    { kind: 'run', data: hostRun({ status: 'failure', updated_at: minute(5) }) },
  ])
  await drainQueue(api)
  const { status, reviewers_state, reviews, bypass } = await show()
  assert.deepEqual([status, reviewers_state, bypass], ['rejected', 'rejected', null])
  assert.deepEqual(reviews, [
    {
      reviewer: 'grace',
      avatar_url: 'https://github.com/grace.png',
      state: 'rejected',
      comment: 'Not today',
      reviewed_at: minute(3).toISOString(),
    },
  ])
  assertError(await answer(api, caller, ID, 'approve'), 409, 'already_decided')
})

test("409 not_gated for a deployment without the service's own rule", async () => {
  await applyEvents(api, source, [DEPLOYMENT])
  await drainQueue(api)
  assertError(await answer(api, caller, ID, 'approve'), 409, 'not_gated')
  await applyEvents(api, source, [SUCCESS])
  assertError(await answer(api, caller, ID, 'approve'), 409, 'not_gated')
})

test('409 gate_not_configured where no gate covers the environment; a gate that is configured later covers it', async () => {
  await configureGate(api, caller, { name: 'Other', environment: 'staging' })
  await arrive()
  const { status, custom_rule_state, custom_rule_awaiting } = await show()
  assert.deepEqual(
    [status, custom_rule_state, custom_rule_awaiting],
    ['pending_approval', 'pending', 'manual_decision_required'],
  )
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answer(api, caller, ID, verb), 409, 'gate_not_configured')
  assert.match((await calls())[0]?.action.text ?? '', /No gate covers the environment production/)
  api.clock.advance(24 * 3_600_000)
  await settleDeployments.run(api.services, {})
  assert.equal((await show()).status, 'pending_approval')
  await configureGate(api, caller)
  await drainQueue(api)
  // A person must approve, as without the gate.
  assertError(await answer(api, caller, ID, 'approve'), 409, 'reviewer_gate_requires_human')
  const grace = await createPerson(api, { ...caller, role: 'release_manager' })
  const approved = await requestAs(api, grace, 'POST', `/deployments/${ID}/approve`, {})
  assert.equal(approved.body.data.status, 'approved')
})

test('a run that ends without success cancels its waiting deployment, which then cannot be answered', async () => {
  await configureGate(api, caller)
  await arrive()
  await applyEvents(api, source, [{ kind: 'run', data: hostRun({ status: 'cancelled', updated_at: minute(5) }) }])
  const { status, custom_rule_state } = await show()
  assert.deepEqual([status, custom_rule_state], ['cancelled', 'cancelled'])
  assertError(await answer(api, caller, ID, 'approve'), 409, 'already_decided')
  assert.deepEqual(
    (await auditOf(api, caller, ID)).map(({ action }) => action),
    ['deployment.cancel'],
  )
})
