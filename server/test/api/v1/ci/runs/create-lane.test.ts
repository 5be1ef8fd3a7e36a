// No second chance: whose run a number is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findNewestRuns } from '../../../../../src/ci/evidence/newest-runs.store.ts'
import { startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { sendReport, TESTS } from '../../../../support/ci-reports.ts'
import { createRun, patchRun, postRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, openGate, pollGate, postGate } from '../../../../support/gates.ts'
import { hostRepository, hostRun, insertConnection } from '../../../../support/host-objects.ts'
import type { Json } from '../../../../support/json.ts'
import { applyRuns } from '../../../../support/provider-runs.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const STRANGE = { event_name: 'pull_request_target' }
const SAID = {
  url: 'https://ci.example/evil',
  actor: 'mallory',
  timeout_minutes: 5,
  started_at: '2026-01-01T00:00:00Z',
}

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api)
  await configureGate(api, caller)
})
after(async () => {
  await caller?.close()
  await api?.close()
})

type Claims = ReturnType<typeof newRunClaims>

const byToken = async (claims: Claims, status = 201): Promise<Json> => {
  const answer = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assert.equal(answer.status, status, answer.text)
  return answer.body.data
}
const byKey = (claims: Claims, fields: Record<string, unknown> = {}) => createRun(api, caller, ownRun(claims, fields))
const readRun = async (id: string) => (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data
const gateByToken = async (run: Json, claims: Claims): Promise<Json> => {
  const body = { run_id: run.id, environment: 'production' }
  const answer = await caller.send('POST', '/v1/ci/gates', body, claims)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

test("201 another run for what a key reports under the number of a token's run, whose gate does not notice", async () => {
  const claims = newRunClaims()
  const run = await byToken(claims)
  const gate = await gateByToken(run, claims)
  const shown = await readRun(run.id)
  const first = await byKey(claims, SAID)
  assert.notEqual(first.id, run.id)
  assert.deepEqual([first.trust, first.stands_beside], ['self_reported', run.id])
  const last = await byKey(claims, { ...SAID, attempt: 999 })
  assert.deepEqual([last.id, last.attempt, last.stands_beside], [first.id, 999, run.id])
  await openGate(api, caller, { run_id: first.id, attempt: 999 })
  for (const attempt of [1, 999]) await patchRun(api, caller, first.id, { attempt, status: 'failure' })
  await drainQueue(api)
  assert.deepEqual(await readRun(run.id), { ...shown, stands_beside: first.id })
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  assert.deepEqual((await readRun(first.id)).stands_beside, run.id)
})

test('the next attempt of the token is one of its own run, and supersedes its gate', async () => {
  const claims = newRunClaims()
  const run = await byToken(claims)
  const gate = await gateByToken(run, claims)
  await byKey(claims, { attempt: 999 })
  const second = { ...claims, run_attempt: '2' }
  const next = await byToken(second)
  assert.deepEqual([next.id, next.attempt, next.trust], [run.id, 2, 'verified'])
  const body = { run_id: run.id, attempt: 2, environment: 'production' }
  const { deployment_id } = (await caller.send('POST', '/v1/ci/gates', body, second)).body.data
  assert.equal((await pollGate(api, gate)).body.data.status, 'cancelled')
  assert.equal((await getDeployment(api, caller, deployment_id)).previous_attempt_id, gate.deployment_id)
})

test('200 and nothing of what a key has said when its token takes a run over; the reports of the key stay its own', async () => {
  const claims = newRunClaims()
  const { id } = await byKey(claims, { ...SAID, ci_system_name: 'Evil' })
  const { report_id } = await sendReport(api, caller, id, { attestations: [TESTS] })
  await byKey(claims, { ...SAID, attempt: 999 })
  await patchRun(api, caller, id, { status: 'success' })
  const run = await byToken(claims, 200)
  assert.deepEqual(
    [run.id, run.trust, run.attempt, run.status, run.completed_at, run.ci_system_name],
    [id, 'verified', 1, 'in_progress', null, null],
  )
  assert.deepEqual([run.started_at, run.stands_beside], [api.clock.now().toISOString(), null])
  assert.equal(Date.parse(run.deadline_at), api.clock.now().getTime() + 360 * 60_000)
  assert.ok(run.url !== SAID.url && run.actor !== SAID.actor, JSON.stringify(run))
  assert.deepEqual(
    (await readRun(id)).attempts.map(({ number, status }: Json) => [number, status]),
    [[1, 'in_progress']],
  )
  const report = { job: { name: 'test' } }
  const own = (await caller.send('POST', `/v1/ci/runs/${id}/reports`, report, claims)).body.data
  assert.deepEqual([own.trust, own.stands_beside], ['verified', report_id])
})

test('a report or a change of the token takes the run over, too', async () => {
  for (const [method, below, body] of [
    ['POST', '/reports', { job: {} }],
    ['PATCH', '', { status: 'success' }],
  ] as const) {
    const claims = newRunClaims()
    const { id } = await byKey(claims, { ...SAID, attempt: 7 })
    const answer = await caller.send(method, `/v1/ci/runs/${id}${below}`, body, claims)
    assert.deepEqual([answer.body.data?.attempt, answer.body.data?.trust], [1, 'verified'], answer.text)
    assert.equal((await readRun(id)).run_attempt, 1)
  }
})

test("the gates of a key's run are not those of the token that takes it over", async () => {
  const claims = newRunClaims()
  const { id } = await byKey(claims)
  const early = await openGate(api, caller, { run_id: id })
  await byKey(claims, { attempt: 999 })
  await openGate(api, caller, { run_id: id, attempt: 999 })
  await patchRun(api, caller, id, { attempt: 1, status: 'failure' })
  const gate = await gateByToken(await byToken(claims, 200), claims)
  assert.notEqual(gate.gate_id, early.gate_id)
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  const { previous_attempt_id, superseded_by_id } = await getDeployment(api, caller, gate.deployment_id)
  assert.deepEqual([previous_attempt_id, superseded_by_id], [null, null])
})

test('a job of strangers takes nothing over: its run stands beside that of the key', async () => {
  const claims = newRunClaims(STRANGE)
  const key = await byKey(claims)
  const shown = await readRun(key.id)
  assertError(await caller.send('POST', `/v1/ci/runs/${key.id}/reports`, { job: {} }, claims), 403, 'forbidden')
  assertError(await caller.send('PATCH', `/v1/ci/runs/${key.id}`, { status: 'failure' }, claims), 403, 'forbidden')
  const strange = await byToken(claims)
  assert.deepEqual([strange.trust, strange.stands_beside], ['untrusted', key.id])
  assert.deepEqual(await readRun(key.id), { ...shown, stands_beside: strange.id })
})

test('a token that has a run reports about that of a key as any other token of the repository', async () => {
  const claims = newRunClaims()
  await byToken(claims)
  const { id } = await byKey(claims)
  const { body, text } = await caller.send('POST', `/v1/ci/runs/${id}/reports`, { job: {} }, claims)
  assert.equal(body.data?.trust, 'self_reported', text)
  assert.equal((await readRun(id)).trust, 'self_reported')
})

test('what a key reports under the number of a run of the code host stands beside it', async (t) => {
  const connected = await startTokenCaller(api)
  t.after(() => connected.close())
  const repository = hostRepository({ id: '7770001' })
  const source = await insertConnection(api.services.sql, connected.orgId, repository)
  const { run_id } = newRunClaims()
  await applyRuns(api.services, source, hostRun({ id: run_id, repository, head_repository_id: repository.id }))
  const address = `${repository.host}/${repository.full_name}`
  const fields = { ci_system: 'github-actions', external_run_id: run_id }
  const own = await createRun(api, connected, { ...fields, repository: address })
  assert.deepEqual([own.trust, own.stands_beside], ['self_reported', `gh_run_${run_id}`])
  const again = await postRun(api, connected, { ...fields, repository: address })
  assert.deepEqual([again.status, again.body.data.stands_beside], [200, `gh_run_${run_id}`])
})

test('a run that was lowered before the upgrade keeps its lane, and its token starts one of its own', async () => {
  const claims = newRunClaims()
  const lowered = await byToken(claims)
  await api.services.sql`update ci_runs set trust = 'self_reported' where id = ${lowered.id}`
  const run = await byToken(claims)
  assert.deepEqual([run.trust, run.stands_beside], ['verified', lowered.id])
  const key = await postRun(api, caller, ownRun(claims))
  assert.deepEqual([key.status, key.body.data.id, key.body.data.trust], [200, lowered.id, 'self_reported'])
})

test('a gate from before the upgrade, which has no lane, is found again and superseded as before', async () => {
  const { id, external_run_id } = await createRun(api, caller)
  const gate = await openGate(api, caller, { run_id: id })
  await api.services.sql`update opened_gates set lane = null where id = ${gate.gate_id}`
  const again = await postGate(api, caller, { run_id: id, environment: 'production' })
  assert.deepEqual([again.status, again.body.data.gate_id], [200, gate.gate_id])
  await createRun(api, caller, { external_run_id, attempt: 2 })
  await openGate(api, caller, { run_id: id, attempt: 2 })
  assert.equal((await pollGate(api, gate)).body.data.status, 'cancelled')
})

test('runs of keys do not take the place of verified ones among the newest', async () => {
  const claims = newRunClaims()
  const { id } = await byToken(claims)
  await caller.send('PATCH', `/v1/ci/runs/${id}`, { status: 'success' }, claims)
  const { id: other } = await byKey(newRunClaims())
  await patchRun(api, caller, other, { status: 'success' })
  await api.services.sql`
    insert into ci_runs
    select (jsonb_populate_record(run, jsonb_build_object(
      'id', run.id || '_' || n, 'external_run_id', 'flood' || n, 'day_number', n, 'credential_id', run.org_id,
      'created_at', run.created_at + interval '1 minute'
    ))).*
    from ci_runs run, generate_series(1, 100) n
    where run.id = ${other}`
  const runs = await findNewestRuns(api.services.sql, caller.orgId, 'github.com/acme/shop', api.clock.now())
  assert.deepEqual(runs.filter(({ trust }) => trust === 'verified').map((run) => run.id)[0], id)
})
