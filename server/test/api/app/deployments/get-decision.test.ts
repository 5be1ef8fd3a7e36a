import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { HOUR_MS } from '../../../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import { configureGate, openGate, REASON } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, ownCredential, type Person, requestAs } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'
import { drainQueue } from '../../../support/queue.ts'

const BLOCKING = `
name: Tests
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: tests
    name: Tests have passed
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any
    reason: No test results were reported.`

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'release_manager' })
})

async function readDecision(id: string, person = ada): Promise<Json> {
  const { status, body, text } = await requestAs(api, person, 'GET', `/deployments/${id}/decision`)
  assert.equal(status, 200, text)
  return body.data
}

async function open(gate: Parameters<typeof configureGate>[2] = {}): Promise<Json> {
  await configureGate(api, caller, gate)
  const { id: run_id } = await createRun(api, caller)
  return { run_id, ...(await openGate(api, caller, { run_id })) }
}

const approve = (who: Person, id: string, body?: unknown) =>
  requestAs(api, who, 'POST', `/deployments/${id}/approve`, body)

test('the gates with how many have approved, until when, and who opened the deployment', async () => {
  const { deployment_id } = await open({ requiredApprovals: 2, allowApiKeys: false })
  assert.equal((await approve(ada, deployment_id)).status, 200)
  const { gates, answer_until, opened_by, policies, history, refused } = await readDecision(deployment_id)
  const [{ id, ...gate }] = gates
  assert.deepEqual(gate, {
    ...{ name: 'Production', required_approvals: 2, approvals: 1, allow_api_keys: false, allow_run_creator: true },
    ...{
      policies: [],
      approve_by_policies: false,
      replaced_at: null,
      after_rejection: false,
      require_linked_accounts: false,
      approved_at: null,
      approved_by: null,
    },
  })
  assert.equal(answer_until, new Date(api.clock.now().getTime() + 12 * HOUR_MS).toISOString())
  assert.deepEqual(opened_by, { type: 'api_key', name: 'test key' })
  assert.deepEqual([policies, history], [[], []])
  assert.deepEqual([refused.approve.code, refused.reject.code], ['already_decided', 'already_decided'])
  const grace = await createPerson(api, { ...caller, role: 'release_manager' })
  assert.deepEqual((await readDecision(deployment_id, grace)).refused, { approve: null, reject: null })
  await approve(grace, deployment_id)
  const [approved] = (await readDecision(deployment_id)).gates
  assert.deepEqual([approved.approvals, approved.approved_by], [2, 'principals'])
})

test('the rules of the policies with their expression and evidence, also after the next version', async () => {
  await apply(api, caller, BLOCKING)
  const { deployment_id } = await open()
  const [policy] = (await readDecision(deployment_id)).policies
  assert.deepEqual([policy.name, policy.version, policy.mode, policy.decision], ['Tests', 1, 'enforce', 'block'])
  const [{ evidence, ...rule }] = policy.rules
  assert.deepEqual(rule, {
    ...{ rule: 'tests', name: 'Tests have passed', status: 'fail', blocking: true },
    reason: 'No test results were reported.',
    expression: 'attestations.exists(a, a.kind == "test-results" && a.status == "pass")',
  })
  assert.match(evidence, /attestations/)
  await apply(api, caller, BLOCKING.replace('"pass"', '"ok"'))
  assert.match((await readDecision(deployment_id)).policies[0].rules[0].expression, /"pass"/)
})

test('who opened the deployment reads why they cannot approve, and can still reject', async () => {
  const { deployment_id } = await open({ allowRunCreator: false })
  await ownCredential(api, ada, caller.keyId)
  const { refused } = await readDecision(deployment_id)
  assert.equal(refused.approve.code, 'run_creator_refused')
  assert.match(refused.approve.message, /Another person/)
  assert.equal(refused.reject, null)
})

test('a deployment whose run has failed cannot be answered, before and after it is cancelled', async () => {
  const { run_id, deployment_id } = await open()
  await patchRun(api, caller, run_id, { status: 'failure' })
  const { refused } = await readDecision(deployment_id)
  assert.deepEqual([refused.approve.code, refused.reject.code], ['run_finished', 'run_finished'])
  await drainQueue(api)
  const later = await readDecision(deployment_id)
  assert.equal(later.refused.approve.message, 'The deployment is cancelled.')
  assert.deepEqual(
    later.history.map(({ action, by, principal }: Json) => [action, by, principal]),
    [['deployment.cancel', 'Shiplock', 'system']],
  )
})

test('a deployment that has expired cannot be answered', async () => {
  const { deployment_id } = await open()
  api.clock.advance(12 * HOUR_MS)
  const later = await createPerson(api, caller)
  const { refused } = await readDecision(deployment_id, later)
  assert.deepEqual([refused.approve.code, refused.reject.message], ['already_decided', 'The deployment is expired.'])
})

test('policies that pass are named in the history', async () => {
  await apply(api, caller, BLOCKING.replace('"pass")', '"pass") || true'))
  const { deployment_id } = await open({ policies: ['Tests'] })
  const { history, gates } = await readDecision(deployment_id)
  assert.deepEqual(
    history.map(({ action, by, principal }: Json) => [action, by, principal]),
    [['deployment.approve', 'Tests', 'policy']],
  )
  assert.equal(gates[0].approved_by, 'policies')
})

test('404 for a deployment of another organization', async () => {
  const { deployment_id } = await open()
  const stranger = await createPerson(api, await api.caller())
  assertError(await requestAs(api, stranger, 'GET', `/deployments/${deployment_id}/decision`), 404, 'not_found')
  assertError(await approve(stranger, deployment_id, { reason: REASON }), 404, 'not_found')
})
