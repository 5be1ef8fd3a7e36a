import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Claims } from '../../../../src/access/oidc-trusts/claims.ts'
import type { TrustProvider } from '../../../../src/access/oidc-trusts/token-job.ts'
import { startTestApi, type TestApi } from '../../../support/api.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { responseChecker } from '../../../support/response-schema.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../support/token-caller.ts'

let api: TestApi
let check: Awaited<ReturnType<typeof responseChecker>>

before(async () => {
  api = await startTestApi()
  check = await responseChecker(api)
})
after(() => api?.close())

/** The run that the first report of a job creates, as GET /v1/runs shows it. */
async function shownRun(provider: TrustProvider, claims: Claims = {}) {
  const caller = await startTokenCaller(api, { provider })
  const body = { version: 1, job: { name: 'test' } }
  const sent = await caller.send('POST', `/api/ingest/${provider}/reports`, body, claims)
  await caller.close()
  assert.equal(sent.status, 200, sent.text)
  const list = await api.request('GET', '/v1/runs', { key: caller.key })
  check('/v1/runs', '200', list.body)
  const [run] = list.body.data
  const { body: one } = await api.request('GET', `/v1/runs/${run.id}`, { key: caller.key })
  assert.deepEqual(one.data, run)
  return run
}

test('a run that only a token of GitHub knows has the fields of its claims', async () => {
  const run = await shownRun('github', { event_name: 'workflow_dispatch', run_attempt: '3' })
  const { id, created_at, updated_at, started_at, attempts, ...rest } = run
  assert.match(id, /^run_/)
  assert.deepEqual([created_at, started_at], [updated_at, created_at])
  assert.deepEqual(
    attempts.map(({ number, status, triggered_by }: Record<string, unknown>) => [number, status, triggered_by]),
    [[3, 'in_progress', 'alice']],
  )
  assert.deepEqual(rest, {
    provider: 'other',
    ci_system: 'github-actions',
    trust: 'verified',
    github_run_id: 11223344556,
    run_number: 42,
    run_attempt: 3,
    workflow_name: 'build',
    workflow_path: '.github/workflows/build.yml',
    html_url: 'https://github.com/acme/shop/actions/runs/11223344556/attempts/3',
    repository_id: 7770001,
    repository_name: 'shop',
    repository_full_name: 'acme/shop',
    repository_owner_id: 5550001,
    repository_owner_login: 'acme',
    branch: 'main',
    commit_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    event_type: 'manual',
    trigger: {
      event: 'workflow_dispatch',
      kind: 'manual',
      actor: 'alice',
      pull_request: null,
      merged_pull_request: null,
    },
    actor_login: 'alice',
    status: 'in_progress',
    completed_at: null,
    duration_seconds: null,
    ...{ commit_message: null, release_name: null, author_id: null, author_login: null, author_avatar_url: null },
    ...{ actor_name: null, actor_avatar_url: null, actor_url: null, job_dependencies: {}, importance_score: null },
    ...{ anomaly_reasons: [], failure_category: null, failure_excerpt: null, failure_recurrence: null },
    ...{ azure: null, sso_organization_id: null },
  })
})

test('a run that only a token of GitLab, Bitbucket or Azure knows has the fields of its claims', async () => {
  const gitlab = await shownRun('gitlab')
  assert.deepEqual(
    [gitlab.repository_id, gitlab.repository_owner_id, gitlab.workflow_path, gitlab.actor_login, gitlab.trigger.event],
    [46573356, 68413579, '.gitlab-ci.yml', 'alice', 'push'],
  )
  assert.deepEqual([gitlab.github_run_id, gitlab.run_number, gitlab.run_attempt], [null, null, 1])
  const elsewhere = { pipeline_id: '2', ci_config_ref_uri: 'gitlab.com/acme/ci//shop.yml@refs/heads/main' }
  assert.equal((await shownRun('gitlab', elsewhere)).workflow_path, null)
  const bitbucket = await shownRun('bitbucket')
  assert.deepEqual([bitbucket.repository_id, bitbucket.commit_sha, bitbucket.branch], [null, null, 'main'])
  const azure = await shownRun('azure')
  assert.deepEqual(azure.azure, {
    orgName: 'acme',
    projectId: '271ef6f7-5998-4b0f-86fb-4b54d9129990',
    repositoryId: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1',
    repositoryType: null,
    result: null,
  })
})

test('a run that an API key has created gets the fields of the claims when its token takes it over', async () => {
  const caller = await startTokenCaller(api)
  const claims = newRunClaims()
  const { id } = await createRun(api, caller, ownRun(claims))
  const read = async () => (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data
  assert.equal((await read()).run_number, null)
  await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  await caller.close()
  assert.deepEqual([(await read()).run_number, (await read()).github_run_id], [42, Number(claims.run_id)])
})
