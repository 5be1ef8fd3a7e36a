import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { settleOverdueRuns } from '../../src/ci/runs/settle-overdue-runs.job.ts'
import { followRun } from '../../src/deployments/decisions/decide-deployment.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { answer, auditOf, configureGate, getDeployment, openGate, pollGate } from '../support/gates.ts'
import { drainQueue } from '../support/queue.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function opened(run: Record<string, unknown> = {}) {
  caller = await api.caller()
  await configureGate(api, caller)
  const { id } = await createRun(api, caller, run)
  return { runId: id as string, gate: await openGate(api, caller, { run_id: id }) }
}

for (const status of ['failure', 'cancelled', 'timed_out', 'skipped']) {
  test(`a run that finishes as ${status} cancels its waiting gate and deployment`, async () => {
    const { runId, gate } = await opened()
    await patchRun(api, caller, runId, { status })
    await drainQueue(api)
    const polled = (await pollGate(api, gate)).body.data
    const { decision, decided_by, note } = polled
    assert.deepEqual([polled.status, decision, decided_by], ['cancelled', 'rejected', 'run'])
    assert.equal(note, `The run has finished with the status ${status}.`)
    const deployment = await getDeployment(api, caller, gate.deployment_id)
    assert.deepEqual([deployment.status, deployment.custom_rule_state], ['cancelled', 'cancelled'])
    assertError(await answer(api, caller, gate.deployment_id, 'approve'), 409, 'already_decided')
    const [entry] = await auditOf(api, caller, gate.deployment_id)
    assert.deepEqual([entry?.principal_type, entry?.action, entry?.reason], ['system', 'deployment.cancel', note])
  })
}

test('a run past its deadline leaves its gate waiting, and it can still be approved', async () => {
  const own = await startTestApi()
  try {
    caller = await own.caller()
    await configureGate(own, caller)
    const { id: run_id } = await createRun(own, caller, { timeout_minutes: 5 })
    const gate = await openGate(own, caller, { run_id })
    own.clock.advance(5 * 60_000)
    await settleOverdueRuns.run(own.services, {})
    await drainQueue(own)
    assert.equal((await pollGate(own, gate)).body.data.status, 'waiting')
    assert.equal((await answer(own, caller, gate.deployment_id, 'approve')).body.data.status, 'approved')
  } finally {
    await own.close()
  }
})

test('a deadline says nothing about deployments', async () => {
  const own = await startTestApi()
  try {
    caller = await own.caller()
    await configureGate(own, caller)
    const { id: run_id } = await createRun(own, caller, { timeout_minutes: 5 })
    const gate = await openGate(own, caller, { run_id })
    await answer(own, caller, gate.deployment_id, 'approve')
    own.clock.advance(5 * 60_000)
    await settleOverdueRuns.run(own.services, {})
    await drainQueue(own)
    assert.equal((await getDeployment(own, caller, gate.deployment_id)).status, 'approved')
  } finally {
    await own.close()
  }
})

test('a run that succeeds leaves its gate waiting, and it can still be approved', async () => {
  const { runId, gate } = await opened()
  await patchRun(api, caller, runId, { status: 'success' })
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).body.data.status, 'approved')
})

for (const [run, deployment] of [
  ['success', 'success'],
  ['failure', 'failure'],
  ['timed_out', 'failure'],
  ['cancelled', 'cancelled'],
  ['skipped', 'cancelled'],
]) {
  test(`an approved deployment becomes ${deployment} when its run finishes as ${run}`, async () => {
    const { runId, gate } = await opened()
    await answer(api, caller, gate.deployment_id, 'approve')
    await patchRun(api, caller, runId, { status: run })
    await drainQueue(api)
    const { status, deployed_at } = await getDeployment(api, caller, gate.deployment_id)
    assert.deepEqual([status, deployed_at], [deployment, run === 'success' ? api.clock.now().toISOString() : null])
    assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  })
}

test("the end of one attempt does not change another attempt's deployment", async () => {
  caller = await api.caller()
  await configureGate(api, caller, { environment: '*' })
  const same = { external_run_id: 'attempts' }
  const { id: run_id } = await createRun(api, caller, same)
  const first = await openGate(api, caller, { run_id, environment: 'staging' })
  await createRun(api, caller, { ...same, attempt: 2 })
  const second = await openGate(api, caller, { run_id, attempt: 2 })
  await patchRun(api, caller, run_id, { attempt: 1, status: 'failure' })
  await drainQueue(api)
  const statuses = [first, second].map(async (gate) => (await pollGate(api, gate)).body.data.status)
  assert.deepEqual(await Promise.all(statuses), ['cancelled', 'waiting'])
})

test('a higher attempt cancels the waiting deployment of the previous one, and they refer to each other', async () => {
  caller = await api.caller()
  await configureGate(api, caller)
  const same = { external_run_id: 'superseded' }
  const { id: run_id } = await createRun(api, caller, same)
  const ids: string[] = []
  for (const attempt of [1, 2, 3]) {
    if (attempt > 1) await createRun(api, caller, { ...same, attempt })
    if (attempt !== 2) ids.push((await openGate(api, caller, { run_id, attempt })).deployment_id)
  }
  ids.splice(1, 0, (await openGate(api, caller, { run_id, attempt: 2 })).deployment_id)
  const deployments = await Promise.all(ids.map((id) => getDeployment(api, caller, id)))
  const chain = deployments.map(({ previous_attempt_id, superseded_by_id }) => [previous_attempt_id, superseded_by_id])
  assert.deepEqual(chain, [
    [null, ids[1]],
    [ids[0], ids[2]],
    [ids[1], null],
  ])
  assert.deepEqual(
    deployments.map(({ status }) => status),
    ['cancelled', 'cancelled', 'pending_approval'],
  )
})

test('a gate opened after that of a higher attempt is cancelled at once; the higher one keeps waiting', async () => {
  await configureGate(api, caller, { name: 'late attempts', environment: 'late' })
  const { id: run_id } = await createRun(api, caller, { external_run_id: 'late' })
  await createRun(api, caller, { external_run_id: 'late', attempt: 2 })
  const higher = await openGate(api, caller, { run_id, attempt: 2, environment: 'late' })
  const lower = await openGate(api, caller, { run_id, attempt: 1, environment: 'late' })
  assert.deepEqual([lower.decision, lower.status, lower.decided_by], ['rejected', 'cancelled', 'run'])
  assert.equal((await pollGate(api, higher)).body.data.status, 'waiting')
  const deployment = await getDeployment(api, caller, lower.deployment_id)
  assert.deepEqual([deployment.status, deployment.superseded_by_id], ['cancelled', higher.deployment_id])
  assertError(await answer(api, caller, lower.deployment_id, 'approve'), 409, 'already_decided')
})

test('a repeated event of a finished run changes nothing', async () => {
  const { runId, gate } = await opened()
  await answer(api, caller, gate.deployment_id, 'approve')
  await patchRun(api, caller, runId, { status: 'success' })
  await drainQueue(api)
  const once = await getDeployment(api, caller, gate.deployment_id)
  api.clock.advance(1000)
  await followRun(api.services, { org_id: caller.orgId, run_id: runId, attempt: 1, status: 'success' })
  assert.deepEqual(await getDeployment(api, caller, gate.deployment_id), once)
})
