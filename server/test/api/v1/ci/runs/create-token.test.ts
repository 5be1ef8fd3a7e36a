import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { createRun, newRun, patchRun } from '../../../../support/ci-runs.ts'
import { link } from '../../../../support/repositories.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

let api: TestApi
let github: TokenCaller

before(async () => {
  api = await startTestApi()
  github = await startTokenCaller(api)
})
after(async () => {
  await github?.close()
  await api?.close()
})

const post = (body: unknown, claims = {}, caller = github): Promise<Answer> =>
  caller.send('POST', '/v1/ci/runs', body, claims)

test("201 verified for the token's own run, with the fields of its claims", async () => {
  const claims = newRunClaims({ run_attempt: '2', run_number: '17', workflow: 'release', actor: 'ada' })
  const { status, body, text } = await post(ownRun(claims, { actor: 'mallory', pipeline_name: 'other' }), claims)
  assert.equal(status, 201, text)
  const run = body.data
  assert.deepEqual(
    [run.trust, run.provider, run.ci_system, run.external_run_id, run.attempt],
    ['verified', 'other', 'github-actions', claims.run_id, 2],
  )
  assert.deepEqual(
    [run.repository, run.commit_sha, run.ref, run.event],
    ['github.com/acme/shop', '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567', 'refs/heads/main', 'push'],
  )
  assert.deepEqual([run.pipeline_name, run.actor], ['release', 'ada'])
  assert.deepEqual(run.credential, { type: 'oidc_trust', name: 'test trust' })
  const again = await post(ownRun(claims), claims)
  assert.deepEqual([again.status, again.body.data.id, again.body.data.trust], [200, run.id, 'verified'])
  const shown = await api.request('GET', `/v1/runs/${run.id}`, { key: github.key })
  assert.deepEqual(
    [shown.body.data.github_run_id, shown.body.data.run_number, shown.body.data.workflow_path],
    [Number(claims.run_id), 17, '.github/workflows/build.yml'],
  )
  assert.equal(shown.body.data.repository_id, 7770001)
  const [stored] = await api.services.sql`select claims from ci_runs where id = ${run.id}`
  assert.deepEqual([stored?.claims.run_id, stored?.claims.repository_id], [claims.run_id, '7770001'])
})

for (const [event_name, trust] of [
  ['pull_request_target', 'untrusted'],
  ['workflow_run', 'untrusted'],
  ['pull_request', 'untrusted'],
  ['workflow_dispatch', 'verified'],
] as const) {
  test(`201 ${trust} for the event ${event_name}, if no code host is connected`, async () => {
    const claims = newRunClaims({ event_name })
    assert.equal((await post(ownRun(claims), claims)).body.data.trust, trust)
  })
}

test('201 self_reported for another run of the same repository, and 403 for one of another repository', async () => {
  const other = await post(newRun({ repository: 'https://github.com/Acme/Shop.git' }), newRunClaims())
  assert.deepEqual(
    [other.status, other.body.data?.trust, other.body.data?.repository],
    [201, 'self_reported', 'github.com/acme/shop'],
  )
  assertError(await post(newRun({ repository: 'github.com/acme/api' }), newRunClaims()), 403, 'forbidden')
})

test('400 names the field that contradicts the claims', async () => {
  const claims = newRunClaims()
  assertInvalid(await post(ownRun(claims, { repository: 'github.com/acme/api' }), claims), '/body/repository')
  assertInvalid(await post(ownRun(claims, { repository: 'gitlab.com/acme/shop' }), claims), '/body/repository')
  assertInvalid(await post(ownRun(claims, { commit_sha: 'a'.repeat(40) }), claims), '/body/commit_sha')
  assertInvalid(await post(ownRun(claims, { ref: 'refs/heads/other' }), claims), '/body/ref')
  assertInvalid(await post(ownRun(claims, { ref: 'refs/tags/main' }), claims), '/body/ref')
  assertInvalid(await post(ownRun(claims, { attempt: 2 }), claims), '/body/attempt')
  const several = await post(ownRun(claims, { attempt: 2, ref: 'other' }), claims)
  assert.equal(several.body.error.details.errors.length, 2)
})

test('a body that means the same as the claims is accepted', async () => {
  const claims = newRunClaims()
  const same = { repository: 'git@GitHub.com:ACME/shop.git', ref: 'main', attempt: 1 }
  const { status, body } = await post(ownRun(claims, same), claims)
  assert.deepEqual([status, body.data?.ref, body.data?.repository], [201, 'refs/heads/main', 'github.com/acme/shop'])
})

test('a renamed repository can be named as the organization knows its id', async () => {
  const caller = await startTokenCaller(api)
  await link(api, caller, { provider: 'github', id: '7770001', name: 'acme/store' })
  const claims = newRunClaims()
  const { status, body, text } = await post(ownRun(claims, { repository: 'github.com/acme/store' }), claims, caller)
  assert.equal(status, 201, text)
  assert.equal(body.data.repository, 'github.com/acme/shop')
  assert.deepEqual(body.data.linked_repository, { provider: 'github', id: '7770001' })
  await caller.close()
})

test('linked_repository is the repository with the id of the token, not the one with its name', async () => {
  const caller = await startTokenCaller(api)
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/shop' })
  const claims = newRunClaims()
  assert.equal((await post(ownRun(claims), claims, caller)).body.data.linked_repository, null)
  await caller.close()
})

test('201 for the next attempt of the token, 409 attempt_outdated for an earlier one', async () => {
  const claims = newRunClaims()
  const first = await post(ownRun(claims), claims)
  const second = await post(ownRun(claims), { ...claims, run_attempt: '2' })
  assert.deepEqual(
    [second.status, second.body.data.id, second.body.data.attempt, second.body.data.trust],
    [201, first.body.data.id, 2, 'verified'],
  )
  assertError(await post(ownRun(claims), claims), 409, 'attempt_outdated')
})

test('a run that an API key has created is taken over by its token', async () => {
  const claims = newRunClaims()
  const wrong = { ref: 'other', commit_sha: 'a'.repeat(40), pipeline_name: 'wrong', repository: 'github.com/acme/api' }
  const byKey = await createRun(api, github, ownRun(claims, wrong))
  assert.equal(byKey.trust, 'self_reported')
  const { status, body } = await post(ownRun(claims), claims)
  assert.deepEqual([status, body.data.id, body.data.trust], [200, byKey.id, 'verified'])
  assert.deepEqual(
    [body.data.repository, body.data.commit_sha, body.data.ref, body.data.pipeline_name],
    ['github.com/acme/shop', '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567', 'refs/heads/main', 'build'],
  )
})

test("an API key does not change a token's run, which stays verified until its end", async () => {
  const claims = newRunClaims()
  const { id } = (await post(ownRun(claims), claims)).body.data
  const unchanged = await patchRun(api, github, id, {})
  assert.equal(unchanged.body.data.trust, 'verified')
  assertError(await patchRun(api, github, id, { url: 'https://ci.example/1' }), 403, 'other_lane')
  const byToken = await github.send('PATCH', `/v1/ci/runs/${id}`, { status: 'success' }, claims)
  assert.deepEqual([byToken.body.data.status, byToken.body.data.trust], ['success', 'verified'])
  assert.equal((await post(ownRun(claims), claims)).body.data.trust, 'verified')
})

test('a token finishes its own run, which stays verified, and no other one', async () => {
  const [claims, others] = [newRunClaims(), newRunClaims()]
  const { id } = (await post(ownRun(claims), claims)).body.data
  const path = `/v1/ci/runs/${id}`
  assertInvalid(await github.send('PATCH', path, { attempt: 2 }, claims), '/body/attempt')
  const finished = await github.send('PATCH', path, { status: 'success' }, claims)
  assert.deepEqual([finished.status, finished.body.data.trust], [200, 'verified'])
  const second = (await post(ownRun(others), others)).body.data
  const byOther = await github.send('PATCH', `/v1/ci/runs/${second.id}`, { status: 'failure' }, claims)
  assertError(byOther, 403, 'other_lane')
})

test('twenty identical calls by token at the same instant create one run', async () => {
  const claims = newRunClaims()
  const key = await github.sign(claims)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.request('POST', '/v1/ci/runs', { key, body: ownRun(claims) })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(19).fill(200), 201])
  assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1)
})

test('tokens and API keys at the same instant end in one run of each lane at most, and one of the tokens', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    const claims = newRunClaims()
    const keys = [await github.sign(claims), github.key, await github.sign({ ...claims, jti: 'another' }), github.key]
    const body = ownRun(claims, { ref: 'main' })
    const answers = await Promise.all(keys.map((key) => api.request('POST', '/v1/ci/runs', { key, body })))
    assert.ok(
      answers.every(({ status }) => status === 200 || status === 201),
      answers.map(({ text }) => text).join('\n'),
    )
    const [token, , other] = answers.map(({ body }) => body.data)
    assert.deepEqual([token.id, token.trust, other.trust], [other.id, 'verified', 'verified'])
    const rows = await api.services.sql<{ trust: string }[]>`
      select trust from ci_runs where org_id = ${github.orgId} and external_run_id = ${claims.run_id} order by trust desc`
    assert.ok(['verified', 'verified,self_reported'].includes(rows.map(({ trust }) => trust).join()))
  }
})

test('429 for more than 2,000 new runs of a trust on a day, while the API keys of the organization go on', async () => {
  const caller = await startTokenCaller(api)
  const claims = newRunClaims()
  const { id } = (await post(ownRun(claims), claims, caller)).body.data
  await api.services.sql`
    insert into ci_runs
    select (jsonb_populate_record(run, jsonb_build_object(
      'id', run.id || '_' || n, 'external_run_id', 'x' || n, 'day_number', case when n < run.day_number then n else n + 1 end
    ))).*
    from ci_runs run, generate_series(1, 1999) n
    where run.id = ${id}`
  const next = newRunClaims()
  assertError(await post(ownRun(next), next, caller), 429, 'rate_limited')
  assert.equal((await post(ownRun(claims), claims, caller)).status, 200)
  await createRun(api, caller)
  await caller.close()
})

test('a token run past its deadline has timed out, and GET /v1/runs shows a run without a commit', async () => {
  const bitbucket = await startTokenCaller(api, { provider: 'bitbucket' })
  const body = {
    ...{ ci_system: 'bitbucket-pipelines', external_run_id: '805b0ca6-1086-4d23-b526-de1d38cf3bf1' },
    ...{ repository: 'bitbucket.org/acme/shop', commit_sha: 'a'.repeat(40), pipeline_name: 'main', timeout_minutes: 5 },
  }
  const made = await bitbucket.send('POST', '/v1/ci/runs', body)
  assert.deepEqual(
    [made.status, made.body.data?.trust, made.body.data?.commit_sha, made.body.data?.ref],
    [201, 'verified', 'a'.repeat(40), 'refs/heads/main'],
    made.text,
  )
  assert.equal(made.body.data.repository, 'bitbucket.org/acme/shop')
  await api.services.sql`update ci_runs set commit_sha = null where id = ${made.body.data.id}`
  api.clock.advance(6 * 60_000)
  const { body: shown } = await api.request('GET', '/v1/runs', { key: bitbucket.key })
  assert.deepEqual(
    [shown.data[0].status, shown.data[0].commit_sha, shown.data[0].trust],
    ['timed_out', null, 'verified'],
  )
  await bitbucket.close()
})

for (const [provider, ciSystem, runId, repository] of [
  ['gitlab', 'gitlab-ci', '1519139981', 'gitlab.com/acme/shop'],
  ['azure', 'azure-pipelines', '5021', 'dev.azure.com/acme/web/shop'],
] as const) {
  test(`201 verified for the own run of a ${provider} token`, async () => {
    const caller = await startTokenCaller(api, { provider })
    const body = { ...newRun(), ci_system: ciSystem, external_run_id: runId, repository }
    assertInvalid(await caller.send('POST', '/v1/ci/runs', body), '/body/commit_sha')
    const made = await caller.send('POST', '/v1/ci/runs', { ...body, commit_sha: COMMITS[provider] })
    assert.deepEqual(
      [made.status, made.body.data?.trust, made.body.data?.repository],
      [201, 'verified', repository],
      made.text,
    )
    await caller.close()
  })
}

const COMMITS = {
  gitlab: '8fe1b322a576d59fe6257052a4107df7dc1b8c78',
  azure: 'c291ea713801eb300054d353d279e7b02331f671',
}

test('409 run_conflict for a run of another repository with the same number', async () => {
  const claims = newRunClaims()
  const { id } = (await post(ownRun(claims), claims)).body.data
  await api.services.sql`update ci_runs set claimed_repository_id = '2' where id = ${id}`
  assertError(await post(ownRun(claims), claims), 409, 'run_conflict')
})
