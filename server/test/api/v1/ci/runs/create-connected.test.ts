import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { HostSource } from '../../../../../src/codehosts/host-event.ts'
import type { HostRun } from '../../../../../src/codehosts/host-run.ts'
import { hostParts } from '../../../../../src/host-event-handlers.ts'
import { jobs } from '../../../../../src/jobs.ts'
import { startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { sendReport } from '../../../../support/ci-reports.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { fakeCodeHost } from '../../../../support/fake-client.ts'
import { hostRepository, hostRun, insertConnection } from '../../../../support/host-objects.ts'
import { applyRuns } from '../../../../support/provider-runs.ts'
import { clearJobs, listJobs } from '../../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const COMMIT = '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567'
const repository = hostRepository({ id: '7770001' })
const host = fakeCodeHost()
let api: TestApi
let caller: TokenCaller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
  caller = await startTokenCaller(api)
  source = await insertConnection(api.services.sql, caller.orgId, repository)
})
after(async () => {
  await caller?.close()
  await api?.close()
})
beforeEach(async () => {
  await clearJobs(api.services.sql)
})

function runOf({ run_id: id }: { run_id: string }, fields: Partial<HostRun> = {}): HostRun {
  return hostRun({
    id,
    repository,
    head_repository_id: repository.id,
    commit: { sha: COMMIT, message: 'Fix' },
    ...fields,
  })
}

/** Reads the run that was requested from the host. It was requested once. */
async function readRequested(): Promise<void> {
  const { services } = api
  const queued = await listJobs(services.sql, 'codehosts.read-run')
  const requested = queued.filter(({ seconds_left }) => seconds_left <= 0)
  assert.equal(requested.length, 1)
  const job = jobs.find(({ name }) => name === 'codehosts.read-run')
  await job?.run({ ...services, ...hostParts }, requested[0]?.payload as never)
}

test("200 with the code host's run, in the terms of createCiRun", async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, runOf(claims))
  const { status, body, text } = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assert.equal(status, 200, text)
  const { id, provider, ci_system, external_run_id, trust, deadline_at, credential, event } = body.data
  assert.deepEqual(
    [id, provider, ci_system, external_run_id, trust],
    [`gh_run_${claims.run_id}`, 'github', 'github-actions', claims.run_id, 'verified'],
  )
  assert.deepEqual([deadline_at, credential, event, body.data.commit_sha], [null, null, 'push', COMMIT])
  assert.deepEqual(body.data.linked_repository, { provider: 'github', id: '7770001' })
  assertInvalid(await caller.send('POST', '/v1/ci/runs', ownRun(claims, { ref: 'other' }), claims), '/body/ref')
})

test('404 run_not_found until the code host has reported the run, which is then read from it', async () => {
  const claims = newRunClaims()
  host.answers.readRun = async (_, id) => runOf({ run_id: id })
  const early = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assertError(early, 404, 'run_not_found')
  assert.equal(early.headers.get('retry-after'), '5')
  await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  await readRequested()
  const { status, body } = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assert.deepEqual([status, body.data?.id], [200, `gh_run_${claims.run_id}`])
})

test('404 run_not_found for an attempt that the code host has not reported, which is then read from it', async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, runOf(claims))
  const second = { ...claims, run_attempt: '2' }
  const later = new Date(runOf(claims).updated_at.getTime() + 60_000)
  host.answers.readRun = async () => runOf(claims, { attempt: 2, updated_at: later })
  assertError(await caller.send('POST', '/v1/ci/runs', ownRun(claims), second), 404, 'run_not_found')
  await readRequested()
  const { status, body } = await caller.send('POST', '/v1/ci/runs', ownRun(claims), second)
  assert.deepEqual([status, body.data?.attempt], [200, 2])
})

test("404 run_not_found for the number of another repository's run", async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, hostRun({ id: claims.run_id }))
  assertError(await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims), 404, 'run_not_found')
})

test('a token creates its run while the connection is suspended', async () => {
  const setStatus = (status: string) =>
    api.services.sql`update codehost_connections set status = ${status} where org_id = ${caller.orgId}`
  await setStatus('suspended')
  const claims = newRunClaims()
  assert.equal((await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).status, 201)
  await setStatus('active')
})

test("the code host's run keeps the claims that first identified its job", async () => {
  const claimsOf = async (runId: string) =>
    (await api.services.sql`select claims from ci_runs where org_id = ${caller.orgId} and id = ${runId}`)[0]?.claims
  const [created, reported] = [newRunClaims({ environment: 'production' }), newRunClaims({ environment: 'staging' })]
  for (const claims of [created, reported]) await applyRuns(api.services, source, runOf(claims))
  await sendReport(api, caller, `gh_run_${created.run_id}`)
  assert.equal(await claimsOf(`gh_run_${created.run_id}`), null)
  await caller.send('POST', '/v1/ci/runs', ownRun(created), created)
  await caller.send('POST', '/v1/ci/runs', ownRun(created), { ...created, environment: 'later' })
  assert.equal((await claimsOf(`gh_run_${created.run_id}`)).environment, 'production')
  await caller.send('POST', `/v1/ci/runs/gh_run_${reported.run_id}/reports`, { job: {} }, reported)
  assert.equal((await claimsOf(`gh_run_${reported.run_id}`)).environment, 'staging')
  await applyRuns(api.services, source, runOf(reported))
  assert.equal((await claimsOf(`gh_run_${reported.run_id}`)).run_id, reported.run_id)
})

test("a report of the token is verified for the code host's run; one of an API key is not", async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, runOf(claims))
  const path = `/v1/ci/runs/gh_run_${claims.run_id}/reports`
  const byToken = await caller.send('POST', path, { job: {} }, claims)
  assert.deepEqual([byToken.status, byToken.body.data?.trust], [201, 'verified'], byToken.text)
  const byKey = await sendReport(api, caller, `gh_run_${claims.run_id}`)
  assert.equal(byKey.trust, 'self_reported')
})

for (const [title, headId, trust] of [
  ['verified if the head is in the same repository', repository.id, 'verified'],
  ['untrusted if the head is in a fork', '2', 'untrusted'],
] as const) {
  test(`a report for a pull request is ${title}`, async () => {
    const claims = newRunClaims({ event_name: 'pull_request' })
    await applyRuns(api.services, source, runOf(claims, { event: 'pull_request', head_repository_id: headId }))
    const path = `/v1/ci/runs/gh_run_${claims.run_id}/reports`
    assert.equal((await caller.send('POST', path, { job: {} }, claims)).body.data.trust, trust)
  })
}

test('a run that an API key has created beside that of the code host stays self-reported', async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, runOf(claims))
  const { id } = await createRun(api, caller, ownRun(claims))
  const { body } = await caller.send('POST', `/v1/ci/runs/${id}/reports`, { job: {} }, claims)
  assert.equal(body.data.trust, 'self_reported')
})

test("PATCH: the code host's run is returned unchanged to its own token, and 404 to others", async () => {
  const claims = newRunClaims()
  await applyRuns(api.services, source, runOf(claims))
  const path = `/v1/ci/runs/gh_run_${claims.run_id}`
  const own = await caller.send('PATCH', path, { status: 'success' }, claims)
  assert.deepEqual(
    [own.status, own.body.data?.status, own.body.data?.ci_system],
    [200, 'in_progress', 'github-actions'],
  )
  assertError(await caller.send('PATCH', path, { status: 'success' }, newRunClaims()), 404, 'not_found')
  assertError(await api.request('PATCH', path, { key: caller.key, body: {} }), 404, 'not_found')
})
