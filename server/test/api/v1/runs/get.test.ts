import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import type { Json } from '../../../support/json.ts'
import { responseChecker } from '../../../support/response-schema.ts'

const DAY_MS = 86_400_000

let api: TestApi
let check: Awaited<ReturnType<typeof responseChecker>>

before(async () => {
  api = await startTestApi()
  check = await responseChecker(api)
})
after(() => api?.close())

function get({ key }: Caller, id: string) {
  return api.request('GET', `/v1/runs/${id}`, { key })
}

test('200 with every field of "Pipeline run": reported values are present, all others are null or empty', async () => {
  const caller = await api.caller()
  const started_at = '2026-03-04T05:00:00.000Z'
  const made = await createRun(api, caller, {
    external_run_id: 'every-field',
    repository: 'git@gitlab.com:group/sub/api.git',
    ref: 'refs/heads/feature/x',
    url: 'https://ci.example/1',
    actor: 'ada',
    event: 'push',
    started_at,
  })
  await patchRun(api, caller, made.id, { status: 'failure', completed_at: '2026-03-04T05:01:30.999Z' })
  api.clock.advance(60_000)
  const now = api.clock.now().toISOString()
  await createRun(api, caller, { external_run_id: 'every-field', attempt: 2, actor: 'grace' })
  const { status, body } = await get(caller, made.id)
  assert.equal(status, 200)
  check('/v1/runs/{id}', '200', body)
  assert.deepEqual(body.data, {
    id: made.id,
    provider: 'other',
    sso_organization_id: null,
    github_run_id: null,
    workflow_name: 'build',
    workflow_path: null,
    status: 'in_progress',
    repository_id: null,
    repository_name: 'api',
    repository_full_name: 'group/sub/api',
    repository_owner_id: null,
    repository_owner_login: 'group/sub',
    branch: 'feature/x',
    commit_sha: 'a'.repeat(40),
    commit_message: null,
    release_name: null,
    author_id: null,
    author_login: null,
    author_avatar_url: null,
    event_type: 'push',
    started_at: now,
    completed_at: null,
    duration_seconds: null,
    html_url: null,
    job_dependencies: {},
    run_number: null,
    run_attempt: 2,
    attempts: [
      {
        number: 1,
        status: 'failure',
        started_at,
        completed_at: '2026-03-04T05:01:30.999Z',
        duration_seconds: 90,
        triggered_by: 'ada',
      },
      {
        number: 2,
        status: 'in_progress',
        started_at: now,
        completed_at: null,
        duration_seconds: null,
        triggered_by: 'grace',
      },
    ],
    trigger: { event: 'push', kind: 'push', actor: 'grace', pull_request: null, merged_pull_request: null },
    actor_login: 'grace',
    actor_name: null,
    actor_avatar_url: null,
    actor_url: null,
    importance_score: null,
    anomaly_reasons: [],
    failure_category: null,
    failure_excerpt: null,
    failure_recurrence: null,
    azure: null,
    ci_system: 'buildkite',
    trust: 'self_reported',
    created_at: made.created_at,
    updated_at: now,
  })
})

for (const started_at of ['0001-01-01T00:00:00Z', '1900-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
  test(`200 for a run with started_at in the year ${started_at.slice(0, 4)}, alone and in the list`, async () => {
    const caller = await api.caller()
    const { id } = await createRun(api, caller, { started_at })
    await patchRun(api, caller, id, { status: 'success' })
    const one = await get(caller, id)
    const list = await api.request('GET', '/v1/runs', { key: caller.key })
    check('/v1/runs/{id}', '200', one.body)
    check('/v1/runs', '200', list.body)
    assert.deepEqual(list.body.data, [one.body.data])
  })
}

test('200 with every text as sent, including characters that JSON escapes', async () => {
  const caller = await api.caller()
  const odd = (text: string) => `${text} "\\ \t\n </script> é ☃ \u2028 \u{1f600}`
  const texts = {
    url: 'https://ci.example/"\\</script>é☃\u{1f600}',
    ref: odd('refs/heads/x'),
    pipeline_name: odd('name'),
    actor: odd('ada'),
  }
  const { id } = await createRun(api, caller, { ...texts, external_run_id: 'odd' })
  await createRun(api, caller, { ...texts, external_run_id: 'odd', attempt: 2 })
  const { data } = (await get(caller, id)).body
  assert.deepEqual([data.html_url, data.workflow_name, data.branch], [texts.url, texts.pipeline_name, odd('x')])
  const actors = [data.actor_login, data.trigger.actor, ...data.attempts.map((attempt: Json) => attempt.triggered_by)]
  assert.deepEqual(actors, Array(4).fill(odd('ada')))
})

const BRANCHES: [ref: string, branch: string | null][] = [
  ['main', 'main'],
  ['refs/heads/main', 'main'],
  ['refs/tags/v1', null],
  ['refs/pull/1/merge', null],
]
for (const [ref, branch] of BRANCHES) {
  test(`200 with the branch ${branch} for the ref ${ref}`, async () => {
    const caller = await api.caller()
    const { id } = await createRun(api, caller, { ref })
    assert.equal((await get(caller, id)).body.data.branch, branch)
  })
}

test('200 up to the plan’s retention, 404 not_found beyond it', async () => {
  const caller = await api.caller({ plan: 'team' })
  const { id } = await createRun(api, caller)
  // It ends at its deadline.
  api.clock.advance(90.25 * DAY_MS)
  assert.equal((await get(caller, id)).status, 200)
  api.clock.advance(1)
  assertError(await get(caller, id), 404, 'not_found')
})
