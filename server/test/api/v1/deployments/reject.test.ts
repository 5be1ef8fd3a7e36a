import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { createRun } from '../../../support/ci-runs.ts'
import {
  answer,
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
beforeEach(async () => {
  caller = await api.caller()
})

test('200 with rejected and the status; gate, deployment and audit log show the key as principal', async () => {
  const gate = await openGate(api, caller)
  const { status, body } = await answer(api, caller, gate.deployment_id, 'reject')
  assert.deepEqual([status, body], [200, { data: { rejected: true, status: 'rejected' } }])
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.decision, polled.status, polled.note], ['rejected', 'decided', REASON])
  const deployment = await getDeployment(api, caller, gate.deployment_id)
  assert.deepEqual([deployment.status, deployment.custom_rule_state], ['rejected', 'rejected'])
  const [approval] = deployment.approvals
  assert.deepEqual([approval.decision, approval.principal, approval.note], ['rejected', 'api_key', REASON])
  const [entry] = await auditOf(api, caller, gate.deployment_id)
  assert.deepEqual(
    [entry?.action, entry?.principal_id, entry?.reason],
    ['deployment.reject', (await approverOf(api, caller)).keyId, REASON],
  )
})

test('one rejection rejects all covering gates', async () => {
  await configureGate(api, caller, { name: 'keys' })
  await configureGate(api, caller, { name: 'people', allowApiKeys: false })
  const gate = await openGate(api, caller, { run_id: (await createRun(api, caller)).id })
  assert.equal((await answer(api, caller, gate.deployment_id, 'reject')).body.data.status, 'rejected')
  assert.equal((await pollGate(api, gate)).body.data.decision, 'rejected')
})

test('400 and 404 in the same cases as an approval', async () => {
  const { deployment_id } = await openGate(api, caller)
  assertError(await answer(api, caller, deployment_id, 'reject', { reason: 'short' }), 400, 'reason_required')
  assertInvalid(await answer(api, caller, deployment_id, 'reject', { reason: REASON, why: '' }), '/body/why')
  assertInvalid(await answer(api, caller, 'a%20b', 'reject'), '/path/id')
  assertError(await answer(api, await api.caller(), deployment_id, 'reject'), 404, 'not_found')
})
