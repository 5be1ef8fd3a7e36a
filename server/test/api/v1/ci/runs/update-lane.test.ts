// No second chance: who may change a run.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Claims } from '../../../../../src/access/oidc-trusts/claims.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { artifactOf, TESTS } from '../../../../support/ci-reports.ts'
import { createRun, newRun, patchRun } from '../../../../support/ci-runs.ts'
import { configureGate, openGate, pollGate, postGate } from '../../../../support/gates.ts'
import { hostRepository, hostRun, insertConnection } from '../../../../support/host-objects.ts'
import type { Json } from '../../../../support/json.ts'
import { applyRuns } from '../../../../support/provider-runs.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const OTHER = { repository: 'acme/other', repository_id: '7770002' }
const STRANGE = { event_name: 'pull_request_target' }

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  await configureGate(api, caller)
})
after(async () => {
  await caller?.close()
  await api?.close()
})

/** Starts a run of `acme/shop` by its own token. */
async function startRun(claims = newRunClaims()): Promise<Json> {
  const { status, body, text } = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assert.equal(status, 201, text)
  return body.data
}

const patch = (id: string, claims: Claims, body: object = { status: 'failure', url: 'https://ci.example/evil' }) =>
  caller.send('PATCH', `/v1/ci/runs/${id}`, body, claims)
const readRun = async (id: string) => (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data

/** Asserts that a call is refused, and that neither the run nor its gate notices it. */
async function assertNothingChanged(run: Json, code: string, call: () => Promise<Answer>): Promise<void> {
  const gate = (await postGate(api, caller, { run_id: run.id, environment: 'production' })).body.data
  const before = await readRun(run.id)
  assertError(await call(), 403, code)
  assert.deepEqual(await readRun(run.id), before)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
}

test('403 forbidden for a job of another repository, of whatever event', async () => {
  for (const event of [STRANGE, {}]) {
    const run = await startRun()
    await assertNothingChanged(run, 'forbidden', () => patch(run.id, newRunClaims({ ...OTHER, ...event })))
    await assertNothingChanged(run, 'forbidden', () => patch(run.id, newRunClaims({ ...OTHER, ...event }), {}))
  }
})

test('403 forbidden for an untrusted job of the same repository, about every run but its own', async () => {
  const strange = newRunClaims(STRANGE)
  const run = await startRun()
  await assertNothingChanged(run, 'forbidden', () => patch(run.id, strange))
  const byKey = await createRun(api, caller, { repository: 'github.com/acme/shop' })
  await assertNothingChanged(byKey, 'forbidden', () => patch(byKey.id, strange))
  const own = await startRun(strange)
  assert.deepEqual([own.trust, (await patch(own.id, strange)).status], ['untrusted', 200])
})

test("403 other_lane for an API key and for another job of the repository that change a token's run", async () => {
  const run = await startRun()
  await assertNothingChanged(run, 'other_lane', () => patchRun(api, caller, run.id, { status: 'failure' }))
  await assertNothingChanged(run, 'other_lane', () => patchRun(api, caller, run.id, { url: 'https://ci.example/1' }))
  await assertNothingChanged(run, 'other_lane', () => patch(run.id, newRunClaims()))
  assert.equal((await patchRun(api, caller, run.id, {})).status, 200)
})

test('a finished run is 409 to weaker lanes, and its repeated end 200', async () => {
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  assert.equal((await patch(id, claims, { status: 'success' })).status, 200)
  assertError(await patchRun(api, caller, id, { status: 'failure' }), 409, 'run_finished')
  assertError(await patch(id, newRunClaims(STRANGE)), 409, 'run_finished')
  assert.equal((await patchRun(api, caller, id, { status: 'success' })).status, 200)
})

test("a code host's run is 404 to keys and other jobs; a report of another repository's job about it is 403", async (t) => {
  const connected = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  t.after(() => connected.close())
  const repository = hostRepository({ id: '7770001' })
  const source = await insertConnection(api.services.sql, connected.orgId, repository)
  const { run_id } = newRunClaims()
  await applyRuns(api.services, source, hostRun({ id: run_id, repository, head_repository_id: repository.id }))
  const path = `/v1/ci/runs/gh_run_${run_id}`
  assertError(await patchRun(api, connected, `gh_run_${run_id}`, { status: 'failure' }), 404, 'not_found')
  assertError(await connected.send('PATCH', path, { status: 'failure' }, newRunClaims(STRANGE)), 404, 'not_found')
  for (const claims of [newRunClaims(STRANGE), newRunClaims(OTHER)])
    assertError(await connected.send('POST', `${path}/reports`, { job: {} }, claims), 403, 'forbidden')
})

test('403 forbidden for reports, attestations, artifacts, their completion and gates of a foreign repository', async () => {
  const claims = newRunClaims()
  const { id } = await startRun(claims)
  const reports = `/v1/ci/runs/${id}/reports`
  const body = { job: { name: 'test' }, artifacts: [artifactOf('out.txt', 'text')] }
  const { report_id, uploads } = (await caller.send('POST', reports, body, claims)).body.data
  await openGate(api, caller, { run_id: id })
  const calls: [string, object][] = [
    [reports, body],
    [`${reports}/${report_id}/attestations`, { attestations: [TESTS] }],
    [`${reports}/${report_id}/artifacts`, { artifacts: [artifactOf('other.txt', 'text')] }],
    [`${reports}/${report_id}/artifacts/complete`, { artifact_ids: [uploads[0].artifact_id] }],
    ['/v1/ci/gates', { run_id: id, environment: 'production' }],
    ['/v1/ci/gates', { run_id: id, environment: 'production', job: 'other' }],
    ['/v1/ci/runs', newRun({ repository: 'github.com/acme/shop' })],
  ]
  for (const [path, sent] of calls)
    for (const event of [{}, STRANGE]) {
      const answer = await caller.send('POST', path, sent, newRunClaims({ ...OTHER, ...event }))
      assert.deepEqual([path, answer.status, answer.body.error?.code], [path, 403, 'forbidden'], answer.text)
    }
  // Of its own repository, it is another run.
  const own = ownRun(claims, { repository: 'github.com/acme/other', attempt: 2 })
  const beside = await caller.send('POST', '/v1/ci/runs', own, newRunClaims(OTHER))
  assert.deepEqual([beside.status, beside.body.data?.trust], [201, 'self_reported'], beside.text)
  assertError(await caller.send('POST', '/v1/ci/runs', own, newRunClaims({ ...OTHER, ...STRANGE })), 403, 'forbidden')
  assert.equal((await readRun(id)).attempts.length, 1)
})

test("201 self_reported for a token's report about a run of its repository that an API key has created", async () => {
  const { id } = await createRun(api, caller, { repository: 'github.com/acme/shop' })
  const path = `/v1/ci/runs/${id}/reports`
  const own = await caller.send('POST', path, { job: {} }, newRunClaims())
  assert.deepEqual([own.status, own.body.data?.trust], [201, 'self_reported'], own.text)
  assertError(await caller.send('POST', path, { job: {} }, newRunClaims(OTHER)), 403, 'forbidden')
})

test('a token whose claims cannot be read speaks about runs of API keys only', async (t) => {
  const unread = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/unread' } } })
  t.after(() => unread.close())
  await api.services.sql`update oidc_trusts set provider = null where id = ${unread.trustId}`
  const [byKey, claimed] = [await createRun(api, unread), await createRun(api, unread)]
  await api.services.sql`
    update ci_runs
    set claims = '{}', claimed_provider = 'github', claimed_repository_id = '7770001'
    where id = ${claimed.id}`
  const report = (id: string) =>
    unread.send('POST', `/v1/ci/runs/${id}/reports`, { job: {} }, { repository: 'acme/unread' })
  const own = await report(byKey.id)
  assert.deepEqual([own.status, own.body.data?.trust], [201, 'self_reported'], own.text)
  assertError(await report(claimed.id), 403, 'forbidden')
})
