// No second chance: whose run a gate is opened for.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { artifactOf, postReport, TESTS } from '../../../../support/ci-reports.ts'
import { createRun, postRun } from '../../../../support/ci-runs.ts'
import { configureGate, postGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../../support/token-caller.ts'

const S1 = '1'.repeat(40)
const S2 = '2'.repeat(40)
const SHOP = { repository: 'git.example.com/acme/shop', commit_sha: S1 }
const PAY = { repository: 'git.example.com/zeta/payments', commit_sha: S2 }

let api: TestApi
let caller: Caller
let run: Json
let number: Json

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  await configureGate(api, caller)
})
after(() => api?.close())
test.beforeEach(async () => {
  run = await createRun(api, caller, SHOP)
  number = { ci_system: run.ci_system, external_run_id: run.external_run_id }
})

const open = (body: Json = {}, by = caller) => postGate(api, by, { run_id: run.id, environment: 'production', ...body })
const report = (body: Json = {}) =>
  postReport(api, caller, run.id, {
    job: {},
    attestations: [TESTS],
    artifacts: [artifactOf('out.txt', 'text')],
    ...body,
  })
const CALLS: [string, (body: Json) => Promise<Answer>][] = [
  ['gates', open],
  ['reports', report],
]

const countStored = async () => {
  const counts = ['deployments', 'opened_gates', 'ci_reports', 'ci_artifacts'].map(
    async (table) =>
      (await api.services.sql`select from ${api.services.sql(table)} where org_id = ${caller.orgId}`).count,
  )
  return Promise.all(counts)
}

for (const [name, call] of CALLS) {
  test(`${name}: 409 run_mismatch for another repository or commit, and nothing is stored`, async () => {
    const before = await countStored()
    const { repository, commit_sha } = PAY
    const wrong: [Json, Json][] = [
      [{ repository }, { field: 'repository', expected: repository, stored: SHOP.repository }],
      [{ commit_sha }, { field: 'commit_sha', expected: commit_sha, stored: S1 }],
      [
        { ...SHOP, commit_sha },
        { field: 'commit_sha', expected: commit_sha, stored: S1 },
      ],
      [PAY, { field: 'repository', expected: repository, stored: SHOP.repository }],
    ]
    for (const [expect, details] of wrong)
      assert.deepEqual(assertError(await call({ expect }), 409, 'run_mismatch'), details)
    assert.deepEqual(await countStored(), before)
  })

  test(`${name}: 201 for what the run is about, in every spelling of the repository`, async () => {
    const { status, text } = await call({ expect: SHOP })
    assert.equal(status, 201, text)
    for (const repository of ['https://Git.Example.com/acme/shop.git', 'git@git.example.com:ACME/shop.git'])
      assert.equal((await call({ expect: { repository } })).status, 200)
    assertError(await call({ expect: PAY }), 409, 'run_mismatch')
  })

  test(`${name}: 400 for an empty or wrong expect`, async () => {
    for (const expect of [{}, { commit_sha: 'main' }, { other: 1 }]) assert.equal((await call({ expect })).status, 400)
    assertInvalid(await call({ expect: { repository: 'https://u:p@host/a/b' } }), '/body/expect/repository')
  })

  test(`${name}: 404 for a run of another organization, whatever is expected`, async () => {
    const other = await api.caller()
    const body = { run_id: run.id, environment: 'production', expect: PAY }
    const answer =
      name === 'gates'
        ? await postGate(api, other, body)
        : await postReport(api, other, run.id, { job: {}, expect: PAY })
    assertError(answer, 404, 'not_found')
    assert.ok(!answer.text.includes('acme'), answer.text)
  })
}

test('what is expected is compared with the attempt, which can be about another commit than its run', async () => {
  await postRun(api, caller, { ...number, ...SHOP, commit_sha: S2, attempt: 2 })
  const other = { ...SHOP, commit_sha: S2 }
  assertError(await open({ attempt: 1, expect: other }), 409, 'run_mismatch')
  assert.equal((await open({ attempt: 2, expect: other })).status, 201)
})

test('without attempt: the first one with a warning, as ever; the newest one with expect or job_instance', async () => {
  assert.ok(!('warnings' in (await open()).body.data))
  await postRun(api, caller, { ...number, ...SHOP, attempt: 2 })
  const first = await open()
  assert.deepEqual([first.status, first.body.data.warnings], [200, ['attempt_outdated']])
  const second = await open({ expect: SHOP })
  assert.deepEqual([second.status, 'warnings' in second.body.data], [201, false])
  assert.notEqual(second.body.data.gate_id, first.body.data.gate_id)
  const same = await open({ job_instance: '7' })
  assert.deepEqual([same.status, same.body.data.gate_id], [200, second.body.data.gate_id])
})

test('400 for a job_instance that contradicts the token', async () => {
  const github = await startTokenCaller(api)
  try {
    await configureGate(api, github)
    const claims = { ...newRunClaims(), check_run_id: 7 }
    const own = (await github.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
    const body = { run_id: own.id, environment: 'production' }
    const wrong = await github.send('POST', '/v1/ci/gates', { ...body, job_instance: '8' }, claims)
    assertInvalid(wrong, '/body/job_instance')
    assert.equal((await github.send('POST', '/v1/ci/gates', { ...body, job_instance: '7' }, claims)).status, 201)
  } finally {
    await github.close()
  }
})
