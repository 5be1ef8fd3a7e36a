// No second chance: whose run a number is.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { sendReport, TESTS } from '../../../../support/ci-reports.ts'
import { createRun, patchRun, postRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../../../../support/gates.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../../support/token-caller.ts'

const S1 = '1'.repeat(40)
const S2 = '2'.repeat(40)
const SHOP = { repository: 'git.example.com/acme/shop', commit_sha: S1 }
const PAY = { repository: 'git.example.com/zeta/payments', commit_sha: S2 }
const A = { ci_instance: 'a.example' }
const B = { ci_instance: 'b.example' }

let api: TestApi
let beside: TestApi
let made = 0

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})

/** A number that no other test has. */
const newNumber = () => {
  made += 1
  return { ci_system: 'jenkins', external_run_id: `build/${made}` }
}
const listRuns = async ({ key }: Caller) => (await api.request('GET', '/v1/runs', { key })).body.data

/** The status, the id and the conflicts of an answer. */
const read = ({ status, body }: Answer) => [status, body.data?.id, body.data?.conflicts]

type Pair = { system: string; first: Record<string, string>; second: Record<string, string> }
const cases = JSON.parse(
  await readFile(new URL('../../../../fixtures/ci-environments.json', import.meta.url), 'utf8'),
) as { two_servers_one_number: { pairs: Pair[] } }

/** What our clients send for these environments, system by system (ci-evidence §7). */
function toBody(env: Record<string, string>): Record<string, unknown> {
  const commit_sha = env.GIT_COMMIT === 'S2' || env.CI_COMMIT_SHA === 'S2' ? S2 : S1
  const host = (url = '') => url.replace(/^https:\/\/|\/$/g, '')
  if (env.JENKINS_URL)
    return {
      ...{ ci_system: 'jenkins', external_run_id: `${env.JOB_NAME}/${env.BUILD_NUMBER}`, commit_sha },
      ...{ ci_instance: host(env.JENKINS_URL), repository: env.GIT_URL },
    }
  if (env.GITLAB_CI)
    return {
      ...{ ci_system: 'gitlab-ci', external_run_id: env.CI_PIPELINE_ID, commit_sha },
      ...{ ci_instance: host(env.CI_PROJECT_URL).split('/')[0], repository: env.CI_PROJECT_URL },
    }
  if (env.TF_BUILD)
    return {
      ...{ ci_system: 'azure-pipelines', external_run_id: env.BUILD_BUILDID, commit_sha },
      ...{ ci_instance: host(env.SYSTEM_COLLECTIONURI), repository: env.BUILD_REPOSITORY_URI },
    }
  if (env.HARNESS_BUILD_ID)
    return {
      ...{ ci_system: 'harness', external_run_id: env.HARNESS_BUILD_ID, commit_sha },
      ...{ ci_instance: `account/org/project/${env.HARNESS_PIPELINE_ID}`, repository: SHOP.repository },
    }
  return {
    ci_system: env.GITEA_ACTIONS ? 'gitea-actions' : 'github-actions',
    external_run_id: env.GITHUB_RUN_ID,
    ci_instance: host(env.GITHUB_SERVER_URL),
    repository: `${env.GITHUB_SERVER_URL}/acme/shop`,
    commit_sha,
  }
}

for (const { system, first, second } of cases.two_servers_one_number.pairs) {
  test(`201 two runs for one number of two servers: ${system}`, async () => {
    const caller = await api.caller()
    const one = await createRun(api, caller, toBody(first))
    const other = await createRun(api, caller, toBody(second))
    assert.notEqual(one.id, other.id)
    assert.equal((await listRuns(caller)).length, 2)
    for (const [env, run] of [
      [first, one],
      [second, other],
    ] as const)
      assert.deepEqual(read(await postRun(api, caller, toBody(env))), [200, run.id, undefined])
  })

  test(`200 with the conflicts for the second server if nobody names its server: ${system}`, async () => {
    const caller = await api.caller()
    const without = (env: Record<string, string>) => ({ ...toBody(env), ci_instance: undefined })
    const one = await createRun(api, caller, without(first))
    const answer = await postRun(api, caller, without(second))
    if (toBody(first).ci_system !== toBody(second).ci_system) return assert.equal(answer.status, 201)
    const differs = toBody(first).repository !== toBody(second).repository
    assert.deepEqual(
      [answer.status, answer.body.data.id, answer.body.data.conflicts !== undefined],
      [200, one.id, differs],
    )
  })
}

test('the host of ci_instance has one spelling; a scheme, credentials and white space are 400', async () => {
  const caller = await api.caller()
  const number = newNumber()
  const run = await createRun(api, caller, { ...number, ci_instance: 'CI.Example.com:443/Jobs/' })
  assert.equal(run.ci_instance, 'ci.example.com/Jobs')
  for (const ci_instance of ['ci.example.com/Jobs', 'CI.EXAMPLE.com/Jobs'])
    assert.deepEqual(read(await postRun(api, caller, { ...number, ci_instance })), [200, run.id, undefined])
  for (const ci_instance of ['ci.example.com/jobs', 'ci.example.com:8443/Jobs'])
    assert.equal((await postRun(api, caller, { ...number, ci_instance })).status, 201)
  for (const ci_instance of [
    'https://ci.example.com',
    'u:p@ci.example.com',
    'ci.example.com /x',
    '/x',
    '',
    'x'.repeat(201),
  ])
    assertInvalid(await postRun(api, caller, { ...number, ci_instance }), '/body/ci_instance')
  const [shown] = (await listRuns(caller)).filter(({ id }: { id: string }) => id === run.id)
  assert.equal(shown.ci_instance, 'ci.example.com/Jobs')
})

test('a run without ci_instance is adopted by the first that names one and agrees, and by no other', async () => {
  const caller = await api.caller()
  const number = newNumber()
  const run = await createRun(api, caller, { ...number, ...SHOP })
  assert.ok(!('ci_instance' in run) && !('conflicts' in run))
  const foreign = await createRun(api, caller, { ...number, ...PAY, ...B })
  const adopted = await postRun(api, caller, { ...number, ...SHOP, ...A })
  assert.deepEqual([...read(adopted), adopted.body.data.ci_instance], [200, run.id, undefined, 'a.example'])
  const later = await createRun(api, caller, { ...number, ...SHOP, ci_instance: 'c.example' })
  assert.equal(new Set([run.id, foreign.id, later.id]).size, 3)
  const found = await postRun(api, caller, { ...number, ...PAY })
  assert.deepEqual(read(found), [200, foreign.id, undefined])
})

test('without ci_instance: the run without, else that of the repository and commit, else the newest with conflicts', async () => {
  const caller = await api.caller()
  const number = newNumber()
  const first = await createRun(api, caller, { ...number, ...SHOP, ...A })
  api.clock.advance(1000)
  const second = await createRun(api, caller, { ...number, ...PAY, ...B })
  assert.deepEqual(read(await postRun(api, caller, { ...number, ...SHOP })), [200, first.id, undefined])
  assert.deepEqual(read(await postRun(api, caller, { ...number, ...PAY })), [200, second.id, undefined])
  const mixed = await postRun(api, caller, { ...number, ...PAY, commit_sha: S1 })
  assert.deepEqual(read(mixed), [200, second.id, ['commit_sha']])
  const other = await postRun(api, caller, { ...number, repository: 'git.example.com/x/y', commit_sha: '3'.repeat(40) })
  assert.deepEqual(read(other), [200, second.id, ['repository', 'commit_sha']])
})

test('concurrent requests with and without ci_instance to two servers make one run', async () => {
  const caller = await api.caller()
  for (let round = 0; round < 8; round += 1) {
    const number = newNumber()
    const sent = Array.from({ length: 8 }, (_, index) =>
      postRun(index % 2 ? beside : api, caller, { ...number, ...SHOP, ...(index % 4 < 2 && A) }),
    )
    const answers = await Promise.all(sent)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(200), 201])
    assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1)
  }
})

test('concurrent requests of three servers make three runs, and 201 once for each', async () => {
  const caller = await api.caller()
  const number = newNumber()
  const sent = Array.from({ length: 12 }, (_, index) =>
    postRun(index % 2 ? beside : api, caller, { ...number, ...SHOP, ci_instance: `${index % 3}.example` }),
  )
  const answers = await Promise.all(sent)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(9).fill(200), 201, 201, 201])
  assert.equal((await listRuns(caller)).length, 3)
})

test('409 run_conflict for a higher attempt of another repository with ci_instance, 201 with conflicts without', async () => {
  const caller = await api.caller()
  const named = newNumber()
  await createRun(api, caller, { ...named, ...SHOP, ...A })
  assertError(await postRun(api, caller, { ...named, ...PAY, ...A, attempt: 2 }), 409, 'run_conflict')
  const unnamed = newNumber()
  const run = await createRun(api, caller, { ...unnamed, ...SHOP })
  const second = await postRun(api, caller, { ...unnamed, ...PAY, attempt: 2 })
  assert.deepEqual(read(second), [201, run.id, ['repository', 'commit_sha']])
  assert.deepEqual([second.body.data.repository, second.body.data.commit_sha], [SHOP.repository, S1])
})

test('what an attempt states is about its own repository and commit, and that of earlier ones stays', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  const number = newNumber()
  const run = await createRun(api, caller, { ...number, ...SHOP })
  const gate = async (attempt: number) =>
    getDeployment(
      api,
      caller,
      (await openGate(api, caller, { run_id: run.id, environment: 'production', attempt })).deployment_id,
    )
  const before = await gate(1)
  await postRun(api, caller, { ...number, ...PAY, attempt: 2 })
  await postRun(api, caller, { ...number, ...SHOP, attempt: 3 })
  const about = ({ repository_full_name, commit_sha }: Record<string, unknown>) => [repository_full_name, commit_sha]
  assert.deepEqual(about(before), ['acme/shop', S1])
  assert.deepEqual(about(await gate(2)), ['zeta/payments', S2])
  assert.deepEqual(about(await gate(3)), ['acme/shop', S1])
  const shown = (await api.request('GET', `/v1/runs/${run.id}`, { key: caller.key })).body.data
  assert.deepEqual(about(shown), ['acme/shop', S1])
})

test('403 for an attempt of a foreign repository by a key that is limited to repositories', async () => {
  const caller = await api.caller()
  await configureGate(api, caller)
  const number = newNumber()
  const run = await createRun(api, caller, { ...number, ...SHOP })
  await postRun(api, caller, { ...number, ...PAY, attempt: 2 })
  const limited = await api.caller({ orgId: caller.orgId, repositories: ['git.example.com/acme/*'] })
  await sendReport(api, limited, run.id, { attempt: 1, attestations: [TESTS] })
  const refused = [
    await api.request('POST', `/v1/ci/runs/${run.id}/reports`, { key: limited.key, body: { attempt: 2, job: {} } }),
    await api.request('POST', '/v1/ci/gates', {
      key: limited.key,
      body: { run_id: run.id, attempt: 2, environment: 'production' },
    }),
    await patchRun(api, limited, run.id, { attempt: 2, status: 'success' }),
  ]
  for (const answer of refused) assertError(answer, 403, 'forbidden')
})

test("a key changes nothing of a token's run with its number, whatever server it names", async () => {
  const caller = await startTokenCaller(api)
  try {
    const claims = newRunClaims()
    const own = await caller.send('POST', '/v1/ci/runs', ownRun(claims, { ci_instance: 'github.com' }), claims)
    assert.equal(own.status, 201, own.text)
    const read = async () => (await api.request('GET', `/v1/runs/${own.body.data.id}`, { key: caller.key })).body.data
    const { stands_beside: _, ...before } = await read()
    for (const ci_instance of ['github.com', 'ghes.example.com', undefined]) {
      const said = await postRun(api, caller, ownRun(claims, { ci_instance, attempt: 999, ...PAY }))
      assert.notEqual(said.body.data.id, own.body.data.id)
    }
    const { stands_beside: __, ...after } = await read()
    assert.deepEqual(after, before)
    const again = await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
    assert.deepEqual([again.status, again.body.data.id], [200, own.body.data.id])
  } finally {
    await caller.close()
  }
})

test('a token takes over what a key registered for its own server only', async () => {
  const caller = await startTokenCaller(api, { provider: 'bitbucket' })
  try {
    const number = { ci_system: 'bitbucket-pipelines', external_run_id: '805b0ca6-1086-4d23-b526-de1d38cf3bf1' }
    const other = await createRun(api, caller, { ...number, ci_instance: '11111111-1111-4111-8111-111111111111' })
    const body = { ...number, repository: 'bitbucket.org/acme/shop', commit_sha: S1, pipeline_name: 'build' }
    const wrong = { ...body, ci_instance: '11111111-1111-4111-8111-111111111111' }
    assertInvalid(await caller.send('POST', '/v1/ci/runs', wrong), '/body/ci_instance')
    const own = await caller.send('POST', '/v1/ci/runs', {
      ...body,
      ci_instance: '{8864CD24-449d-4441-8862-cf4fe8ad6caa}',
    })
    assert.deepEqual([own.status, own.body.data.trust], [201, 'verified'], own.text)
    assert.notEqual(own.body.data.id, other.id)
    assert.equal(own.body.data.ci_instance, '8864cd24-449d-4441-8862-cf4fe8ad6caa')
    assert.deepEqual(read(await postRun(api, caller, { ...wrong, ...{ repository: other.repository } })), [
      200,
      other.id,
      ['commit_sha'],
    ])
  } finally {
    await caller.close()
  }
})
