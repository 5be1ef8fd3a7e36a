import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createLog } from '../../../src/platform/log.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { artifactOf, putArtifact, sendReport, TESTS } from '../../support/ci-reports.ts'
import { createRun, newRun } from '../../support/ci-runs.ts'
import { type DatabasePlug, openDatabasePlug } from '../../support/database-plug.ts'
import { approverOf, auditOf, configureGate, openGate, REASON } from '../../support/gates.ts'
import type { Json } from '../../support/json.ts'
import { createTrust, githubClaims, type Issuer, startIssuer } from '../../support/oidc-issuer.ts'
import { apply } from '../../support/policies.ts'
import { listJobs } from '../../support/queue.ts'
import { putFile } from '../../support/reports.ts'
import { sarif, sarifResult } from '../../support/sarif.ts'
import { until } from '../../support/until.ts'

// The connection to the database breaks after a commit and before its answer, as it does when the
// primary server is lost. The client gets 503. Its same call again must answer as if the first one
// had worked, and store nothing twice.

const WAIT_MS_MAX = 60_000

let api: TestApi
let plug: DatabasePlug
/** Another server on the data of `api`, behind the plug. */
let cut: TestApi
let issuer: Issuer
let caller: Caller

before(async () => {
  api = await startTestApi()
  plug = await openDatabasePlug(api.database.address)
  cut = await startTestApi({ beside: api, through: plug.connection, log: createLog('silent') })
  issuer = await startIssuer()
})
beforeEach(async () => {
  caller = await api.caller()
})
after(async () => {
  await issuer?.close()
  await cut?.close()
  await plug?.close()
  await api?.close()
})

type Call = { method?: string; path: string; body?: unknown; key?: string }

/**
 * Sends a call whose commit is not acknowledged, and then the same call again. `count` is what the
 * call stores. Returns the second answer.
 */
async function callTwice(call: Call, count: () => Promise<number>): Promise<Answer> {
  const { method = 'POST', path, body, key = caller.key } = call
  const send = () => cut.request(method, path, { key, body })
  // The server has seen the key, and its connections are open.
  await until('the server is connected', WAIT_MS_MAX, async () => (await cut.request('GET', '/readyz')).status === 200)
  assert.equal(await count(), 0)
  plug.breakWhen(async () => (await count()) > 0)
  assertUnavailable(await send())
  assert.equal(await count(), 1, 'the commit has happened')
  let answer = await send()
  await until('the database is reachable', WAIT_MS_MAX, async () => {
    if (answer.status === 503) answer = await send()
    return answer.status !== 503
  })
  assert.equal(await count(), 1, 'nothing is stored twice')
  return answer
}

/** The routes of the public action have their own form of errors. */
function assertUnavailable(answer: Answer): void {
  if (answer.body?.error?.code !== undefined) return void assertError(answer, 503, 'unavailable')
  assert.deepEqual([answer.status, answer.body?.retryable], [503, true], answer.text)
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

type Table = 'ci_runs' | 'ci_reports' | 'ci_artifacts' | 'opened_gates' | 'deployments' | 'security_uploads'

/** Rows of the caller's organization. */
async function countRows(table: Table, status?: string): Promise<number> {
  const { sql } = api.services
  const [row] = await sql<[{ count: number }]>`
    select count(*)
    from ${sql(table)}
    where org_id = ${caller.orgId}
      ${status === undefined ? sql`` : sql`and status = ${status}`}`
  return row.count
}

async function readJobs(uploadId: string): Promise<number> {
  const jobs = await listJobs(api.services.sql)
  return jobs.filter(({ payload }) => payload.upload_id === uploadId).length
}

const REPORT = Buffer.from(JSON.stringify(sarif([sarifResult('r1')])))

test('createCiRun', async () => {
  const body = newRun()
  const { status, body: answer } = await callTwice({ path: '/v1/ci/runs', body }, () => countRows('ci_runs'))
  assert.equal(status, 200)
  const [stored] = await api.services.sql`select id from ci_runs where org_id = ${caller.orgId}`
  assert.deepEqual(
    [answer.data.id, answer.data.external_run_id, answer.data.attempt],
    [stored?.id, body.external_run_id, 1],
  )
})

test('updateCiRun', async () => {
  const { id } = await createRun(api, caller)
  const call = { method: 'PATCH', path: `/v1/ci/runs/${id}`, body: { status: 'success' } }
  const { status, body } = await callTwice(call, () => countRows('ci_runs', 'success'))
  assert.deepEqual([status, body.data.id, body.data.status], [200, id, 'success'])
})

test('createCiReport', async () => {
  const { id } = await createRun(api, caller)
  const report = { job: { name: 'test' }, summary: 'All passed.', attestations: [TESTS] }
  const call = { path: `/v1/ci/runs/${id}/reports`, body: report }
  const { status, body } = await callTwice(call, () => countRows('ci_reports'))
  assert.equal(status, 200)
  const { sql } = api.services
  const reports = await sql`select id, summary from ci_reports where org_id = ${caller.orgId}`
  const attestations = await sql`select kind, name from ci_attestations where org_id = ${caller.orgId}`
  assert.deepEqual([...reports], [{ id: body.data.report_id, summary: 'All passed.' }])
  assert.deepEqual([...attestations], [{ kind: 'test-results', name: 'unit' }])
})

test('addCiArtifacts and completeCiArtifacts', async () => {
  const report = await sendReport(api, caller, (await createRun(api, caller)).id)
  const path = `/v1/ci/runs/${report.run_id}/reports/${report.report_id}/artifacts`
  const call = { path, body: { artifacts: [artifactOf('app.tar', 'bytes')] } }
  const added = await callTwice(call, () => countRows('ci_artifacts'))
  assert.ok(added.status === 200 || added.status === 201, added.text)
  const [slot] = added.body.data.uploads
  assert.equal((await putArtifact(slot, 'bytes')).status, 200)
  const completion = { path: `${path}/complete`, body: { artifact_ids: [slot.artifact_id] } }
  const { status, body } = await callTwice(completion, () => countRows('ci_artifacts', 'uploaded'))
  const result = { artifact_id: slot.artifact_id, status: 'uploaded', reason: null }
  assert.deepEqual([status, body.data.results], [200, [result]])
})

test('openCiGate, with the decision of its policies', async () => {
  await apply(
    api,
    caller,
    'name: running\nmode: enforce\nrules:\n  - rule: runs\n    expression: run.attempt == 1\n    trust: any\n',
  )
  await configureGate(api, caller, { policies: ['running'] })
  const { id: run_id } = await createRun(api, caller)
  const call = { path: '/v1/ci/gates', body: { run_id, environment: 'production', job: 'deploy' } }
  const { status, body } = await callTwice(call, () => countRows('opened_gates'))
  assert.deepEqual([status, body.data.status, body.data.decision], [200, 'decided', 'approved'])
  assert.equal(await countRows('deployments'), 1)
  const polled = await api.request('GET', `/v1/ci/gates/${body.data.gate_id}`, { key: body.data.poll_token })
  assert.deepEqual([polled.status, polled.body.data.decision], [200, 'approved'])
  assert.equal((await auditOf(api, caller, body.data.deployment_id)).length, 1)
})

test('approveDeployment: 409 already_decided, because a decision is made once', async () => {
  const gate = await openGate(api, caller)
  const approver = await approverOf(api, caller)
  const call = { path: `/v1/deployments/${gate.deployment_id}/approve`, body: { reason: REASON }, key: approver.key }
  const again = await callTwice(call, () => countRows('deployments', 'approved'))
  assertError(again, 409, 'already_decided')
  assert.equal((await auditOf(api, caller, gate.deployment_id)).length, 1)
})

test('createSecurityUpload and completeSecurityUpload', async () => {
  const sha256 = createHash('sha256').update(REPORT).digest('hex')
  const file = { filename: 'report.sarif', size: REPORT.length, sha256, repository: 'acme/app' }
  const created = await callTwice({ path: '/v1/security/uploads', body: file }, () => countRows('security_uploads'))
  assert.equal(created.status, 200)
  assert.equal((await putFile(created, REPORT)).status, 200)
  const { id } = created.body.data.upload
  const completion = { path: `/v1/security/uploads/${id}/complete` }
  const { status, body } = await callTwice(completion, () => countRows('security_uploads', 'queued'))
  assert.equal(status, 200)
  assert.deepEqual([body.data.upload.id, body.data.upload.status], [id, 'queued'])
  assert.equal(await readJobs(id), 1)
})

test('the report of a job by the public protocol, and its completion', async () => {
  await createTrust(api, caller.orgId, { issuer: issuer.url, provider: 'github' })
  const key = await issuer.sign(githubClaims(api))
  const artifact = { ...artifactOf('app.tar', 'bytes'), contentType: 'application/x-tar' }
  const report = { version: 1, job: { name: 'test' }, name: 'default', attestations: [TESTS], artifacts: [artifact] }
  const sent = await callTwice({ path: '/api/ingest/github/reports', body: report, key }, () => countRows('ci_reports'))
  assert.equal(sent.status, 200)
  assert.deepEqual([await countRows('ci_runs'), await countRows('ci_artifacts')], [1, 1])
  const { reportId, uploads } = sent.body as { reportId: string; uploads: Json[] }
  for (const slot of uploads) assert.equal((await putArtifact(slot as never, 'bytes')).status, 200)
  const artifactIds = uploads.map(({ artifactId }) => artifactId)
  const completion = { path: `/api/ingest/github/reports/${reportId}/complete`, body: { artifactIds }, key }
  const { status, body } = await callTwice(completion, () => countRows('ci_artifacts', 'uploaded'))
  assert.deepEqual([status, body.results], [200, [{ artifactId: artifactIds[0], status: 'uploaded' }]])
})
