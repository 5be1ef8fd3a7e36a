// No second chance: whose evidence opens a gate.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { buildExpiringRuns } from '../../../../../src/ci/pipeline-runs/expired-run.store.ts'
import { checkPolicies } from '../../../../../src/commands/doctor-services.ts'
import { followExpiringRuns } from '../../../../../src/deployments/decisions/follow-evidence.ts'
import { compareNextVersion } from '../../../../../src/deployments/decisions/try-policy.ts'
import { DAY_MS } from '../../../../../src/platform/clock.ts'
import { startTestApi, type TestApi } from '../../../../support/api.ts'
import { sendReport, TESTS } from '../../../../support/ci-reports.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const PASSED = TESTS
const FAILED = { ...TESTS, data: { ...TESTS.data, failed: 1 } }
const NOTHING_RAN = { ...TESTS, data: { ...TESTS.data, passed: 0 } }
const LINTED = { kind: 'custom', name: 'lint', status: 'pass', data: {} }
const NO_FAILURE = 'attestations.all(a, a.status != "fail")'
const TESTED = `attestations.exists(a, a.kind == "test-results" && a.status == "pass") && ${NO_FAILURE}`
const COMMIT = '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567'

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
})
test.afterEach(() => caller.close())

type Demand = { trust?: string; scope?: string; name?: string }

/** A policy with this rule, and a gate of `production` that it approves. */
async function demand(expression: string, { trust = 'any', scope, name = 'p' }: Demand = {}): Promise<void> {
  const head = `name: ${name}\nmode: enforce\n${scope === undefined ? '' : `scope: ${scope}\n`}`
  const rule = `rules:\n  - rule: r\n    expression: '${expression}'\n    trust: ${trust}\n`
  await apply(api, caller, head + rule)
  await configureGate(api, caller, { name: `gate ${name}`, policies: [name] })
}

/** A run that an API key reports. Each is later than the ones before. */
async function start(fields: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const place = { repository: 'github.com/acme/shop', commit_sha: COMMIT, ref: 'refs/heads/main', pipeline_name: 'ci' }
  return createRun(api, caller, { ...place, ...fields })
}

/** The next attempt of a run. */
async function startAgain({ external_run_id, pipeline_name, ref }: Json, attempt: number): Promise<void> {
  api.clock.advance(1000)
  const run = { ci_system: 'buildkite', external_run_id, pipeline_name, ref, attempt }
  const body = { ...run, repository: 'github.com/acme/shop', commit_sha: COMMIT }
  const { status, text } = await api.request('POST', '/v1/ci/runs', { key: caller.key, body })
  assert.ok(status === 201, text)
}

async function report({ id }: Json, attestations: Json[], { job = {}, ...fields }: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const sent = await sendReport(api, caller, id, { ...fields, job: { name: 'test', ...job }, attestations })
  await drainQueue(api)
  return sent
}

/** The decision of a new gate. */
async function decide({ id: run_id }: Json, attempt = 1): Promise<string> {
  jobs += 1
  const { decision, deployment_id } = await openGate(api, caller, { run_id, attempt, job: `deploy-${jobs}` })
  opened = deployment_id
  return decision
}
let opened: string
let jobs = 0

const statusOf = async (id: string): Promise<string> => (await getDeployment(api, caller, id)).status

const reader = () => createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer', name: 'Reader' })

async function evidenceOf(id: string): Promise<Json[]> {
  return (await requestAs(api, await reader(), 'GET', `/deployments/${id}/decision`)).body.data.evidence
}

test('jobs that were not repeated count in later attempts, unless the policy has scope: attempt', async () => {
  const LINT_AND_TESTS = `attestations.exists(a, a.name == "lint") && ${TESTED}`
  await demand(LINT_AND_TESTS)
  const run = await start()
  await report(run, [LINTED], { job: { name: 'lint' } })
  await report(run, [FAILED])
  assert.equal(await decide(run), 'pending')
  await startAgain(run, 2)
  await report(run, [PASSED], { attempt: 2 })
  assert.equal(await decide(run, 2), 'approved')
  const [{ scope, pieces, omitted, notes }] = (await evidenceOf(opened)) as [Json]
  assert.deepEqual([scope, omitted, notes], ['commit', 0, []])
  assert.deepEqual(
    pieces.map(({ run_id, attempt, pipeline, job, name, status }: Json) => [
      run_id,
      attempt,
      pipeline,
      job,
      name,
      status,
    ]),
    [
      [run.id, 2, 'ci', 'test', 'unit', 'pass'],
      [run.id, 1, 'ci', 'lint', 'lint', 'pass'],
    ],
  )
  await demand(LINT_AND_TESTS, { scope: 'attempt', name: 'narrow' })
  assert.equal(await decide(run, 2), 'pending')
})

test('a deploy workflow of its own sees the runs of its commit, and with scope: run only itself', async () => {
  await demand(TESTED)
  const tests = await start()
  await report(tests, [PASSED])
  const deploy = await start({ pipeline_name: 'deploy' })
  assert.equal(await decide(deploy), 'approved')
  assert.deepEqual(
    (await evidenceOf(opened)).flatMap(({ pieces }) => pieces.map(({ run_id }: Json) => run_id)),
    [tests.id],
  )
  await demand(TESTED, { scope: 'run', name: 'narrow' })
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'pending')
})

test('runs of other commits, repositories and organizations say nothing', async () => {
  await demand(TESTED)
  await report(await start({ commit_sha: 'b'.repeat(40) }), [PASSED])
  await report(await start({ repository: 'github.com/acme/other' }), [PASSED])
  const other = await startTokenCaller(api)
  const theirs = await createRun(api, other, { repository: 'github.com/acme/shop', commit_sha: COMMIT, ref: 'main' })
  await sendReport(api, other, theirs.id, { attestations: [PASSED] })
  await other.close()
  assert.equal(await decide(await start()), 'pending')
})

test('without a commit, the scope is the run', async () => {
  await demand(TESTED)
  const [tests, deploy] = [await start(), await start({ pipeline_name: 'deploy' })]
  await report(tests, [PASSED])
  await api.services.sql`update ci_runs set commit_sha = null where org_id = ${caller.orgId}`
  assert.deepEqual([await decide(deploy), await decide(tests)], ['pending', 'approved'])
})

test('a rerun under a new id replaces the run before; other pipelines stand beside it', async () => {
  await demand(TESTED)
  await report(await start(), [FAILED])
  const again = await start()
  await report(again, [PASSED])
  assert.equal(await decide(again), 'approved')
  await report(await start({ pipeline_name: 'nightly' }), [FAILED])
  const third = await start()
  await report(third, [PASSED])
  assert.equal(await decide(third), 'pending')
})

test('a run on another ref replaces nothing, and neither does an older one', async () => {
  await demand(TESTED)
  const run = await start()
  await report(await start(), [FAILED])
  await report(await start({ ref: 'refs/heads/topic' }), [PASSED])
  await report(run, [PASSED])
  assert.equal(await decide(run), 'pending')
})

test('where no test ran, nothing is replaced', async () => {
  await demand(NO_FAILURE)
  const run = await start()
  await report(run, [FAILED])
  await startAgain(run, 2)
  await report(run, [NOTHING_RAN], { attempt: 2 })
  assert.equal(await decide(run, 2), 'pending')
})

test('fewer jobs with one name replace none of those before, and the explanation says why', async () => {
  await demand(NO_FAILURE)
  const run = await start()
  const job = (instance: string) => ({ job: { instance } })
  await report(run, [FAILED], job('1'))
  await report(run, [PASSED], job('2'))
  await startAgain(run, 2)
  await report(run, [PASSED], { attempt: 2, ...job('3') })
  assert.equal(await decide(run, 2), 'pending')
  const [{ notes }] = (await evidenceOf(opened)) as [Json]
  assert.match(
    notes[0],
    /^The job test has 2 reports in attempt 1 of run \S+ and 1 in attempt 2 of run \S+: all of them count, .*job\.key/,
  )
  await report(run, [PASSED], { attempt: 2, ...job('4') })
  assert.equal(await statusOf(opened), 'approved')
})

test('with keys, each job replaces its own report', async () => {
  await demand(NO_FAILURE)
  const run = await start()
  await report(run, [FAILED], { job: { key: 'linux' } })
  await report(run, [FAILED], { job: { key: 'windows' } })
  await startAgain(run, 2)
  await report(run, [PASSED], { attempt: 2, job: { key: 'linux' } })
  assert.equal(await decide(run, 2), 'pending')
  await report(run, [PASSED], { attempt: 2, job: { key: 'windows' } })
  assert.equal(await statusOf(opened), 'approved')
})

test('late reports of an older try change nothing', async () => {
  await demand(NO_FAILURE)
  const run = await start()
  await report(run, [FAILED], { job: { key: 'unit', retries: 1 } })
  await startAgain(run, 2)
  await report(run, [PASSED], { attempt: 2, job: { key: 'unit', retries: 0 } })
  assert.equal(await decide(run, 2), 'pending')
  await startAgain(run, 3)
  await report(run, [PASSED], { attempt: 3, job: { key: 'unit', retries: 2 } })
  assert.equal(await statusOf(opened), 'approved')
})

test('a pull request has bad news and no good news', async () => {
  await demand(TESTED)
  const proposed = { ref: 'refs/pull/7/merge', event: 'pull_request' }
  await report(await start(proposed), [PASSED])
  const run = await start()
  assert.equal(await decide(run), 'pending')
  await report(run, [PASSED])
  assert.equal(await statusOf(opened), 'approved')
  await report(await start({ ...proposed, pipeline_name: 'checks' }), [FAILED])
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'pending')
})

test('bad news of other refs is no reason to pass', async () => {
  await demand('attestations.exists(a, a.kind == "test-results")')
  await report(await start({ ref: 'refs/pull/7/merge', event: 'pull_request' }), [FAILED])
  assert.equal(await decide(await start()), 'pending')
})

test('a waiting gate is asked again when another run of its commit reports', async () => {
  await demand(TESTED)
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'pending')
  await report(await start(), [PASSED])
  assert.equal(await statusOf(opened), 'approved')
})

test('an unread approval waits again when the evidence of another run is replaced', async () => {
  await demand(TESTED)
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'pending')
  const tests = await start()
  await report(tests, [PASSED])
  assert.equal(await statusOf(opened), 'approved')
  await report(tests, [FAILED])
  assert.equal(await statusOf(opened), 'pending_approval')
})

test('evidence that retention deletes is noted, and a gate that waits or that nobody has read is asked again', async () => {
  await demand(`attestations.exists(a, a.name == "lint") && ${TESTED}`)
  const tests = await start()
  await report(tests, [PASSED])
  api.clock.advance(91 * DAY_MS)
  const deploy = await start({ pipeline_name: 'deploy' })
  assert.equal(await decide(deploy), 'pending')
  const unread = opened
  await report(deploy, [LINTED], { job: { name: 'lint' } })
  assert.equal(await statusOf(unread), 'approved')
  // The answer to its opening says that it is approved.
  assert.equal(await decide(await start({ pipeline_name: 'release' })), 'approved')
  const deployments = [unread, opened]
  await api.services.sql`
    update ci_runs set status = 'success', completed_at = started_at where org_id = ${caller.orgId} and id = ${tests.id}`
  const at = api.clock.now()
  const expired = { org_id: caller.orgId, before: new Date(at.getTime() - 90 * DAY_MS), at, limit: 100, from: null }
  assert.equal(
    (await api.services.sql.begin((tx) => buildExpiringRuns((db) => db`false`, followExpiringRuns).remove(tx, expired)))
      .removed,
    1,
  )
  await drainQueue(api)
  assert.deepEqual(await Promise.all(deployments.map(statusOf)), ['pending_approval', 'approved'])
  for (const id of deployments) {
    const { body } = await requestAs(api, await reader(), 'GET', `/deployments/${id}/decision`)
    const said = body.data.history.filter(({ action }: Json) => action === 'deployment.replace_evidence')
    assert.equal(said.length, 1)
    assert.match(
      said[0].reason,
      /the reports of attempt 1 of run .+ of ci\. It was .+ by the retention of the organization \(/,
    )
  }
})

test('policies from before the upgrade look at the attempt until their next version', async () => {
  await demand(TESTED)
  const { sql } = api.services
  await sql`
    update policy_versions
    set content_hash = sha256('before'), definition = definition - 'scope'
    where org_id = ${caller.orgId}`
  await report(await start(), [PASSED])
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'pending')
  const [{ scope }] = (await evidenceOf(opened)) as [Json]
  assert.equal(scope, 'attempt')
  assert.match((await checkPolicies(api.services)).detail, new RegExp(`policy dry-run --org ${caller.slug} --name "p"`))
  const compared = await compareNextVersion(api.services, caller.orgId, 'p')
  assert.deepEqual(
    compared?.deployments.map(({ id, now, next }) => [id, now, next]),
    [[opened, 'block', 'approve']],
  )
  const text = `name: p\nmode: enforce\nrules:\n  - rule: r\n    expression: '${TESTED}'\n    trust: any\n`
  assert.equal((await apply(api, caller, text)).version, 2)
  assert.match((await checkPolicies(api.services)).detail, /^no policy has the scope/)
  await drainQueue(api)
  assert.equal(await decide(await start({ pipeline_name: 'deploy' })), 'approved')
})

/** A run of a job's own token, with passing or failing tests. */
async function byToken(attestation: Json, claims: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const own = newRunClaims({ sha: COMMIT, ...claims })
  const created = await caller.send('POST', '/v1/ci/runs', ownRun(own, { pipeline_name: 'ci' }), own)
  assert.ok(created.status === 201, created.text)
  const { id } = created.body.data
  const body = { job: { name: 'test' }, attestations: [attestation] }
  const sent = await caller.send('POST', `/v1/ci/runs/${id}/reports`, body, own)
  assert.ok(sent.status === 201, sent.text)
  return { id, claims: own }
}

async function decideByToken({ id, claims }: Json): Promise<string> {
  const gate = await caller.send('POST', '/v1/ci/gates', { run_id: id, environment: 'production' }, claims)
  assert.ok(gate.status <= 201, gate.text)
  return gate.body.data.decision
}

test('a weaker lane replaces nothing: newer runs and attempts, any count of tries, the same key', async () => {
  await demand(NO_FAILURE, { trust: 'verified' })
  await byToken(FAILED)
  await report(await start(), [PASSED])
  const weaker = await start({ pipeline_name: 'ci' })
  await report(weaker, [PASSED], { job: { retries: 999, key: 'test' } })
  const deploy = await byToken(LINTED)
  await sendReport(api, caller, deploy.id, { job: { name: 'test', retries: 999 }, attestations: [PASSED] })
  const strange = { event_name: 'pull_request_target', ref: 'refs/heads/main' }
  await byToken(PASSED, strange)
  assert.equal(await decideByToken(deploy), 'pending')
})

test('good news of strangers never counts, and that of keys only where the rule admits it', async () => {
  for (const trust of ['verified', 'any']) await demand(TESTED, { trust, name: trust })
  await byToken(PASSED, { event_name: 'pull_request_target', ref: 'refs/heads/main' })
  const deploy = await byToken(LINTED)
  assert.equal(await decideByToken(deploy), 'pending')
  await report(await start(), [PASSED])
  const decision = await evidenceOfRun(deploy)
  assert.deepEqual(decision, { verified: 'block', any: 'approve' })
})

async function evidenceOfRun({ id }: Json): Promise<Json> {
  const { body } = await api.request('GET', '/v1/deployments', { key: caller.key })
  const { policy_evaluation } = body.data.find(({ pipeline_run_id }: Json) => pipeline_run_id === id)
  return Object.fromEntries(policy_evaluation.policies.map(({ name, decision }: Json) => [name, decision]))
}

test('beyond 1,000 attestations nothing passes in their lane, failures stay, and other lanes do not notice', async () => {
  await demand(TESTED, { trust: 'verified', name: 'verified' })
  await demand(TESTED, { trust: 'any', name: 'any' })
  const run = await start()
  const { report_id } = await report(run, [PASSED])
  await api.services.sql`
    insert into ci_attestations (org_id, id, report_id, kind, name, data, status, trust, created_at, updated_at)
    select ${caller.orgId}, gen_random_uuid(), ${report_id}, 'custom', 'flood ' || n, '{}', 'info', 'self_reported',
      now(), now()
    from generate_series(1, 1001) n`
  const deploy = await byToken(PASSED)
  await decideByToken(deploy)
  assert.deepEqual(await evidenceOfRun(deploy), { verified: 'approve', any: 'block' })
  const { policy_evaluation } = await getDeployment(api, caller, await deploymentOf(deploy))
  assert.equal(policy_evaluation.decision, 'block')
  const reader = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer', name: 'Reader' })
  const { policies } = (await requestAs(api, reader, 'GET', `/deployments/${await deploymentOf(deploy)}/decision`)).body
    .data
  const [rule] = policies.find(({ name }: Json) => name === 'any').rules
  assert.deepEqual([rule.status, rule.reason.split(':')[0]], ['error', 'evidence_truncated'])
})

async function deploymentOf({ id }: Json): Promise<string> {
  const { body } = await api.request('GET', '/v1/deployments', { key: caller.key })
  return body.data.find(({ pipeline_run_id }: Json) => pipeline_run_id === id).id
}
