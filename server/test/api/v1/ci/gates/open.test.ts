import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { OpenedGate } from '../../../../../src/deployments/gates/gate.schema.ts'
import { toBrowserAddress } from '../../../../../src/platform/loopback.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../../support/ci-runs.ts'
import { answer, configureGate, getDeployment, openGate, postGate } from '../../../../support/gates.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function freshCaller(): Promise<Caller> {
  caller = await api.caller()
  return caller
}

test('201 with a waiting gate, its configured gate, a poll token and the console URL', async () => {
  await freshCaller()
  const configured = await configureGate(api, caller, { name: 'Production' })
  const run = await createRun(api, caller)
  const { status, body } = await postGate(api, caller, { run_id: run.id, environment: 'production' })
  assert.equal(status, 201)
  assert.ok(Check(OpenedGate, body.data), JSON.stringify(body.data))
  const { gate_id, deployment_id, poll_token, expires_at, ...rest } = body.data
  assert.match(gate_id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  assert.match(poll_token, /^shl_gate_[0-9A-Za-z]{46}$/)
  assert.equal(Date.parse(expires_at) - api.clock.now().getTime(), 12 * 3_600_000)
  assert.deepEqual(rest, {
    environment: 'production',
    gate: { id: configured.id, name: 'Production' },
    decision: 'pending',
    status: 'waiting',
    decided_by: null,
    note: null,
    url: `${toBrowserAddress(api.url)}/deployments/${deployment_id}`,
    poll_after_seconds: 5,
  })
})

test('only the hash of the poll token is stored', async () => {
  await freshCaller()
  const gate = await openGate(api, caller)
  const [row] = await api.services
    .sql`select row_to_json(opened_gates)::text as json from opened_gates where id = ${gate.gate_id}`
  assert.doesNotMatch(row?.json, /shl_gate_/)
})

test("the new deployment copies its run's fields and waits for the service's own rule", async () => {
  await freshCaller()
  await configureGate(api, caller)
  const run = await createRun(api, caller, {
    ref: 'refs/heads/main',
    url: 'https://ci.example/7',
    actor: 'ada',
    pipeline_name: 'Deploy',
  })
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, job: 'deploy' })
  const deployment = await getDeployment(api, caller, deployment_id)
  assert.match(deployment_id, /^dep_[0-9A-Z]{26}$/)
  const now = api.clock.now().toISOString()
  assert.deepEqual(deployment, {
    ...EMPTY,
    id: deployment_id,
    org_id: caller.orgId,
    repository: 'api',
    repository_full_name: 'acme/api',
    environment: 'production',
    status: 'pending_approval',
    workflow_name: 'Deploy',
    provider: 'other',
    branch: 'main',
    commit_sha: 'a'.repeat(40),
    author: 'ada',
    pipeline_run_id: run.id,
    html_url: 'https://ci.example/7',
    job_id: 'deploy',
    protection_rule_type: 'customRule',
    protection_rule_types: ['customRule'],
    gated: true,
    custom_rule_state: 'pending',
    custom_rule_awaiting: 'manual_decision_required',
    awaiting: ['customRule'],
    attempt: 1,
    created_at: now,
    updated_at: now,
  })
})

const EMPTY = {
  workflow_path: null,
  github_run_id: null,
  commit_message: null,
  release_name: null,
  author_avatar_url: null,
  version: null,
  self_approved: false,
  live: null,
  required_reviewers: [],
  required_reviewer_teams: [],
  deployed_at: null,
  rollback_at: null,
  callback_url: null,
  environment_url: null,
  reviewers_state: null,
  previous_attempt_id: null,
  superseded_by_id: null,
  reviews: [],
  approvals: [],
  external_custom_rules: [],
  bypass: null,
  override: null,
  policy_evaluation: null,
  exposure: 'unknown',
}

test('200 with the same gate and token for the same run, attempt, environment and job', async () => {
  await freshCaller()
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  const first = await postGate(api, caller, { run_id, environment: 'production' })
  const again = await postGate(api, caller, { run_id, environment: 'production', attempt: 1 })
  assert.deepEqual([first.status, again.status], [201, 200])
  assert.deepEqual(again.body, first.body)
})

test('another job, environment or attempt opens another gate', async () => {
  await freshCaller()
  await configureGate(api, caller, { environment: '*' })
  const same = { external_run_id: 'apart' }
  const { id: run_id } = await createRun(api, caller, same)
  await createRun(api, caller, { ...same, attempt: 2 })
  const others = [{}, { job: 'eu' }, { job: 'us' }, { environment: 'staging' }, { attempt: 2 }]
  const ids: string[] = []
  for (const other of others) {
    const { status, body } = await postGate(api, caller, { run_id, environment: 'production', ...other })
    assert.equal(status, 201)
    ids.push(body.data.gate_id)
  }
  assert.equal(new Set(ids).size, others.length)
})

test('of twelve simultaneous identical requests one is 201 and eleven are 200, all with the same gate and token', async () => {
  await freshCaller()
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => postGate(api, caller, { run_id, environment: 'production' })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201])
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('an expired token is replaced when an approved gate is opened again', async () => {
  const own = await startTestApi()
  try {
    const owner = await own.caller()
    await configureGate(own, owner)
    const { id: run_id } = await createRun(own, owner, { timeout_minutes: 1440 })
    const first = (await postGate(own, owner, { run_id, environment: 'production' })).body.data
    assert.equal((await answer(own, owner, first.deployment_id, 'approve')).status, 200)
    own.clock.advance(12 * 3_600_000)
    const again = (await postGate(own, owner, { run_id, environment: 'production' })).body.data
    assert.equal(again.gate_id, first.gate_id)
    assert.notEqual(again.poll_token, first.poll_token)
    assert.deepEqual([again.status, again.decision], ['decided', 'approved'])
    const poll = (key: string) => own.request('GET', `/v1/ci/gates/${first.gate_id}`, { key })
    assert.deepEqual([(await poll(first.poll_token)).status, (await poll(again.poll_token)).status], [401, 200])
  } finally {
    await own.close()
  }
})

test('409 gate_not_configured when no gate covers the environment', async () => {
  await freshCaller()
  await configureGate(api, caller, { environment: 'prod*' })
  const { id: run_id } = await createRun(api, caller)
  assertError(await postGate(api, caller, { run_id, environment: 'staging' }), 409, 'gate_not_configured')
  assert.deepEqual((await api.request('GET', '/v1/deployments', { key: caller.key })).body.data, [])
})

const COVERAGE: [title: string, patterns: object, run: object, covered: boolean][] = [
  ['its repository', { repository: 'acme/*' }, {}, true],
  ['its repository with host', { repository: 'github.com/acme/api' }, {}, true],
  ['its repository in another case', { repository: 'Acme/API' }, {}, true],
  ['another repository', { repository: 'acme/web' }, {}, false],
  ['its branch', { branch: 'release/*' }, { ref: 'refs/heads/release/1' }, true],
  ['another branch', { branch: 'main' }, { ref: 'mainline' }, false],
  ['a branch, when the run has no ref,', { branch: 'main' }, {}, false],
]
for (const [title, patterns, run, covered] of COVERAGE) {
  test(`a gate for ${title} ${covered ? 'covers' : 'does not cover'} the run`, async () => {
    await freshCaller()
    await configureGate(api, caller, patterns)
    const { id: run_id } = await createRun(api, caller, run as Record<string, unknown>)
    const { status } = await postGate(api, caller, { run_id, environment: 'production' })
    assert.equal(status, covered ? 201 : 409)
  })
}

test('a covering gate named by gate_id is shown first, and the others must still approve', async () => {
  await freshCaller()
  const first = await configureGate(api, caller, { name: 'first', allowApiKeys: true })
  const named = await configureGate(api, caller, { name: 'named', allowApiKeys: true })
  const { id: run_id } = await createRun(api, caller)
  const { body } = await postGate(api, caller, { run_id, environment: 'production', gate_id: named.id })
  assert.deepEqual(body.data.gate, { id: named.id, name: 'named' })
  const rows = await api.services.sql`select id from required_gates where org_id = ${caller.orgId} order by position`
  assert.deepEqual(
    rows.map(({ id }) => id),
    [named.id, first.id],
  )
})

test('409 gate_not_configured for a gate_id that does not cover, does not exist, or is another organization’s', async () => {
  const other = await api.caller()
  const foreign = await configureGate(api, other)
  await freshCaller()
  await configureGate(api, caller)
  const staging = await configureGate(api, caller, { name: 'staging', environment: 'staging' })
  const { id: run_id } = await createRun(api, caller)
  for (const gate_id of [staging.id, 'nothing', foreign.id]) {
    assertError(await postGate(api, caller, { run_id, environment: 'production', gate_id }), 409, 'gate_not_configured')
  }
})

test('404 not_found for a run or an attempt that does not exist', async () => {
  await freshCaller()
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  const foreign = await createRun(api, await api.caller())
  const environment = 'production'
  assertError(await postGate(api, caller, { run_id: 'run_none', environment }), 404, 'not_found')
  assertError(await postGate(api, caller, { run_id: foreign.id, environment }), 404, 'not_found')
  assertError(await postGate(api, caller, { run_id, environment, attempt: 2 }), 404, 'not_found')
})

test('409 run_finished for an attempt that has ended; its existing gate is still returned', async () => {
  await freshCaller()
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  const opened = await postGate(api, caller, { run_id, environment: 'production' })
  await patchRun(api, caller, run_id, { status: 'success' })
  assertError(await postGate(api, caller, { run_id, environment: 'production', job: 'late' }), 409, 'run_finished')
  const again = await postGate(api, caller, { run_id, environment: 'production' })
  assert.deepEqual([again.status, again.body.data.gate_id], [200, opened.body.data.gate_id])
})

test('409 run_finished for an attempt past its deadline, before the scheduled job has run', async () => {
  const own = await startTestApi()
  try {
    const owner = await own.caller()
    await configureGate(own, owner)
    const { id: run_id } = await createRun(own, owner, { timeout_minutes: 5 })
    own.clock.advance(5 * 60_000)
    assertError(await postGate(own, owner, { run_id, environment: 'production' }), 409, 'run_finished')
  } finally {
    await own.close()
  }
})

const INVALID: [field: string, values: unknown[]][] = [
  ['run_id', ['', 'a b', 'a'.repeat(129), 7]],
  ['attempt', [0, 1000, '1', 1.5]],
  ['environment', ['', 'e'.repeat(101), null]],
  ['gate_id', ['', 'a b', 'a'.repeat(129)]],
  ['job', ['', 'a/b', 'a'.repeat(101)]],
  ['enviroment', ['production']],
]
for (const [field, values] of INVALID) {
  test(`400 at /body/${field} for an invalid value or unknown field`, async () => {
    await freshCaller()
    for (const value of values) {
      const body = { run_id: 'run_1', environment: 'production', [field]: value }
      assertInvalid(await postGate(api, caller, body), `/body/${field}`)
    }
  })
}

test('a deployment still requires a configured gate that was deleted later', async () => {
  await freshCaller()
  const gate = await openGate(api, caller)
  await api.services.sql`delete from configured_gates where org_id = ${caller.orgId}`
  const { status, body } = await api.request('GET', `/v1/ci/gates/${gate.gate_id}`, { key: gate.poll_token })
  assert.deepEqual([status, body.data.gate, body.data.status], [200, gate.gate, 'waiting'])
})
