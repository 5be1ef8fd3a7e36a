// No second chance: who replaces a report.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError } from '../../../../../support/assert-error.ts'
import {
  artifactOf,
  attemptInput,
  fileOf,
  putArtifact,
  sendReport,
  storedReport,
  TESTS,
} from '../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../support/ci-runs.ts'
import { configureGate, postGate } from '../../../../../support/gates.ts'
import type { Json } from '../../../../../support/json.ts'
import { createPerson, requestAs } from '../../../../../support/people.ts'
import { writePlans } from '../../../../../support/plans.ts'
import { apply } from '../../../../../support/policies.ts'
import { drainQueue } from '../../../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../../support/token-caller.ts'

const FAILED = { ...TESTS, data: { ...TESTS.data, failed: 2 } }
const LOG = artifactOf('log.txt', 'two tests failed')
const STRANGE = { event_name: 'pull_request_target' }

let api: TestApi
let plans: Awaited<ReturnType<typeof writePlans>>
let caller: TokenCaller
let claims: ReturnType<typeof newRunClaims>
let runId: string

before(async () => {
  plans = await writePlans({ small: { artifact_bytes_max: 100, artifact_bytes_per_run_max: 100 } })
  api = await startTestApi({ env: plans.env })
  caller = await startTokenCaller(api, { plan: 'small', trust: { conditions: { repository: 'acme/*' } } })
})
after(async () => {
  await caller?.close()
  await api?.close()
  await plans?.remove()
})
beforeEach(async () => {
  claims = newRunClaims()
  runId = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data.id
})

const byToken = async (body: object = {}): Promise<Json> => {
  const path = `/v1/ci/runs/${runId}/reports`
  const { body: sent, text } = await caller.send('POST', path, { job: { name: 'test' }, ...body }, claims)
  return sent.data ?? assert.fail(text)
}
const byKey = (body: Record<string, unknown> = {}) => sendReport(api, caller, runId, body)
const call = (path: string, body: object) => api.request('POST', path, { key: caller.key, body })

/** A report of the run's own token with a failed test and an uploaded file. */
async function reportFailure(): Promise<Json> {
  const sent = await byToken({ attestations: [FAILED], artifacts: [LOG] })
  await putArtifact(sent.uploads[0], 'two tests failed')
  const path = `/v1/ci/runs/${runId}/reports/${sent.report_id}/artifacts/complete`
  await caller.send('POST', path, { artifact_ids: [sent.uploads[0].artifact_id] }, claims)
  return sent
}

async function assertStillFailed({ report_id }: Json): Promise<void> {
  const { attestations, artifacts } = await storedReport(api, caller, report_id)
  assert.deepEqual(
    [attestations.map(({ status }) => status), artifacts.map(({ path, status }) => [path, status])],
    [['fail'], [['log.txt', 'uploaded']]],
  )
}

async function requireTests(trust = ''): Promise<void> {
  const expression = 'attestations.exists(a, a.kind == "test-results") && attestations.all(a, a.status == "pass")'
  const rule = `  - rule: tests\n    expression: '${expression}'\n    ${trust}\n`
  await apply(api, caller, `name: tests\nmode: enforce\nbindings: { environments: ['production'] }\nrules:\n${rule}`)
}

test("201 beside the token's failed report, which stays, and its gate waits", async () => {
  await configureGate(api, caller)
  await requireTests()
  const failed = await reportFailure()
  const gate = (await postGate(api, caller, { run_id: runId, environment: 'production' })).body.data
  const beside = await byKey({ attestations: [TESTS] })
  assert.notEqual(beside.report_id, failed.report_id)
  assert.deepEqual(
    [failed.trust, failed.stands_beside, beside.trust, beside.stands_beside],
    ['verified', null, 'self_reported', failed.report_id],
  )
  await drainQueue(api)
  await assertStillFailed(failed)
  const { body } = await api.request('GET', `/v1/deployments/${gate.deployment_id}`, { key: caller.key })
  assert.equal(body.data.status, 'pending_approval')
})

test('a rule with trust: any sees the reports of both', async () => {
  await reportFailure()
  await byKey({ attestations: [TESTS] })
  const key = { org_id: caller.orgId, run_id: runId, attempt: 1 }
  const evidence = await attemptInput(api.services.sql, key, api.clock.now())
  assert.deepEqual(
    evidence.attestations.map(({ status, trust }) => [status, trust]),
    [
      ['fail', 'verified'],
      ['pass', 'self_reported'],
    ],
  )
})

test('the same lane replaces its own report: 200 with the same id, whoever came in between', async () => {
  const first = await byToken()
  const second = await byKey()
  const again = await byToken({ attestations: [TESTS] })
  assert.deepEqual(
    [again.report_id, again.stands_beside, (await byKey()).report_id],
    [first.report_id, second.report_id, second.report_id],
  )
  assert.equal((await byKey({ job: { name: 'test', matrix: {} } })).report_id, second.report_id)
  assert.equal((await byKey({ job: { name: 'test', matrix: { os: 'linux' } } })).stands_beside, null)
})

test('403 for a job of strangers, of this or another repository, and nothing changes', async () => {
  const failed = await reportFailure()
  for (const other of [{}, { repository: 'acme/other', repository_id: '7770002' }]) {
    const strange = newRunClaims({ ...STRANGE, ...other })
    const body = { job: { name: 'test' }, attestations: [TESTS] }
    assertError(await caller.send('POST', `/v1/ci/runs/${runId}/reports`, body, strange), 403, 'forbidden')
  }
  await assertStillFailed(failed)
})

test('403 other_lane for calls below a report of another lane, in both directions', async () => {
  const failed = await reportFailure()
  const own = await byKey({ artifacts: [artifactOf('own.txt', 'x')] })
  const calls: [string, object][] = [
    ['attestations', { attestations: [TESTS] }],
    ['artifacts', { artifacts: [artifactOf('evil.bin', 'x')] }],
    ['artifacts/complete', { artifact_ids: [failed.uploads[0].artifact_id] }],
  ]
  for (const [below, body] of calls) {
    assertError(await call(`/v1/ci/runs/${runId}/reports/${failed.report_id}/${below}`, body), 403, 'other_lane')
    const path = `/v1/ci/runs/${runId}/reports/${own.report_id}/${below}`
    assertError(await caller.send('POST', path, body, claims), 403, 'other_lane')
  }
  assertError(
    await call(`/v1/ci/runs/${runId}/reports/1-${'0'.repeat(24)}/attestations`, calls[0]?.[1] ?? {}),
    404,
    'not_found',
  )
  await assertStillFailed(failed)
  assert.deepEqual((await storedReport(api, caller, own.report_id)).attestations, [])
})

test('reports of a job in the lane of a key: API keys and tokens of other runs of the repository', async () => {
  const run = await createRun(api, caller, { repository: 'github.com/acme/shop' })
  const { report_id } = await sendReport(api, caller, run.id)
  const path = `/v1/ci/runs/${run.id}/reports`
  const { body } = await caller.send('POST', path, { job: { name: 'test' } }, newRunClaims())
  assert.deepEqual([body.data?.report_id, body.data?.stands_beside], [report_id, null])
})

test('ids of reports from before the upgrade stay, and no other lane gets them', async () => {
  const { sql } = api.services
  const { report_id: today } = await byToken()
  const { report_id: plain } = await byKey()
  await sql`delete from ci_reports where id = ${plain}`
  await sql`update ci_reports set id = ${plain} where id = ${today}`
  assert.equal((await byToken({ summary: 'again' })).report_id, plain)
  const beside = await byKey({ summary: 'by key' })
  assert.ok(![plain, today].includes(beside.report_id))
  assert.deepEqual([(await byKey()).report_id, beside.stands_beside], [beside.report_id, plain])
  assert.equal((await storedReport(api, caller, plain)).report.summary, 'again')
})

test('what a key has used up of the bytes of a run refuses nothing to its token', async () => {
  await byKey({ artifacts: [fileOf('all', 100)] })
  assert.deepEqual((await byKey({ artifacts: [fileOf('all', 100)], name: 'more' })).skipped, [
    { path: 'all', reason: 'run_quota' },
  ])
  const { uploads } = await byToken({ artifacts: [LOG] })
  assert.equal(uploads.length, 1)
})

test('what a key sends never takes the place of verified evidence within the limits', async () => {
  const failed = await reportFailure()
  const flood = await byKey()
  await api.services.sql`
    insert into ci_attestations (org_id, id, report_id, kind, name, data, status, trust, created_at, updated_at)
    select ${caller.orgId}, gen_random_uuid(), ${flood.report_id}, 'custom', 'flood ' || n, '{}', 'fail', 'self_reported',
      now(), now() + interval '1 day'
    from generate_series(1, 1000) n`
  const key = { org_id: caller.orgId, run_id: runId, attempt: 1 }
  const evidence = await attemptInput(api.services.sql, key, api.clock.now())
  const [first] = evidence.attestations
  assert.deepEqual([first?.report_id, evidence.attestations.length], [failed.report_id, 1000])
})

test('the reports of a run name what stands beside them', async () => {
  const one = await byToken()
  const other = await byKey()
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  const { body, text } = await requestAs(api, viewer, 'GET', `/runs/${runId}/reports`)
  assert.deepEqual(
    body.data?.map(({ id, stands_beside }: Json) => [id, stands_beside]).sort(),
    [
      [one.report_id, other.report_id],
      [other.report_id, one.report_id],
    ].sort(),
    text,
  )
})
