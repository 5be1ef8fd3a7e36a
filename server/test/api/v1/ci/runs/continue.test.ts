import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { settleOverdueRuns } from '../../../../../src/ci/runs/settle-overdue-runs.job.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { newRun, patchRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../../../../support/gates.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { newRunClaims, startTokenCaller } from '../../../../support/token-caller.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

const post = (body: object, key = caller.key): Promise<Answer> => api.request('POST', '/v1/ci/runs', { key, body })
const numberOf = ({ status, body }: Answer) => [status, body.data.attempt]

test('the first call creates the run, others return its open attempt, and after its end the next one', async () => {
  const run = { ...newRun({ ci_system: 'gitlab-ci' }), continue: true }
  const first = await post(run)
  assert.deepEqual(numberOf(first), [201, 1], first.text)
  const { id } = first.body.data
  assert.deepEqual(numberOf(await post(run)), [200, 1])
  await patchRun(api, caller, id, { status: 'failure' })
  const answers = await Promise.all([post(run), post(run), post(run)])
  assert.deepEqual(answers.map(numberOf).sort(), [
    [200, 2],
    [200, 2],
    [201, 2],
  ])
  assert.ok(answers.every(({ body }) => body.data.id === id && body.data.status === 'in_progress'))
})

test('400 together with attempt and after 999 attempts, 409 for another repository or commit', async () => {
  const run = newRun()
  const { id } = (await post(run)).body.data
  assertError(await post({ ...run, continue: true, attempt: 2 }), 400, 'invalid_request')
  assertError(await post({ ...run, continue: false }), 400, 'invalid_request')
  await patchRun(api, caller, id, { status: 'success' })
  for (const other of [{ repository: 'github.com/acme/other' }, { commit_sha: 'b'.repeat(40) }])
    assertError(await post({ ...run, ...other, continue: true }), 409, 'run_conflict')
  await post({ ...run, attempt: 999 })
  await patchRun(api, caller, id, { status: 'success' })
  const refused = await post({ ...run, continue: true })
  assertError(refused, 400, 'invalid_request')
  assert.match(refused.body.error.message, /continue.*999 attempts/)
})

test('a continued attempt that nobody finishes is at its deadline what the run was before, and moves no deployment', async () => {
  const run = { ...newRun(), timeout_minutes: 5 }
  const { id } = (await post(run)).body.data
  await configureGate(api, caller)
  const gate = await openGate(api, caller, { run_id: id })
  await patchRun(api, caller, id, { status: 'success' })
  await drainQueue(api)
  const before = (await getDeployment(api, caller, gate.deployment_id)).status
  assert.deepEqual(numberOf(await post({ ...run, continue: true })), [201, 2])
  const statusOf = async () => (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data.status
  assert.equal(await statusOf(), 'in_progress')
  api.clock.advance(6 * 60_000)
  assert.equal(await statusOf(), 'success')
  await settleOverdueRuns.run(api.services, {}, new AbortController().signal)
  await drainQueue(api)
  assert.equal(await statusOf(), 'success')
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).status, before)
})

test('an attempt that continued a continued one that nobody finished has the status of the last stated end', async () => {
  const run = { ...newRun(), timeout_minutes: 5 }
  const { id } = (await post(run)).body.data
  await patchRun(api, caller, id, { status: 'failure' })
  for (const attempt of [2, 3]) {
    assert.deepEqual(numberOf(await post({ ...run, continue: true })), [201, attempt])
    api.clock.advance(6 * 60_000)
  }
  const { body } = await api.request('GET', `/v1/runs/${id}`, { key: caller.key })
  assert.equal(body.data.status, 'failure')
})

test('a weaker lane continues its own run only', async (t) => {
  const tokens = await startTokenCaller(api)
  t.after(() => tokens.close())
  const claims = newRunClaims()
  const own = { ...newRun({ ci_system: 'github-actions', repository: 'github.com/acme/shop' }) }
  const number = { ...own, external_run_id: claims.run_id, commit_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567' }
  const verified = await tokens.send('POST', '/v1/ci/runs', number, claims)
  assert.equal(verified.status, 201, verified.text)
  const beside = await post({ ...number, continue: true }, tokens.key)
  assert.equal(beside.body.data.trust, 'self_reported', beside.text)
  assert.notEqual(beside.body.data.id, verified.body.data.id)
})
