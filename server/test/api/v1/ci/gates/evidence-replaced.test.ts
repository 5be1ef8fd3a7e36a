// No second chance: evidence that disappears.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { configureGate, getDeployment, pollGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, scoredResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const TESTED = 'attestations.exists(a, a.kind == "test-results" && a.status == "pass")'
const SCANNED = 'scans.exists(s, s.tool == "Linter")'
const [PASSING, FAILING] = [0, 1].map((failed) => ({
  kind: 'test-results',
  name: 'unit',
  data: { total: 2, passed: 2 - failed, failed, errors: 0, skipped: 0 },
})) as [Json, Json]
const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001', gitRef: 'refs/heads/main' }

let api: TestApi
let caller: TokenCaller
let run: { id: string; claims: Json & { run_id: string } }

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
  const claims = newRunClaims()
  run = { id: (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data.id, claims }
})
test.afterEach(() => caller.close())

const person = (role: 'developer' | 'release_manager' | 'security', name: string) =>
  createPerson(api, { orgId: caller.orgId, slug: caller.slug, role, name })

/** A policy with this rule, and a gate of `production` that it approves unless `gate` says otherwise. */
async function demand(expression: string, gate: Json = {}): Promise<void> {
  const bindings = "bindings: { environments: ['*'] }"
  await apply(
    api,
    caller,
    `name: p\nmode: enforce\n${bindings}\nrules:\n  - rule: r\n    expression: '${expression}'\n`,
  )
  await configureGate(api, caller, { policies: ['p'], ...gate })
}

async function open(): Promise<Json> {
  const gate = await caller.send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'production' }, run.claims)
  assert.ok(gate.status <= 201, gate.text)
  await drainQueue(api)
  return gate.body.data
}

async function report(attestation: Json): Promise<Json> {
  api.clock.advance(1000)
  const body = { job: { name: 'build' }, attestations: [attestation] }
  const sent = await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, body, run.claims)
  assert.ok(sent.status <= 201, sent.text)
  await drainQueue(api)
  return sent.body.data
}

const statusOf = async ({ deployment_id }: Json): Promise<string> =>
  (await getDeployment(api, caller, deployment_id)).status

async function historyOf({ deployment_id }: Json): Promise<[action: string, reason: string][]> {
  const reader = await person('developer', 'Reader')
  const { body } = await requestAs(api, reader, 'GET', `/deployments/${deployment_id}/decision`)
  return body.data.history.map(({ action, reason }: Json) => [action, reason])
}

test('an approval that nobody has read waits again when its evidence is replaced, and the history says by whom', async () => {
  await demand(TESTED)
  const gate = await open()
  assert.equal(gate.decision, 'pending')
  await report(PASSING)
  assert.equal(await statusOf(gate), 'approved')
  await report(FAILING)
  assert.equal(await statusOf(gate), 'pending_approval')
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.status, polled.decision], ['waiting', 'pending'])
  const history = await historyOf(gate)
  assert.deepEqual(history.map(([action]) => action).sort(), [
    'deployment.approve',
    'deployment.ask_again',
    'deployment.replace_evidence',
  ])
  const said = history.find(([action]) => action === 'deployment.replace_evidence')?.[1] ?? ''
  assert.match(
    said,
    /^Policies were asked with test-results unit of the job build\. It was replaced or removed by a CI job of the trust .+ \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)\.$/,
  )
  await report(PASSING)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('an approval that was read stays, and its history says what was replaced since', async () => {
  await demand(TESTED)
  for (const read of [(gate: Json) => pollGate(api, gate), open]) {
    const claims = newRunClaims()
    run = { id: (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data.id, claims }
    const gate = await open()
    await report(PASSING)
    await read(gate)
    await report(FAILING)
    assert.equal(await statusOf(gate), 'approved')
    assert.deepEqual(
      (await historyOf(gate)).map(([action]) => action),
      ['deployment.approve', 'deployment.replace_evidence'],
    )
  }
})

test('what is sent again unchanged replaces nothing, and each replacement is noted once', async () => {
  await demand(TESTED)
  const gate = await open()
  await report(PASSING)
  await report(PASSING)
  assert.deepEqual((await historyOf(gate)).length, 1)
  await report(FAILING)
  await pollGate(api, gate)
  await report(PASSING)
  await pollGate(api, gate)
  for (const attestation of [FAILING, PASSING, FAILING]) await report(attestation)
  const notes = (await historyOf(gate)).filter(([action]) => action === 'deployment.replace_evidence')
  // One while it was approved, one while it waited, and one for all since its approval was read.
  assert.equal(notes.length, 3)
})

test('attestations and artifacts that are added under a stored name are noted, too', async () => {
  await demand(TESTED)
  const gate = await open()
  const { report_id } = await report(PASSING)
  api.clock.advance(1000)
  const path = `/v1/ci/runs/${run.id}/reports/${report_id}/attestations`
  const sent = await caller.send('POST', path, { attestations: [FAILING] }, run.claims)
  assert.equal(sent.status, 200, sent.text)
  await drainQueue(api)
  assert.equal(await statusOf(gate), 'pending_approval')
})

test('a gate that policies had approved is open again when its evidence goes while another gate waits', async () => {
  await demand(TESTED)
  await configureGate(api, caller, { name: 'People', requiredApprovals: 1, allowRunCreator: false })
  const gate = await open()
  await report(PASSING)
  const reader = await person('developer', 'Reader')
  const readGates = async (): Promise<Json[]> =>
    (await requestAs(api, reader, 'GET', `/deployments/${gate.deployment_id}/decision`)).body.data.gates
  assert.deepEqual((await readGates()).map(({ approved_by }) => approved_by).sort(), [null, 'policies'])
  await report(FAILING)
  assert.deepEqual(
    (await readGates()).map(({ approved_by }) => approved_by),
    [null, null],
  )
})

test('what people approved waits if a policy blocks it before anybody read that, and goes on when it passes', async () => {
  await demand(TESTED, { policies: [], allowRunCreator: false })
  await report(PASSING)
  const gate = await open()
  const manager = await person('release_manager', 'Ann')
  const approve = (who: Person, body: Json = {}): Promise<Answer> =>
    requestAs(api, who, 'POST', `/deployments/${gate.deployment_id}/approve`, body)
  assert.equal((await approve(manager)).body.data.status, 'approved')
  await report(FAILING)
  assert.equal(await statusOf(gate), 'pending_approval')
  const other = await person('release_manager', 'Ben')
  // Without the permission to override, the answer is one of two.
  assert.equal((await approve(other, { reason: 'It is urgent today.' })).body.data.status, 'pending_approval')
  await report(PASSING)
  assert.equal(await statusOf(gate), 'approved')
})

/** Uploads a report of the linter as a job, which has been read when this returns. */
async function scan(rules: string[]): Promise<void> {
  api.clock.advance(1000)
  const file = sarif(
    rules.map((rule) => scoredResult(rule, 9.8)),
    'Linter',
    { marks: [String(api.clock.now().getTime())] } as never,
  )
  const { id } = await uploadReport(api, { ...caller, key: await caller.sign() }, file, REPOSITORY)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  await drainQueue(api)
}

test('a stream that somebody ends or reports to again is noted, and who waits is asked again', async () => {
  await demand(SCANNED)
  await configureGate(api, caller, { name: 'People' })
  await scan([])
  const gate = await open()
  assert.equal(await statusOf(gate), 'pending_approval')
  await scan(['a'])
  const kim = await person('security', 'Kim')
  const [stream] = (await api.request('GET', '/v1/security/streams', { key: caller.key })).body.data
  api.clock.advance(1000)
  const ended = await requestAs(api, kim, 'POST', `/security/streams/${stream.id}/end`, {
    reason: 'Not used any more.',
  })
  assert.equal(ended.status, 200, ended.text)
  await drainQueue(api)
  const notes = (await historyOf(gate)).map(([, reason]) => reason)
  assert.equal(notes.length, 2, notes.join('\n'))
  assert.match(notes[0] ?? '', /the security report of Linter for refs\/heads\/main\. It was replaced or removed by/)
  assert.match(notes[1] ?? '', /the stream of security reports of Linter .* by Kim/)
  const { policy_evaluation } = await getDeployment(api, caller, gate.deployment_id)
  assert.equal(policy_evaluation.decision, 'block')
})
