import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { renameVerifiedRuns } from '../../src/ci/provider-runs/apply-host-run.ts'
import { listRunJobs } from '../../src/ci/provider-runs/run-job.store.ts'
import { HostUnavailable } from '../../src/codehosts/code-host.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import type { HostCommit, HostRun } from '../../src/codehosts/host-run.ts'
import type { Services } from '../../src/services.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { type FakeAnswers, fakeCodeHost } from '../support/fake-client.ts'
import { hostAccount, hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { applyRuns, completedRun, hostJob, minutes } from '../support/provider-runs.ts'
import { drainQueue } from '../support/queue.ts'
import { responseChecker } from '../support/response-schema.ts'

const WORKFLOW = `
jobs:
  compile: {name: Compile it}
  check: {needs: compile}
  ship: {needs: [check], environment: production}
`

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

function commitOf(sha: string, fields: Partial<HostCommit> = {}): HostCommit {
  const author = hostAccount({ id: '8', login: 'grace' })
  return {
    sha,
    message: 'Fix the cart\n\nIt lost items.',
    author,
    merged_pull_request: null,
    workflow_blob: 'b1',
    ...fields,
  }
}

/** What a host answers about `hostRun`. */
const ANSWERS: FakeAnswers = {
  readCommits: async (_, commits) =>
    commits.map(({ sha }) =>
      commitOf(sha, { merged_pull_request: { number: 41, url: 'https://github.com/acme/shop/pull/41' } }),
    ),
  readFile: async () => WORKFLOW,
  readAccount: async (login) => hostAccount({ login, name: 'Ada Lovelace' }),
  readRun: async () => null,
  listJobs: async () => [
    hostJob({ status: 'failure', completed_at: minutes(4), failed_steps: [{ number: 3, name: 'Run npm test' }] }),
  ],
  listAnnotations: async () => [],
  readJobLog: async () =>
    '2026-03-01T10:00:00.1Z not ok 1 - total\n2026-03-01T10:00:00.2Z ##[error]Process completed with exit code 1.\n',
}

type Connected = { caller: Caller; source: HostSource; services: Services; calls: string[]; complete(): Promise<void> }

/** A connected organization whose host gives these answers. `calls` names the requests. */
async function connected(answers: FakeAnswers = {}): Promise<Connected> {
  const caller = await api.caller()
  const source = await insertConnection(api.services.sql, caller.orgId)
  const calls: string[] = []
  const counted = Object.entries({ ...ANSWERS, ...answers }).map(([name, answer]) => [
    name,
    (...given: never[]) => {
      calls.push(name)
      return (answer as (...args: never[]) => unknown)(...given)
    },
  ])
  const services = { ...api.services, codeHosts: fakeCodeHost(Object.fromEntries(counted)).codeHosts } as Services
  return { caller, source, services, calls, complete: () => drainQueue({ ...api, services }) }
}

async function read({ key }: Caller, id = 'gh_run_9001'): Promise<Json> {
  return (await api.request('GET', `/v1/runs/${id}`, { key })).body.data
}

test('every field of a verified run has its value', async () => {
  const { caller, source, services, complete } = await connected()
  const triggering_actor = hostAccount({ id: '9', login: 'eve' })
  const pull_requests = [{ number: 7, url: 'https://github.com/acme/shop/pull/7' }]
  const fields = { triggering_actor, pull_requests, release_name: 'v1', commit: { sha: 'a'.repeat(40), message: null } }
  await applyRuns(services, source, completedRun({ ...fields, status: 'failure' }))
  await complete()
  const run = await read(caller)
  const at = (count: number) => minutes(count).toISOString()
  const course = { status: 'failure', started_at: at(0), completed_at: at(5), duration_seconds: 300 }
  assert.deepEqual(run, {
    id: 'gh_run_9001',
    provider: 'github',
    sso_organization_id: null,
    github_run_id: 9001,
    workflow_name: 'CI',
    workflow_path: '.github/workflows/ci.yml',
    ...course,
    repository_id: 1001,
    repository_name: 'shop',
    repository_full_name: 'acme/shop',
    repository_owner_id: 55,
    repository_owner_login: 'acme',
    branch: 'main',
    commit_sha: 'a'.repeat(40),
    commit_message: 'Fix the cart\n\nIt lost items.',
    release_name: 'v1',
    author_id: 8,
    author_login: 'grace',
    author_avatar_url: 'https://github.com/grace.png',
    event_type: 'push',
    html_url: 'https://github.com/acme/shop/actions/runs/9001',
    job_dependencies: { 'Compile it': [], check: ['Compile it'], ship: ['check'] },
    run_number: 12,
    run_attempt: 1,
    attempts: [{ number: 1, ...course, triggered_by: 'eve' }],
    trigger: {
      event: 'push',
      kind: 'push',
      actor: 'ada',
      pull_request: { number: 7, url: 'https://github.com/acme/shop/pull/7' },
      merged_pull_request: { number: 41, url: 'https://github.com/acme/shop/pull/41' },
    },
    actor_login: 'ada',
    actor_name: 'Ada Lovelace',
    actor_avatar_url: 'https://github.com/ada.png',
    actor_url: 'https://github.com/ada',
    importance_score: 0.8,
    anomaly_reasons: [],
    failure_category: 'test',
    failure_excerpt: 'not ok 1 - total\nError: Process completed with exit code 1.',
    failure_recurrence: 1,
    azure: null,
    ci_system: null,
    trust: 'verified',
    created_at: at(0),
    updated_at: at(5),
  })
  const { body } = await api.request('GET', '/v1/runs?since=2026-01-01T00:00:00Z', { key: caller.key })
  assert.deepEqual(body.data, [run])
  ;(await responseChecker(api))('/v1/runs', '200', body)
})

test('the jobs of a failed run are read with the reason of its failure', async () => {
  const { caller, source, services, complete } = await connected()
  await applyRuns(services, source, completedRun({ status: 'failure' }))
  await complete()
  const jobs = await listRunJobs(services.sql, { org_id: caller.orgId, run_id: 'gh_run_9001' }, 1)
  assert.deepEqual(
    jobs.map((json) => JSON.parse(json).status),
    ['failure'],
  )
})

test('details are read once per commit, file version and account', async () => {
  const { caller, source, services, calls, complete } = await connected()
  await applyRuns(services, source, ...['1', '2', '3'].map((id) => completedRun({ id, number: Number(id) })))
  await complete()
  await applyRuns(services, source, completedRun({ id: '4', number: 4 }))
  await complete()
  assert.equal((await read(caller, 'gh_run_4')).author_login, 'grace')
  assert.deepEqual(calls.toSorted(), ['readAccount', 'readCommits', 'readCommits', 'readFile'])
})

test('what the host does not have stays null and is not asked for again', async () => {
  const { caller, source, services, calls, complete } = await connected({
    readCommits: async (_, commits) => commits.map(({ sha }) => commitOf(sha, { author: null, workflow_blob: null })),
    readAccount: async () => null,
    listJobs: async () => [],
  })
  await applyRuns(services, source, completedRun({ status: 'failure' }))
  await complete()
  await applyRuns(services, source, completedRun({ status: 'failure', html_url: null, updated_at: minutes(9) }))
  await complete()
  const run = await read(caller)
  assert.deepEqual([run.actor_name, run.job_dependencies, run.author_login], [null, {}, 'ada'])
  assert.deepEqual([run.failure_category, run.failure_excerpt, run.failure_recurrence], ['unknown', null, 1])
  assert.deepEqual(calls.toSorted(), ['listJobs', 'readAccount', 'readCommits'])
})

test('a request that fails costs only its own fields, and is made again later', async () => {
  let isDown = true
  const { caller, source, services, complete } = await connected({
    readAccount: async (login) => {
      if (isDown) throw new HostUnavailable('501')
      return hostAccount({ login, name: 'Ada Lovelace' })
    },
    readJobLog: async () => {
      if (isDown) throw new HostUnavailable('501')
      return 'error TS2322: x'
    },
  })
  await applyRuns(services, source, completedRun({ status: 'failure' }))
  await assert.rejects(complete(), HostUnavailable)
  await assert.rejects(complete(), HostUnavailable)
  await complete()
  const partly = await read(caller)
  assert.deepEqual([partly.actor_name, partly.author_login], [null, 'grace'])
  assert.deepEqual([partly.failure_category, partly.failure_excerpt], ['test', null])
  isDown = false
  await applyRuns(services, source, completedRun({ id: '9002', number: 13 }))
  await complete()
  const { sql } = api.services
  const [due] = await sql`
    select details_due, failure_due from provider_runs where org_id = ${source.org_id} and run_id = 'gh_run_9001'`
  assert.deepEqual([due?.details_due, (await read(caller)).actor_name], [false, 'Ada Lovelace'])
})

test('earlier attempts that no event described are read', async () => {
  const { caller, source, services, complete } = await connected({
    readRun: async (_, id, attempt) => (attempt === 2 ? completedRun({ id, attempt, status: 'cancelled' }) : null),
  })
  await applyRuns(services, source, completedRun({ attempt: 3, started_at: minutes(20) }, 25))
  await complete()
  assert.deepEqual(
    (await read(caller)).attempts.map(({ number, status }: Json) => [number, status]),
    [
      [2, 'cancelled'],
      [3, 'success'],
    ],
  )
})

test('the largest id that JSON holds exactly is shown', async () => {
  const { caller, source, services } = await connected()
  const id = `${Number.MAX_SAFE_INTEGER}`
  await applyRuns(services, source, completedRun({ id }))
  assert.equal((await read(caller, `gh_run_${id}`)).github_run_id, Number.MAX_SAFE_INTEGER)
})

test('the end of an earlier attempt that no event described is read', async () => {
  const { caller, source, services, complete } = await connected({
    readRun: async (_, id, attempt) => (attempt === 1 ? completedRun({ id, status: 'failure' }) : null),
  })
  await applyRuns(services, source, hostRun({ status: 'in_progress' }))
  await complete()
  await applyRuns(services, source, completedRun({ attempt: 2, started_at: minutes(20) }, 25))
  await complete()
  assert.deepEqual(
    (await read(caller)).attempts.map(({ number, status }: Json) => [number, status]),
    [
      [1, 'failure'],
      [2, 'success'],
    ],
  )
})

test('the failure of an earlier attempt is not shown after a new attempt', async () => {
  const { caller, source, services, complete } = await connected()
  await applyRuns(services, source, completedRun({ status: 'failure' }))
  await complete()
  await applyRuns(services, source, hostRun({ attempt: 2, started_at: minutes(9), updated_at: minutes(9) }))
  const running = await read(caller)
  assert.deepEqual([running.failure_category, running.failure_recurrence, running.importance_score], [null, null, null])
  await complete()
  await applyRuns(services, source, completedRun({ attempt: 2, started_at: minutes(9) }, 12))
  await complete()
  const done = await read(caller)
  assert.deepEqual([done.status, done.failure_category, done.importance_score], ['success', null, 0.5])
})

test('recurrence and anomalies are the same whatever the order of arrival', async () => {
  const story = [1, 2, 3, 4, 5, 6].map((number) =>
    completedRun({
      id: `${9000 + number}`,
      number,
      created_at: minutes(number * 60),
      started_at: minutes(number * 60),
      completed_at: minutes(number * 60 + 5),
      updated_at: minutes(number * 60 + 5),
      status: [1, 2].includes(number) ? 'success' : 'failure',
      actor: hostAccount(number === 6 ? { id: '99', login: 'eve' } : {}),
    }),
  )
  const seen: Json[] = []
  for (const order of [
    story,
    story.toReversed(),
    [4, 0, 5, 2, 1, 3].map((index) => story[index] as (typeof story)[0]),
  ]) {
    const { caller, source, services, complete } = await connected()
    for (const run of order) {
      await applyRuns(services, source, run)
      await complete()
    }
    const { body } = await api.request('GET', '/v1/runs?since=2026-01-01T00:00:00Z', { key: caller.key })
    seen.push(body.data.map((run: Json) => [run.run_number, run.failure_recurrence, run.anomaly_reasons]))
  }
  assert.deepEqual(seen[0], [
    [6, 4, ['new_actor']],
    [5, 3, []],
    [4, 2, []],
    [3, 1, ['first_failure_after_success']],
    [2, null, []],
    [1, null, []],
  ])
  assert.deepEqual(seen[1], seen[0])
  assert.deepEqual(seen[2], seen[0])
})

test('pushes and pull requests of a branch have one history; a branch of a fork has its own', async () => {
  const { caller, source, services, complete } = await connected()
  const failed = (number: number, fields: Partial<HostRun>) =>
    completedRun({ id: `${9000 + number}`, number, status: 'failure', ...fields })
  const ofPullRequest = { event: 'pull_request', kind: 'pull_request' } as const
  await applyRuns(
    services,
    source,
    failed(1, {}),
    failed(2, { ...ofPullRequest, head_repository_id: '2002' }),
    failed(3, ofPullRequest),
  )
  await complete()
  const recurrences = await Promise.all(
    [1, 2, 3].map(async (number) => (await read(caller, `gh_run_900${number}`)).failure_recurrence),
  )
  assert.deepEqual(recurrences, [1, 1, 2])
})

test('a late success changes the recurrence of a long row of later failures', async () => {
  const { caller, source, services, complete } = await connected()
  const failures = Array.from({ length: 350 }, (_, index) =>
    completedRun({ id: `${index + 2}`, number: index + 2, status: 'cancelled' }),
  )
  await applyRuns(services, source, ...failures)
  await complete()
  assert.equal((await read(caller, 'gh_run_351')).failure_recurrence, 350)
  await applyRuns(services, source, completedRun({ id: '9400', number: 200, status: 'success' }))
  await complete()
  assert.equal((await read(caller, 'gh_run_351')).failure_recurrence, 151)
})

test('runs follow the name of their repository; later events with the old name do not undo it', async () => {
  const { caller, source, services } = await connected()
  await applyRuns(services, source, hostRun())
  const { sql } = api.services
  await sql`
    update repositories set full_name = 'acme-inc/store', owner_id = '56' where org_id = ${source.org_id}`
  await renameVerifiedRuns(services, { org_id: source.org_id, provider: 'github', repository_id: hostRepository().id })
  await applyRuns(services, source, completedRun())
  const run = await read(caller)
  assert.deepEqual([run.repository_full_name, run.repository_owner_login], ['acme-inc/store', 'acme-inc'])
})
