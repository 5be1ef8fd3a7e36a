import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Actor } from '../../../../../../src/access/actor.ts'
import { readGithubJob } from '../../../../../../src/access/oidc-trusts/github-job.ts'
import { openRunIntake } from '../../../../../../src/ci/runs/run-intake.ts'
import { requireTokenRun } from '../../../../../../src/ci/runs/token-run.ts'
import { startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../support/assert-error.ts'
import { artifactOf, TESTS } from '../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../support/ci-runs.ts'
import type { Json } from '../../../../../support/json.ts'
import { githubClaims } from '../../../../../support/oidc-claims.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../../support/token-caller.ts'

let api: TestApi
let caller: TokenCaller
let claims: ReturnType<typeof newRunClaims>
let runId: string

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api)
})
after(async () => {
  await caller?.close()
  await api?.close()
})
beforeEach(async () => {
  claims = newRunClaims()
  runId = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data.id
})

const FILE = artifactOf('out.txt', 'text')
const REPORT = { job: { name: 'test' }, attestations: [TESTS], artifacts: [FILE] }

const report = (body: unknown = REPORT, by = claims, run = runId) =>
  caller.send('POST', `/v1/ci/runs/${run}/reports`, body, by)

async function storedTrusts(reportId: string) {
  const [row] = await api.services.sql<Json[]>`
    select report.trust as report, attestation.trust as attestation, artifact.trust as artifact,
      artifact.claimed_repository_id as repository
    from ci_reports report
    left join ci_attestations attestation using (org_id)
    left join ci_artifacts artifact using (org_id)
    where report.id = ${reportId} and attestation.report_id = report.id and artifact.report_id = report.id`
  return row
}

test('201 verified for the own run of the token; attestations and artifacts have the same trust', async () => {
  const { status, body, text } = await report()
  assert.deepEqual([status, body.data?.trust], [201, 'verified'], text)
  assert.deepEqual(
    { ...(await storedTrusts(body.data.report_id)) },
    { report: 'verified', attestation: 'verified', artifact: 'verified', repository: '7770001' },
  )
})

test('201 untrusted if code of strangers may have run in the job', async () => {
  const strange = newRunClaims({ event_name: 'pull_request_target' })
  const run = (await caller.send('POST', '/v1/ci/runs', ownRun(strange), strange)).body.data
  const { body } = await report(REPORT, strange, run.id)
  assert.equal(body.data.trust, 'untrusted')
})

test('201 self_reported for another run, whoever created it', async () => {
  assert.equal((await report(REPORT, newRunClaims())).body.data.trust, 'self_reported')
  const byKey = await createRun(api, caller, { repository: 'github.com/acme/shop' })
  assert.equal((await report(REPORT, claims, byKey.id)).body.data.trust, 'self_reported')
})

test('403 for another run if code of strangers may have run in the job', async () => {
  const strange = newRunClaims({ event_name: 'pull_request_target' })
  assertError(await report(REPORT, strange), 403, 'forbidden')
  const others = { ci_system: 'buildkite', external_run_id: strange.run_id }
  assertError(await caller.send('POST', '/v1/ci/runs', ownRun(strange, others), strange), 403, 'forbidden')
})

test("a report belongs to the token's attempt; 400 for another one", async () => {
  await createRun(api, caller, ownRun(claims, { attempt: 2 }))
  assert.equal((await report()).body.data.attempt, 1)
  assertInvalid(await report({ ...REPORT, attempt: 2 }), '/body/attempt')
})

test('a report of the token takes over a run that only an API key has reported', async () => {
  const own = newRunClaims()
  const { id } = await createRun(api, caller, ownRun(own, { ref: 'other' }))
  assert.equal((await report(REPORT, own, id)).body.data.trust, 'verified')
  const { body } = await api.request('GET', `/v1/runs/${id}`, { key: caller.key })
  assert.deepEqual([body.data.trust, body.data.branch], ['verified', 'main'])
})

test('requireTokenRun returns the run of the token, and creates a run or an attempt that is missing', async () => {
  const intake = openRunIntake(api.services.sql)
  const requireRun = (run_attempt: string, { run_id } = claims) =>
    requireTokenRun(api.services, intake, actorWith({ run_id, run_attempt }))
  assert.deepEqual(await requireRun('1'), { run_id: runId, attempt: 1 })
  assert.deepEqual(await requireRun('2'), { run_id: runId, attempt: 2 })
  const missing = newRunClaims()
  const made = await Promise.all(Array.from({ length: 5 }, () => requireRun('1', missing)))
  assert.equal(new Set(made.map(({ run_id }) => run_id)).size, 1)
})

/** The actor of a request with a token that has these claims. */
function actorWith(own: { run_id: string; run_attempt: string }): Actor {
  const terms = { trusted_events: [], self_hosted: false }
  const job = readGithubJob({ ...githubClaims(), ...own }, 'https://token.actions.githubusercontent.com', terms)
  const { orgId, slug, trustId } = caller
  return {
    org_id: orgId,
    organization: { id: orgId, slug, name: slug, plan: 'enterprise' } as Actor['organization'],
    plan: api.services.plans.get('enterprise') as Actor['plan'],
    credential: { type: 'oidc_trust', id: trustId, name: 'test trust', scopes: ['write:ci'], job },
  }
}
