import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { findPromotionPath } from '../../src/deployments/promotion.store.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { computeStatementMac } from '../../src/provenance/statements/authentic-statement.ts'
import { findLineageDeployment } from '../../src/provenance/statements/deployment-statement.store.ts'
import { computeLineageFacts } from '../../src/provenance/statements/lineage-statement.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { answer, approverOf, configureGate, openGate, postGate, REASON } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'
import { askStatement, assertReason, getStatement } from '../support/statements.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../support/token-caller.ts'

const COMMIT = 'a'.repeat(40)
const REPOSITORY = 'git+https://github.com/acme/api'
let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const lineage = (id: string, by: Caller = caller) => askStatement(api, by, id, 'lineage/statement')
const pathOf = async (id: string): Promise<Json> => (await getStatement(api, caller, id, 'lineage/statement')).predicate

async function finish(runId: string, status = 'success'): Promise<void> {
  api.clock.advance(MINUTE_MS)
  assert.equal((await patchRun(api, caller, runId, { status })).status, 200)
  await drainQueue(api)
}

/**
 * Deploys the commit of a new run with an approval, and ends the run. Returns the deployment's id.
 */
async function deploy(environment: string, status = 'success', fields: Record<string, unknown> = {}): Promise<string> {
  const run = await createRun(api, caller, fields)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, environment })
  api.clock.advance(MINUTE_MS)
  assert.equal((await answer(api, caller, deployment_id, 'approve')).status, 200)
  await finish(run.id, status)
  return deployment_id
}

async function newCaller(gates: Parameters<typeof configureGate>[2] = { environment: '*' }): Promise<void> {
  caller = await api.caller()
  await configureGate(api, caller, gates)
}

test('200 with the self-reported commit as the only subject, and the run, the gate and the approval of a self-reported deployment', async () => {
  await newCaller()
  const id = await deploy('production')
  const { subject, predicateType, predicate } = await getStatement(api, caller, id, 'lineage/statement')
  assert.equal(predicateType, 'https://shiplock.dev/promotion-path/v1')
  const annotations = { trust: 'self_reported' }
  assert.deepEqual(subject, [{ name: REPOSITORY, digest: { gitCommit: COMMIT }, annotations }])
  assert.deepEqual(predicate.repository, { provider: 'other', host: 'github.com', id: null, full_name: 'acme/api' })
  assert.deepEqual([predicate.commit, predicate.change], [COMMIT, null])
  const [run, ...runs] = predicate.runs
  assert.deepEqual([runs, run.trust, run.ci_system], [[], 'self_reported', 'buildkite'])
  assert.deepEqual(
    run.attempts.map((attempt: Json) => [attempt.number, attempt.status]),
    [[1, 'success']],
  )
  const { deployment } = predicate
  assert.deepEqual([deployment.id, deployment.status, deployment.trust], [id, 'success', 'self_reported'])
  assert.deepEqual(deployment.run, { id: run.id, attempt: 1 })
  assert.deepEqual(deployment.deployed_at, run.attempts[0].completed_at)
  assert.deepEqual(
    deployment.gates.map((gate: Json) => [gate.name, gate.required_approvals, gate.approved_by]),
    [['Production', 1, 'principals']],
  )
  const [approval] = deployment.approvals
  assert.deepEqual(approval.principal, { type: 'api_key', id: (await approverOf(api, caller)).keyId, name: 'test key' })
  assert.deepEqual(
    [approval.decision, approval.reason, approval.at],
    ['approved', REASON, deployment.gates[0].approved_at],
  )
  assert.deepEqual([deployment.policies, deployment.override, deployment.bypass], [null, null, null])
})

test('earlier deployments of the commit are stated oldest first with status and approvals, and later ones are not', async () => {
  await newCaller()
  const staging = await deploy('staging', 'failure')
  const again = await deploy('staging')
  await deploy('staging', 'success', { commit_sha: 'c'.repeat(40) })
  await deploy('staging', 'success', { repository: 'github.com/acme/web' })
  const production = await deploy('production')
  const before = await lineage(production)
  await deploy('staging')
  const { earlier_deployments, runs } = await pathOf(production)
  assert.deepEqual(
    earlier_deployments.map((step: Json) => [step.id, step.environment, step.status, step.approvals.length]),
    [
      [staging, 'staging', 'failure', 1],
      [again, 'staging', 'success', 1],
    ],
  )
  assert.equal(runs.length, 4)
  assert.deepEqual((await pathOf(staging)).earlier_deployments, [])
  assert.notEqual((await lineage(production)).text, before.text, 'the later run of the commit is a new fact')
})

type Stated = [path: string, trust: string, sha256: string]

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex')
const statedOf = ({ path, trust, sha256 }: Json): Stated => [path, trust, sha256]

test('what keys and strangers add, and what comes after the decision, is stated with its lane, and no subject', async () => {
  const tokens = await startTokenCaller(api)
  caller = tokens
  await configureGate(api, caller, { environment: '*' })
  const claims = newRunClaims()
  const strange = { ...claims, event_name: 'pull_request_target' }
  const { id: run_id } = (await tokens.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  /** A job with these claims, or the key, adds a file to the run in a report of its own. */
  const add = async (name: string, bytes: string, by: Record<string, unknown> | null) => {
    const sender = { ...caller, key: by === null ? caller.key : await tokens.sign(by) }
    const { report_id } = await sendReport(api, sender, run_id, { job: { name: `${name} ${bytes}` } })
    await uploadArtifact(api, sender, { run_id, report_id }, name, bytes)
    api.clock.advance(MINUTE_MS)
  }
  await add('app.tgz', 'an earlier build', claims)
  await add('app.tgz', 'the build', claims)
  await add('app.map', 'by a key', null)
  await add('extra', 'by a stranger', strange)
  const opened = { run_id, environment: 'production' }
  const { deployment_id } = (await tokens.send('POST', '/v1/ci/gates', opened, claims)).body.data
  assert.equal((await answer(api, caller, deployment_id, 'approve')).status, 200)
  api.clock.advance(MINUTE_MS)
  await add('late', 'after the decision', claims)
  await add('app.tgz', 'replaced after the decision', claims)
  await add('later', 'by a stranger, later', strange)
  assert.equal((await tokens.send('PATCH', `/v1/ci/runs/${run_id}`, { status: 'success' }, claims)).status, 200)
  await drainQueue(api)
  const { subject, predicate } = await getStatement(api, caller, deployment_id, 'lineage/statement')
  assert.deepEqual(
    subject.map(({ digest }: Json) => digest),
    [{ gitCommit: predicate.commit }, { sha256: sha256Of('the build') }],
  )
  assert.equal(predicate.commit_trust, 'verified')
  assert.deepEqual(predicate.artifacts.map(statedOf).sort(), [
    ['app.map', 'self_reported', sha256Of('by a key')],
    ...[
      ['app.tgz', 'verified', sha256Of('an earlier build')],
      ['app.tgz', 'verified', sha256Of('the build')],
    ].sort(),
    ['extra', 'untrusted', sha256Of('by a stranger')],
  ])
  assert.deepEqual(
    predicate.amendments.map(({ kind, artifact }: Json) => [kind, artifact.path, artifact.trust]),
    [
      ['artifact', 'app.tgz', 'verified'],
      ['artifact', 'late', 'verified'],
      ['artifact', 'later', 'untrusted'],
    ],
  )
  await tokens.close()
})

test('a statement that an earlier version has issued keeps its bytes, until what it states changes', async () => {
  await newCaller()
  const id = await deploy('production')
  const before = await lineage(id)
  const { sql, clock } = api.services
  const stated = await findLineageDeployment(sql, { org_id: caller.orgId, id }, clock.now())
  assert.ok(stated?.lineage)
  const [, earlier = Buffer.alloc(0)] = await computeLineageFacts(api.services, stated)
  const name = { org_id: caller.orgId, kind: 'lineage', subject_id: id } as const
  const mac = computeStatementMac(api.services.integrityKey, name, earlier, stated.lineage)
  await sql`update statements set facts = ${earlier}, mac = ${mac} where subject_id = ${id}`
  api.clock.advance(MINUTE_MS)
  assert.equal((await lineage(id)).text, before.text)
  assert.equal((await sql`select from statements where subject_id = ${id}`).length, 1)
})

test('the artifacts up to the attempt are stated; without a verified one, only the commit is a subject', async () => {
  await newCaller()
  const run = await createRun(api, caller)
  const report = { run_id: run.id, ...(await sendReport(api, caller, run.id)) } as { run_id: string; report_id: string }
  await uploadArtifact(api, caller, report, 'dist/app.tgz', 'the application')
  await uploadArtifact(api, caller, report, 'dist/copy.tgz', 'the application')
  await uploadArtifact(api, caller, report, 'dist/app.map', 'the map')
  await sendReport(api, caller, run.id, {
    job: { name: 'other' },
    artifacts: [{ path: 'never-sent', size: 3, sha256: 'd'.repeat(64) }],
  })
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  await answer(api, caller, deployment_id, 'approve')
  await finish(run.id)
  const { subject, predicate } = await getStatement(api, caller, deployment_id, 'lineage/statement')
  assert.deepEqual(
    predicate.artifacts.map((artifact: Json) => [artifact.path, artifact.sha256, artifact.attempt]),
    [
      ['dist/app.map', sha256Of('the map'), 1],
      ['dist/app.tgz', sha256Of('the application'), 1],
      ['dist/copy.tgz', sha256Of('the application'), 1],
    ],
  )
  const annotations = { trust: 'self_reported' }
  assert.deepEqual(subject, [{ name: REPOSITORY, digest: { gitCommit: COMMIT }, annotations }])
  assert.equal(predicate.artifacts_omitted, 0)
})

test('runs and deployments that a key has reported push no verified one out of the lineage', async () => {
  await newCaller()
  const first = await deploy('staging')
  const id = await deploy('production')
  const { sql } = api.services
  const later = new Date(api.clock.now().getTime() - 2 * MINUTE_MS - 1)
  await sql`
    insert into deployments
    select copy.*
    from deployments deployment
    cross join generate_series(1, 1000) nth
    cross join lateral jsonb_populate_record(deployment, jsonb_build_object(
      'id', 'dep_' || nth, 'created_at', deployment.created_at - interval '1 day'
    )) copy
    where deployment.id = ${first}`
  await sql`
    insert into ci_runs
    select copy.*
    from ci_runs run
    cross join generate_series(1, 1000) nth
    cross join lateral jsonb_populate_record(run, jsonb_build_object(
      'id', 'run_' || nth, 'external_run_id', 'copy-' || nth, 'day', run.day - nth, 'created_at', run.created_at - interval '1 day'
    )) copy
    where run.id = (select pipeline_run_id from deployments where id = ${first})`
  await sql`
    update ci_runs
    set trust = 'verified', created_at = ${later}
    where id = (select pipeline_run_id from deployments where id = ${first})`
  await sql`
    update deployments
    set host = 'github.com', host_id = 'copied', host_updated_at = ${later}, repository_id = '1', created_at = ${later}
    where id = ${first}`
  const read = await findPromotionPath(sql, { org_id: caller.orgId, id }, api.clock.now())
  assert.ok(read)
  const { runs, earlier } = read.path as Json
  assert.deepEqual([runs.items.length, runs.omitted, earlier.items.length, earlier.omitted], [1000, 2, 1000, 1])
  assert.equal(runs.items.at(-1).trust, 'verified')
  assert.equal(earlier.items.at(-1).id, first)
})

const policy = (status: string, mode = 'enforce') => `
name: Check
mode: ${mode}
bindings: { environments: [production] }
rules:
  - rule: check
    name: The check passes
    expression: '${status === 'pass'}'
    trust: any
    reason: The check fails.`

test('policies that approved are stated with version, checksum and rule results', async () => {
  await newCaller({ environment: '*', policies: ['Check'] })
  const applied = await apply(api, caller, policy('pass'))
  const run = await createRun(api, caller)
  const gate = (await postGate(api, caller, { run_id: run.id, environment: 'production' })).body.data
  assert.equal(gate.decision, 'approved')
  await apply(api, caller, policy('fail'))
  await finish(run.id)
  const { deployment } = await pathOf(gate.deployment_id)
  assert.deepEqual(
    deployment.gates.map((required: Json) => required.approved_by),
    ['policies'],
  )
  assert.deepEqual([deployment.approvals, deployment.override], [[], null])
  const { policies, decision, answered } = deployment.policies
  assert.deepEqual([decision, answered, policies.length], ['approve', 'approved', 1])
  const [{ sha256, ...stated }] = policies
  assert.match(sha256, /^[0-9a-f]{64}$/)
  assert.deepEqual(stated, {
    ...{ id: applied.id, name: 'Check', version: 1, mode: 'enforce', decision: 'approve' },
    rules: [{ rule: 'check', name: 'The check passes', status: 'pass', blocking: true, reason: null }],
  })
})

test('an override is stated with its reason and the rules that did not pass', async () => {
  await newCaller()
  await apply(api, caller, policy('fail'))
  const { deployment } = await pathOf(await deploy('production'))
  const { by, reason, self_override, policies, evaluation_id } = deployment.override
  assert.deepEqual([by, reason, self_override], ['test key', REASON, false])
  assert.equal(evaluation_id, deployment.policies.evaluation_id)
  const failed = { rule: 'check', name: 'The check passes', status: 'fail', reason: 'The check fails.' }
  assert.deepEqual(policies[0].rules, [failed])
  assert.deepEqual(deployment.policies.policies[0].rules, [{ ...failed, blocking: true }])
})

test('an evaluation is forgotten if no policy covers the deployment any more when it is approved', async () => {
  await newCaller()
  await apply(api, caller, policy('fail'))
  const run = await createRun(api, caller)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, environment: 'production' })
  await apply(api, caller, policy('fail').replace('[production]', '[elsewhere]'))
  await answer(api, caller, deployment_id, 'approve')
  await finish(run.id)
  const { deployment } = await pathOf(deployment_id)
  assert.deepEqual([deployment.status, deployment.policies, deployment.override], ['success', null, null])
})

test('a rejection, an expiry and a cancellation are final', async () => {
  await newCaller()
  const run = await createRun(api, caller)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  await answer(api, caller, deployment_id, 'reject')
  assertReason(await lineage(deployment_id), 409, 'LINEAGE_NOT_READY')
  await finish(run.id, 'failure')
  assert.equal((await pathOf(deployment_id)).deployment.status, 'rejected')
  const other = await createRun(api, caller, { timeout_minutes: 5 })
  const waiting = await openGate(api, caller, { run_id: other.id })
  api.clock.advance(DAY_MS)
  assert.equal((await pathOf(waiting.deployment_id)).deployment.status, 'expired')
})

test('404 for an unknown deployment on every plan, then 402, then NO_COMMIT, then LINEAGE_NOT_READY', async () => {
  await newCaller()
  const team = await api.caller({ plan: 'team' })
  assertError(await lineage('dep_unknown'), 404, 'not_found')
  assertError(await lineage('dep_unknown', team), 404, 'not_found')
  const { deployment_id: theirs } = await openGate(api, team)
  assert.deepEqual(assertError(await lineage(theirs, team), 402, 'plan_required'), { requiredPlan: 'enterprise' })
  assertError(await lineage(theirs), 404, 'not_found')
  const run = await createRun(api, caller)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  const { sql } = api.services
  await sql`update deployments set commit_sha = '' where id = ${deployment_id}`
  assertReason(await lineage(deployment_id), 409, 'NO_COMMIT')
  await sql`update deployments set commit_sha = ${COMMIT} where id = ${deployment_id}`
  assertReason(await lineage(deployment_id), 409, 'LINEAGE_NOT_READY')
  await answer(api, caller, deployment_id, 'approve')
  assertReason(await lineage(deployment_id), 409, 'LINEAGE_NOT_READY')
  await finish(run.id)
  assert.equal((await lineage(deployment_id)).status, 200)
})

test('404 for a deployment that is older than the retention of the plan', async () => {
  await newCaller()
  const id = await deploy('production')
  api.clock.advance(1095 * DAY_MS + MINUTE_MS)
  assertError(await lineage(id), 404, 'not_found')
})

test('the same bytes at any later time, and by simultaneous requests', async () => {
  await newCaller()
  const id = await deploy('production')
  const answers = await Promise.all([1, 2, 3, 4].map(() => lineage(id)))
  api.clock.advance(DAY_MS)
  answers.push(await lineage(id))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('verified images of reports and gates are subjects; those of keys, and what came later, are stated only', async () => {
  await using closing = new AsyncDisposableStack()
  const token = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  closing.defer(() => token.close())
  caller = token
  await configureGate(api, token, { environment: '*' })
  const claims = newRunClaims()
  const { id: run } = (await token.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const image = (name: string, digit: string) => ({ name: `ghcr.io/acme/${name}`, sha256: digit.repeat(64) })
  const [own, older, foreign, late] = [image('own', '1'), image('own', '2'), image('foreign', '3'), image('late', '4')]
  const report = (job: string, subjects: object[]) =>
    token.send('POST', `/v1/ci/runs/${run}/reports`, { job: { name: job }, subjects }, claims)
  await report('first', [older])
  api.clock.advance(MINUTE_MS)
  await report('second', [own])
  await sendReport(api, caller, run, { job: { name: 'second' }, subjects: [foreign] })
  const gate = { run_id: run, environment: 'production', subjects: [own, foreign] }
  const { deployment_id } = (await token.send('POST', '/v1/ci/gates', gate, claims)).body.data
  api.clock.advance(MINUTE_MS)
  assert.equal((await answer(api, caller, deployment_id, 'approve')).status, 200)
  api.clock.advance(MINUTE_MS)
  await report('second', [own])
  await report('third', [late])
  const ended = { status: 'success' }
  assert.equal((await token.send('PATCH', `/v1/ci/runs/${run}`, ended, claims)).status, 200)
  await drainQueue(api)
  const { subject, predicate } = await getStatement(api, caller, deployment_id, 'lineage/statement')
  const digests = subject.flatMap(({ digest }: Json) => digest.sha256 ?? [])
  assert.deepEqual(digests, [own.sha256])
  const stated = predicate.subjects.map(({ source, sha256, trust }: Json) => [source, sha256[0], trust])
  assert.deepEqual(stated, [
    ['gate', '3', 'self_reported'],
    ['gate', '1', 'verified'],
    ['report', '3', 'self_reported'],
    ['report', '2', 'verified'],
    ['report', '1', 'verified'],
  ])
  assert.deepEqual(
    predicate.amendments.map(({ kind, subject: added }: Json) => [kind, added.name]),
    [['subject', 'ghcr.io/acme/late']],
  )
})
