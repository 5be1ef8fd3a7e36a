import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { findNewestRuns } from '../../src/ci/evidence/newest-runs.store.ts'
import { filterEvidence } from '../../src/compliance/policies/evidence-view.ts'
import { readPolicyInputs } from '../../src/compliance/policies/read-policy-input.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import {
  artifactOf,
  attemptInput,
  putArtifact,
  scan,
  sendReport,
  TESTS,
  uploadArtifact,
} from '../support/ci-reports.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { listFindings } from '../support/findings.ts'
import { configureGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'
import { link } from '../support/repositories.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../support/token-caller.ts'

const PASSED = 'attestations.exists(a, a.kind == "test-results" && a.status == "pass")'

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

type Claims = ReturnType<typeof newRunClaims>

async function startRun(claims: Claims): Promise<Json> {
  const fields = claims.sha === 'b'.repeat(40) ? { commit_sha: claims.sha } : {}
  return (await caller.send('POST', '/v1/ci/runs', ownRun(claims, fields), claims)).body.data
}

function report(runId: string, claims: Claims, body: object = { attestations: [TESTS] }) {
  return caller.send('POST', `/v1/ci/runs/${runId}/reports`, { job: { name: 'test' }, ...body }, claims)
}

/** Opens a gate that a policy with one rule decides; returns its decision. */
async function decide(runId: string, claims: Claims): Promise<string> {
  const body = { run_id: runId, environment: 'production' }
  const { body: opened, text } = await caller.send('POST', '/v1/ci/gates', body, claims)
  assert.ok(opened.data, text)
  return opened.data.decision
}

async function requireTests(rule = ''): Promise<void> {
  await configureGate(api, caller, { policies: ['tests'] })
  const bound = "bindings: { environments: ['production'] }"
  await apply(
    api,
    caller,
    `name: tests\nmode: enforce\n${bound}\nrules:\n  - rule: tests\n    expression: '${PASSED}'\n    ${rule}\n`,
  )
}

test('a gate that a token opens is approved by verified tests of its run', async () => {
  await requireTests()
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  await report(id, claims)
  assert.equal(await decide(id, claims), 'approved')
  const { body } = await api.request('GET', '/v1/deployments', { key: caller.key })
  assert.equal(body.data[0].pipeline_run_id, id)
})

test('untrusted and self-reported tests approve nothing, unless the rule has trust: any and an untrusted run is of no branch', async () => {
  await requireTests()
  const strange = newRunClaims({ event_name: 'pull_request_target' })
  const untrusted = await startRun(strange)
  await report(untrusted.id, strange)
  assert.equal(await decide(untrusted.id, strange), 'pending')
  const claims = newRunClaims()
  const byKey = await startRun(claims)
  await sendReport(api, caller, byKey.id, { attestations: [TESTS] })
  assert.equal(await decide(byKey.id, claims), 'pending')
  await apply(
    api,
    caller,
    `name: tests\nmode: enforce\nbindings: { environments: ['production'] }\nrules:\n  - rule: tests\n    expression: '${PASSED}'\n    trust: any\n`,
  )
  const decisions: string[] = []
  for (const claims of [
    { event_name: 'pull_request_target' },
    { event_name: 'pull_request', ref: 'refs/pull/7/merge' },
  ]) {
    // Of another commit than the run of the key, whose tests count here.
    const next = newRunClaims({ ...claims, sha: 'b'.repeat(40) })
    const counted = await startRun(next)
    await report(counted.id, next)
    decisions.push(await decide(counted.id, next))
  }
  assert.deepEqual(decisions, ['pending', 'approved'])
})

test('a gate is opened for a run without a commit', async () => {
  await configureGate(api, caller)
  const claims = newRunClaims({ sha: '' })
  const { id } = await startRun(claims)
  await api.services.sql`update ci_runs set commit_sha = null where id = ${id}`
  assert.equal(await decide(id, claims), 'pending')
  const { body } = await api.request('GET', '/v1/deployments', { key: caller.key })
  assert.equal(body.data[0].commit_sha, null)
  const path = `/v1/provenance/deployments/${body.data[0].id}/lineage/statement`
  const statement = await api.request('GET', path, { key: caller.key })
  assert.deepEqual([statement.status, statement.body.error.details.reason], [409, 'NO_COMMIT'])
})

test('every item of the evidence has its own trust; a strict rule sees the verified ones', async () => {
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  await report(id, claims)
  await sendReport(api, caller, id, { attestations: [{ ...TESTS, name: 'by key' }] })
  const now = api.clock.now()
  const evidence = await attemptInput(api.services.sql, { org_id: caller.orgId, run_id: id, attempt: 1 }, now)
  assert.deepEqual([evidence.run?.trust, evidence.attempts[0]?.trust], ['verified', 'verified'])
  assert.deepEqual(evidence.attestations.map(({ name, trust }) => [name, trust]).sort(), [
    ['by key', 'self_reported'],
    ['unit', 'verified'],
  ])
  const subject = {
    ...{ org_id: caller.orgId, repository: 'github.com/acme/shop', branch: 'main' },
    ...{ run: { id, attempt: 1 }, deployment: null, environment: null },
  }
  const strict = filterEvidence((await readPolicyInputs(api.services.sql, subject, now)('commit')).inputs[0], {
    trust: null,
    max_age_ms: null,
  })
  assert.deepEqual(
    strict.attestations.map(({ name }) => name),
    ['unit'],
  )
  assert.deepEqual([strict.run?.id, strict.reports.length], [id, 1])
})

test('a verified run is evidence of its repository, unless it is of a pull request', async () => {
  const [claims, pull] = [newRunClaims(), newRunClaims({ event_name: 'pull_request' })]
  const { id } = await startRun(claims)
  await caller.send('PATCH', `/v1/ci/runs/${id}`, { status: 'success' }, claims)
  await patchRun(api, caller, (await startRun(pull)).id, { status: 'success' })
  const runs = await findNewestRuns(api.services.sql, caller.orgId, 'github.com/acme/shop', api.clock.now())
  assert.deepEqual(
    runs.map((run) => run.id),
    [id],
  )
})

test('a rule that admits verified evidence sees the newest verified run of the repository, and one for all the newest', async () => {
  const rules = ['', 'trust: any'].map(
    (trust, index) => `  - rule: tests-${index}\n    expression: '${PASSED}'\n    ${trust}\n`,
  )
  const bound = "bindings: { repositories: ['acme/*'] }"
  await apply(api, caller, `name: tests\nmode: enforce\n${bound}\nrules:\n${rules.join('')}`)
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  await report(id, claims)
  await caller.send('PATCH', `/v1/ci/runs/${id}`, { status: 'success' }, claims)
  api.clock.advance(1000)
  const byKey = await createRun(api, caller, { repository: 'github.com/acme/shop', ref: 'main' })
  await patchRun(api, caller, byKey.id, { status: 'success' })
  await drainQueue(api)
  const { body } = await api.request('GET', '/v1/compliance/results', { key: caller.key })
  assert.deepEqual(
    body.data[0].details.map(({ rule, result }: Json) => [rule, result]),
    [
      ['tests-0', 'pass'],
      ['tests-1', 'fail'],
    ],
  )
})

const SCAN = JSON.stringify(sarif([sarifResult('a')]))

/** Sends a report with a scan and its file, by token, until the file has been read. */
async function reportScan(runId: string, claims: Claims): Promise<void> {
  const body = { attestations: [scan({ artifact: 'sast.sarif' })], artifacts: [artifactOf('sast.sarif', SCAN)] }
  const { body: sent, text } = await report(runId, claims, body)
  const [slot] = sent.data?.uploads ?? assert.fail(text)
  await putArtifact(slot, SCAN)
  const path = `/v1/ci/runs/${runId}/reports/${sent.data.report_id}/artifacts/complete`
  await caller.send('POST', path, { artifact_ids: [slot.artifact_id] }, claims)
  await drainQueue(api)
}

test("findings of a token's artifacts belong to the repository with the id in the token", async () => {
  await link(api, caller, { provider: 'github', id: '2', name: 'acme/shop' })
  const claims = newRunClaims()
  await reportScan((await startRun(claims)).id, claims)
  const [finding, ...others] = await listFindings(api, caller)
  assert.deepEqual([finding?.provider, finding?.repository_id, others.length], ['github', '7770001', 0])
  const [stream] = await api.services.sql<{ trust: string }[]>`
    select trust from security_uploads where org_id = ${caller.orgId}`
  assert.equal(stream?.trust, 'verified')
})

test("a token reports nothing about another repository's run", async () => {
  const other = await createRun(api, caller, { repository: 'github.com/acme/api' })
  const sent = await report(other.id, newRunClaims(), { attestations: [scan({ artifact: 'sast.sarif' })] })
  assertError(sent, 403, 'forbidden')
  assert.deepEqual(await listFindings(api, caller), [])
})

test('an attestation is not more trustworthy than the artifact that its figures come from', async () => {
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  const { report_id } = await sendReport(api, caller, id, { attestations: [scan({ artifact: 'sast.sarif' })] })
  await uploadArtifact(api, caller, { run_id: id, report_id }, 'sast.sarif', SCAN)
  // As stored before reports had lanes: by the token, with a file of the key.
  await api.services.sql`update ci_attestations set trust = 'verified' where org_id = ${caller.orgId}`
  await drainQueue(api)
  const [stored] = await api.services.sql<Json[]>`
    select trust, parsed is not null as is_parsed
    from ci_attestations
    where org_id = ${caller.orgId}`
  assert.deepEqual({ ...stored }, { trust: 'self_reported', is_parsed: true })
})
