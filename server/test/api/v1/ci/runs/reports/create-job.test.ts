// No second chance: which job a report belongs to.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../support/assert-error.ts'
import { artifactOf, postReport, sendReport, TESTS } from '../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../support/ci-runs.ts'
import { configureGate, openGate } from '../../../../../support/gates.ts'
import type { Json } from '../../../../../support/json.ts'
import { apply } from '../../../../../support/policies.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../../../support/token-caller.ts'

const FAILED = { kind: 'test-results', name: 'unit', data: { passed: 3, failed: 1, skipped: 0, errors: 0 } }
const NO_FAILED_TESTS = `name: no-failed-tests
mode: enforce
rules:
  - rule: tests
    expression: 'attestations.all(a, a.status != "fail") && size(attestations) > 0'
    trust: any
`

let api: TestApi
let beside: TestApi

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})

const count = async (runId: string) => (await api.services.sql`select from ci_reports where run_id = ${runId}`).count

type Pair = { system: string; common: Json; first: Json; second: Json }
const cases = JSON.parse(
  await readFile(new URL('../../../../../fixtures/ci-environments.json', import.meta.url), 'utf8'),
) as { same_run_two_jobs: { pairs: Pair[] } }

/** What our clients send of the job, system by system (ci-evidence §7). */
function toJob(env: Json): Json {
  if (env.TRAVIS) return { name: env.TRAVIS_JOB_NUMBER, key: env.TRAVIS_JOB_NUMBER, instance: env.TRAVIS_JOB_ID }
  if (env.JENKINS_URL) return { name: 'Test', instance: createHash('sha256').update(JSON.stringify(env)).digest('hex') }
  if (env.BITBUCKET_STEP_UUID) return { name: 'step', instance: env.BITBUCKET_STEP_UUID }
  if (env.BUILDKITE) return { name: 'default', instance: env.BUILDKITE_JOB_ID }
  return { name: env.GITHUB_JOB, instance: env.RUNNER_NAME.replaceAll(' ', '-'), ...(env.matrix ?? {}) }
}

for (const { system, common, first, second } of cases.same_run_two_jobs.pairs.filter(({ first }) => !first.token)) {
  test(`two reports for two jobs of one run, and the failing one blocks: ${system}`, async () => {
    const caller = await api.caller()
    await apply(api, caller, NO_FAILED_TESTS)
    await configureGate(api, caller, { policies: ['no-failed-tests'] })
    const run = await createRun(api, caller, { ci_system: 'other' })
    const [one, other] = [toJob({ ...common, ...first }), toJob({ ...common, ...second })]
    await sendReport(api, caller, run.id, { job: one, attestations: [FAILED] })
    const { warnings } = await sendReport(api, caller, run.id, { job: other, attestations: [TESTS] })
    assert.equal(await count(run.id), 2)
    assert.ok(!warnings.includes('SAME_NAME_DIFFERENT_JOB') || other.key === undefined)
    assert.equal((await openGate(api, caller, { run_id: run.id, environment: 'production' })).decision, 'pending')
    await sendReport(api, caller, run.id, { job: one, attestations: [TESTS] })
    assert.equal(await count(run.id), 2)
  })
}

test('verified reports of a reusable workflow that is called twice are two, whatever key they send', async () => {
  const caller = await startTokenCaller(api)
  try {
    const claims = newRunClaims()
    const run = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
    const report = async (check_run_id: number, job: Json, attestation: Json) => {
      const body = { job: { name: 'test', ...job }, attestations: [attestation] }
      const answer = await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, body, { ...claims, check_run_id })
      assert.ok(answer.status < 300, answer.text)
      return answer.body.data
    }
    for (const key of [undefined, 'test']) {
      const failed = await report(101, { key }, FAILED)
      const passed = await report(102, { key }, TESTS)
      assert.notEqual(failed.report_id, passed.report_id)
      assert.equal(passed.warnings.includes('SAME_NAME_DIFFERENT_JOB'), key === undefined)
      assert.equal((await report(102, { key }, TESTS)).report_id, passed.report_id)
    }
    assert.equal(await count(run.id), 4)
    const wrong = { job: { name: 'test', instance: '101' } }
    const refused = await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, wrong, { ...claims, check_run_id: 102 })
    assertInvalid(refused, '/body/job/instance')
  } finally {
    await caller.close()
  }
})

test('a retried job replaces its report by its key; a late report of an older try changes nothing', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller, { ci_system: 'gitlab-ci' })
  const job = (instance: string, retries: number) => ({ name: 'test', key: 'test', instance, retries })
  const failed = await sendReport(api, caller, run.id, { job: job('71', 0), attestations: [FAILED] })
  const passed = await sendReport(api, caller, run.id, { job: job('72', 1), attestations: [TESTS] })
  assert.deepEqual([passed.report_id, passed.warnings], [failed.report_id, []])
  const late = await postReport(api, caller, run.id, {
    job: job('71', 0),
    attestations: [FAILED],
    artifacts: [artifactOf('log.txt', 'late')],
  })
  const { report_id, warnings, uploads, skipped } = late.body.data
  assert.deepEqual([late.status, report_id, warnings, uploads, skipped], [200, failed.report_id, ['OLDER_TRY'], [], []])
  const [stored] = await api.services.sql`
    select report.job_instance, report.job_retries, item.status
    from ci_reports report
    join ci_attestations item on item.report_id = report.id
    where report.id = ${report_id}`
  assert.deepEqual({ ...stored }, { job_instance: '72', job_retries: 1, status: 'pass' })
})

test('jobs with one name are kept side by side, with a warning only where no key was sent', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const report = async (job: Json) =>
    (await sendReport(api, caller, run.id, { job: { name: 'test', ...job } })).warnings
  assert.deepEqual(await report({}), [])
  assert.deepEqual(await report({}), [])
  assert.deepEqual(await report({ key: 'a' }), [])
  assert.deepEqual(await report({ key: 'b' }), [])
  assert.deepEqual(await report({ instance: '1' }), ['SAME_NAME_DIFFERENT_JOB'])
  assert.deepEqual(await report({ name: 'lint', instance: '1' }), [])
  assert.deepEqual(await report({ matrix: { os: 'linux' }, instance: '1' }), [])
  assert.equal(await count(run.id), 6)
})

test('a report id is today’s without key and instance, and the same function of both at all times', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const id = async (job: Json) => (await sendReport(api, caller, run.id, { job: { name: 'test', ...job } })).report_id
  const digest = createHash('sha256')
    .update(JSON.stringify([run.id, 1, 'test', [], 'default']))
    .digest('hex')
  assert.equal(await id({}), `1-${digest.slice(0, 24)}`)
  const keyed = await id({ key: 'a', instance: '1' })
  assert.equal(await id({ key: 'a', instance: '2', retries: 3 }), keyed)
  assert.equal(await id({ key: 'a' }), keyed)
  assert.notEqual(await id({ instance: 'a' }), keyed)
})

test('the warning about another runner stays where no execution is known', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const report = (runner: string, job: Json = {}) =>
    sendReport(api, caller, run.id, { job: { name: 'test', runner, ...job } })
  await report('one')
  assert.match((await report('two')).warnings.join(), /replaced a report from the runner "one"/)
  await report('one', { key: 'a', instance: '1' })
  assert.deepEqual((await report('two', { key: 'a', instance: '2', retries: 1 })).warnings, [])
})

test('429 for the 101st job with one name and matrix of a run, to that lane and for that name alone', async () => {
  const caller = await startTokenCaller(api)
  try {
    const claims = newRunClaims()
    const run = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
    const report = (by: Caller, index: number, name = 'test') =>
      postReport(api, by, run.id, { job: { name, instance: `${index}` } })
    for (let index = 0; index < 100; index += 1) assert.equal((await report(caller, index)).status, 201)
    assert.equal(assertError(await report(caller, 100), 429, 'rate_limited').limit, 100)
    assert.equal((await report(caller, 99)).status, 200)
    assert.equal((await report(caller, 100, 'lint')).status, 201)
    assert.equal((await postReport(api, caller, run.id, { job: { name: 'test' } })).status, 201)
    const own = { job: { name: 'test' } }
    const verified = await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, own, { ...claims, check_run_id: 1 })
    assert.equal(verified.status, 201, verified.text)
  } finally {
    await caller.close()
  }
})

test('each of 100 jobs with one name reports in the next attempt, too, and the 101st does not', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller, { external_run_id: 'hundred' })
  const report = (index: number, attempt: number) =>
    postReport(api, caller, run.id, { attempt, job: { name: 'test', key: `${index}` } })
  for (let index = 0; index < 100; index += 1) assert.equal((await report(index, 1)).status, 201)
  await createRun(api, caller, { external_run_id: 'hundred', attempt: 2 })
  assert.equal((await report(99, 2)).status, 201)
  assertError(await report(100, 2), 429, 'rate_limited')
})

test('concurrent reports of one job to two servers are one report: one 201, seven 200', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const sent = Array.from({ length: 8 }, (_, index) =>
    postReport(index % 2 ? beside : api, caller, run.id, { job: { key: 'a', instance: `${index}`, retries: index } }),
  )
  const answers = await Promise.all(sent)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(200), 201])
  const [stored] = await api.services.sql`select job_retries from ci_reports where run_id = ${run.id}`
  assert.equal(stored?.job_retries, 7)
})

for (const job of [
  { key: '' },
  { key: 'x'.repeat(201) },
  { instance: 'a\tb' },
  { instance: '' },
  { retries: -1 },
  { retries: 1000 },
  { retries: 1.5 },
])
  test(`400 for the job ${JSON.stringify(job).slice(0, 40)}`, async () => {
    const caller = await api.caller()
    const run = await createRun(api, caller)
    assertInvalid(await postReport(api, caller, run.id, { job }), `/body/job/${Object.keys(job)[0]}`)
  })

test("a key's report with the instance, the key and more retries of a verified one changes nothing of it", async () => {
  const caller = await startTokenCaller(api)
  try {
    const claims = { ...newRunClaims(), check_run_id: 7 }
    const run = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
    const body = { job: { name: 'test', key: 'test' }, attestations: [FAILED] }
    const own = (await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, body, claims)).body.data
    const read = () => api.services.sql<Json[]>`
      select report.*, item.status from ci_reports report join ci_attestations item on item.report_id = report.id
      where report.id = ${own.report_id}`
    const before = [...(await read())]
    const job = { name: 'test', key: 'test', instance: '7', retries: 999 }
    const said = await sendReport(api, caller, run.id, { job, attestations: [TESTS] })
    assert.deepEqual([said.trust, said.stands_beside], ['self_reported', own.report_id])
    assert.deepEqual([...(await read())], before)
  } finally {
    await caller.close()
  }
})
