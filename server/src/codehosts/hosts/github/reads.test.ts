import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type Received, startGithubAnswers } from '../../../../test/support/github-answers.ts'
import { hostRepository } from '../../../../test/support/host-objects.ts'
import { HostRefusal } from '../../code-host.ts'
import type { HostRun } from '../../host-run.ts'
import { isLogAddress } from './jobs.ts'

const repository = hostRepository()
const ACCESS = { id: 'a connection', installation_id: '5', host: 'github.com' }
const RUNS = '/repos/acme/shop/actions/runs'
const secondOf = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z')

const runAt = (id: number, time: number) => ({
  id,
  workflow_id: 1,
  event: 'push',
  head_sha: 'a'.repeat(40),
  created_at: secondOf(time),
  updated_at: secondOf(time),
})

const START = Date.parse('2026-02-01T00:00:00Z')

/** Answers like GitHub: newest first, at most 1,000 for a search, links relative to an own name. */
function listedRuns(runs: ReturnType<typeof runAt>[], { query }: Received): Answer {
  const created = query.get('created') ?? ''
  const [, since = ''] = /^(?:>=)?(\d[^.]*Z)/.exec(created) ?? []
  const until = created.split('..')[1] ?? (created.startsWith('<=') ? created.slice(2) : '9')
  const found = runs.filter((run) => run.created_at >= since && run.created_at <= until)
  const page = Number(query.get('page') ?? 1)
  const last = Math.min(found.length, 1000)
  const link =
    page * 100 < last
      ? `<https://api.example/runs?per_page=100&page=${page + 1}>; rel="next"`
      : '<https://api.example/runs?page=1>; rel="first"'
  return {
    headers: { link },
    data: { total_count: found.length, workflow_runs: found.slice((page - 1) * 100, Math.min(page * 100, last)) },
  }
}

test('more than 1,000 runs are listed, in windows of time, and none is lost', async (t) => {
  const runs = Array.from({ length: 2350 }, (_, index) =>
    runAt(index + 1, START + Math.floor(index / 3) * 1000),
  ).reverse()
  const github = await startGithubAnswers(t, (request) =>
    request.path === RUNS ? listedRuns(runs, request) : undefined,
  )
  const client = github.codeHost.open(ACCESS)
  for (const options of [{ since: new Date(START) }, {}]) {
    const listed = new Set<string>()
    for (let next: string | null | undefined; next !== null; ) {
      const page = await client.listRuns(repository, next ? { ...options, next } : options)
      assert.notEqual(page, 'not_modified')
      if (page === 'not_modified') break
      for (const run of page.items) listed.add(run.id)
      next = page.next
    }
    assert.equal(listed.size, 2350)
  }
})

test('a window moves on when all its runs are of one second', async (t) => {
  const runs = Array.from({ length: 1500 }, (_, index) =>
    runAt(index + 1, START + (index < 1200 ? 0 : 60_000)),
  ).reverse()
  const github = await startGithubAnswers(t, (request) =>
    request.path === RUNS ? listedRuns(runs, request) : undefined,
  )
  const client = github.codeHost.open(ACCESS)
  let next: string | null | undefined
  for (let pages = 0; next !== null; pages += 1) {
    assert.ok(pages < 40, 'The list does not end')
    const page = await client.listRuns(repository, next ? { since: new Date(START), next } : { since: new Date(START) })
    next = page === 'not_modified' ? null : page.next
  }
})

test('the next page keeps no address, and foreign parameters are not sent', async (t) => {
  const link = '<https://evil.example/repos?page=2&per_page=7&after=Y3Vy&state=x>; rel="next"'
  const github = await startGithubAnswers(t, ({ path }) =>
    path.endsWith('/pulls') ? { headers: { link }, data: [] } : undefined,
  )
  const client = github.codeHost.open(ACCESS)
  const page = await client.listPullRequests(repository, {})
  assert.deepEqual(page, { items: [], next: 'page=2&after=Y3Vy', etag: null })
  await client.listPullRequests(repository, { next: 'page=2&state=closed&owner=other' })
  const { path, query } = github.received.at(-1) as Received
  assert.equal(path, '/repos/acme/shop/pulls')
  assert.deepEqual(Object.fromEntries(query), {
    state: 'all',
    sort: 'updated',
    direction: 'desc',
    per_page: '100',
    page: '2',
  })
})

test('an item that cannot be read does not hide the others', async (t) => {
  const data = { total_count: 2, workflow_runs: [{ id: 'x' }, runAt(2, START)] }
  const github = await startGithubAnswers(t, ({ path }) => (path === RUNS ? { data } : undefined))
  const page = await github.codeHost.open(ACCESS).listRuns(repository, {})
  assert.deepEqual(page !== 'not_modified' && page.items.map(({ id }: HostRun) => id), ['2'])
})

test('a whole list is read page by page, on the address of the API', async (t) => {
  const job = (id: number) => ({ id, run_id: 9, name: `job ${id}`, status: 'queued' })
  const github = await startGithubAnswers(t, ({ path, query }) => {
    if (!path.endsWith('/attempts/1/jobs')) return undefined
    const next = `<https://proxy.example${path}?per_page=100&page=2>; rel="next"`
    if (query.get('page') === '2') return { data: { total_count: 101, jobs: [job(101)] } }
    return {
      headers: { link: next },
      data: { total_count: 101, jobs: Array.from({ length: 100 }, (_, i) => job(i + 1)) },
    }
  })
  const jobs = await github.codeHost.open(ACCESS).listJobs(repository, '9', 1)
  assert.equal(jobs.length, 101)
})

test('a repository is found among those of the installation if it cannot be read by its id', async (t) => {
  const shop = {
    id: 1001,
    full_name: 'acme/store',
    owner: { id: 55, login: 'acme' },
    html_url: 'https://github.com/acme/store',
  }
  const github = await startGithubAnswers(t, ({ path }) =>
    path === '/installation/repositories' ? { data: { total_count: 1, repositories: [shop] } } : undefined,
  )
  const client = github.codeHost.open(ACCESS)
  assert.equal((await client.readRepository('1001'))?.full_name, 'acme/store')
  assert.equal(await client.readRepository('1002'), null)
})

const SHA = 'c'.repeat(40)
const OTHER = 'd'.repeat(40)

test('a few commits are read by REST, with the pull request whose merge made them', async (t) => {
  const pull = (number: number, fields: object) => ({ number, merged_at: '2026-02-01T00:00:00Z', ...fields })
  const github = await startGithubAnswers(t, ({ path, query }) => {
    if (path === `/repos/acme/shop/commits/${SHA}`)
      return {
        data: { sha: SHA, commit: { message: 'Fix' }, author: { id: 7, login: 'dependabot[bot]', type: 'Bot' } },
      }
    if (path === `/repos/acme/shop/commits/${SHA}/pulls`)
      return {
        data: [
          pull(3, { merge_commit_sha: OTHER }),
          pull(4, { merge_commit_sha: SHA }),
          pull(5, { merge_commit_sha: SHA, merged_at: null }),
        ],
      }
    if (path === '/repos/acme/shop/contents/.github/workflows/a%20b.yml' && query.get('ref') === SHA)
      return { data: { sha: 'blob' } }
    return undefined
  })
  const commits = [{ sha: SHA, workflow_path: '.github/workflows/a b.yml' }]
  const [commit] = await github.codeHost.open(ACCESS).readCommits(repository, commits)
  assert.deepEqual(
    { ...commit, author: commit?.author?.is_bot },
    {
      sha: SHA,
      message: 'Fix',
      author: true,
      merged_pull_request: { number: 4, url: 'https://github.com/acme/shop/pull/4' },
      workflow_blob: 'blob',
    },
  )
})

const MANY = Array.from({ length: 60 }, (_, index) => ({
  sha: index.toString(16).padStart(40, '0'),
  workflow_path: index % 2 === 0 ? '.github/workflows/ci.yml' : null,
}))

test('many commits are read by GraphQL, fifty in a query, and on a server of its own beside its REST API', async (t) => {
  const github = await startGithubAnswers(
    t,
    ({ path, body }) => {
      if (path !== '/api/graphql') return undefined
      const aliases = [...body.query.matchAll(/(c\d+): object\(oid: "([0-9a-f]+)"\)/g)]
      const pulls = { nodes: [{ number: 8, merged: true, mergeCommit: { oid: MANY[0]?.sha } }] }
      const user = { databaseId: 7, login: 'ada', name: 'Ada', avatarUrl: null, url: null }
      const found = aliases.map(([, alias]) => [
        alias,
        { message: 'm', author: { user }, associatedPullRequests: pulls, file: { oid: 'b' } },
      ])
      return { data: { data: { repository: Object.fromEntries(found) } } }
    },
    { apiPath: '/api/v3' },
  )
  const commits = await github.codeHost.open(ACCESS).readCommits(repository, MANY)
  assert.deepEqual(
    commits.map(({ sha }) => sha),
    MANY.map(({ sha }) => sha),
  )
  assert.deepEqual([commits[0]?.merged_pull_request?.number, commits[1]?.merged_pull_request], [8, null])
  assert.equal(commits[0]?.author?.name, 'Ada')
  assert.equal(github.received.length, 2)
  const [{ body }] = github.received as [Received]
  assert.deepEqual(body.variables, { path0: '.github/workflows/ci.yml', owner: 'acme', name: 'shop' })
})

test('the account of a bot is read once for many commits', async (t) => {
  const email = '49699333+dependabot[bot]@users.noreply.github.com'
  const github = await startGithubAnswers(t, ({ path, body }) => {
    if (path === '/users/dependabot%5Bbot%5D')
      return { data: { id: 49699333, login: 'dependabot[bot]', type: 'Bot', name: 'Dependabot' } }
    if (path !== '/graphql') return undefined
    const aliases = [...body.query.matchAll(/(c\d+): object/g)].map(([, alias]) => [alias, { author: { email } }])
    return { data: { data: { repository: Object.fromEntries(aliases) } } }
  })
  const commits = await github.codeHost.open(ACCESS).readCommits(repository, MANY.slice(0, 5))
  assert.deepEqual(new Set(commits.map(({ author }) => author?.login)), new Set(['dependabot[bot]']))
  assert.deepEqual([commits[0]?.author?.is_bot, commits[0]?.author?.name], [true, null])
  assert.equal('bot' in (commits[0] ?? {}), false)
  assert.equal(github.received.length, 2)
})

test('commits are read by REST where GraphQL is refused', async (t) => {
  for (const status of [403, 404, 501]) {
    const github = await startGithubAnswers(t, ({ path }) => {
      if (path === '/graphql') return { status, data: { message: 'No' } }
      const sha = /\/commits\/([0-9a-f]{40})$/.exec(path)?.[1]
      return sha ? { data: { sha, commit: { message: sha }, author: null } } : undefined
    })
    const commits = await github.codeHost.open(ACCESS).readCommits(repository, MANY.slice(0, 3))
    assert.deepEqual(
      commits.map(({ message }) => message),
      MANY.slice(0, 3).map(({ sha }) => sha),
    )
  }
})

test('a delivery has failed if no try delivered it', async (t) => {
  const attempt = (id: number, guid: string, status_code: number, minute: number) => ({
    id,
    guid,
    event: 'push',
    delivered_at: `2026-02-01T00:${String(minute).padStart(2, '0')}:00Z`,
    status: status_code === 202 ? 'OK' : 'failed',
    status_code,
  })
  const pages = [
    [attempt(9, 'b', 202, 50), attempt(8, 'a', 500, 40), attempt(7, 'c', 0, 35)],
    [attempt(6, 'b', 502, 30), attempt(5, 'a', 404, 20), attempt(4, 'd', 500, 1)],
    [attempt(3, 'e', 500, 0)],
  ]
  const github = await startGithubAnswers(t, ({ path, query }) => {
    if (path !== '/app/hook/deliveries') return undefined
    const page = Number(query.get('cursor') ?? 0)
    return { headers: { link: `<https://x.example/?cursor=${page + 1}>; rel="next"` }, data: pages[page] ?? [] }
  })
  const failed = await github.codeHost.redeliveries?.listFailed(new Date('2026-02-01T00:05:00Z'))
  assert.deepEqual(
    failed?.map(({ id, delivery_id }) => [id, delivery_id]),
    [
      ['8', 'a'],
      ['7', 'c'],
    ],
  )
  assert.equal(github.received.length, 2)
  assert.match(github.received[0]?.headers.authorization ?? '', /^bearer ey/)
})

const ENVIRONMENT = {
  name: 'prod/eu',
  protection_rules: [
    { type: 'wait_timer', wait_timer: 30 },
    {
      type: 'required_reviewers',
      reviewers: [
        { type: 'User', reviewer: { login: 'ada', id: 7 } },
        { type: 'Team', reviewer: { name: 'Release managers', slug: 'release-managers' } },
      ],
    },
  ],
}

test('an environment has its own rules and those of Apps, which an older server does not know', async (t) => {
  const app = (id: number, slug: string) => ({ id, slug, integration_url: '' })
  for (const known of [true, false]) {
    const github = await startGithubAnswers(t, ({ path }) => {
      if (path === '/repos/acme/shop/environments/prod%2Feu') return { data: ENVIRONMENT }
      if (!path.endsWith('/deployment_protection_rules')) return undefined
      if (!known) return { status: 501, data: { message: 'No' } }
      const rules = [
        { id: 1, enabled: true, app: app(17, 'shiplock') },
        { id: 2, enabled: true, app: app(18, 'other') },
        { id: 3, enabled: false, app: app(19, 'off') },
      ]
      return { data: { total_count: 3, custom_deployment_protection_rules: rules } }
    })
    const environment = await github.codeHost.open(ACCESS).readEnvironment(repository, 'prod/eu')
    assert.deepEqual([environment?.reviewers, environment?.reviewer_teams], [['ada'], ['release-managers']])
    const own = ['wait_timer', 'required_reviewers']
    assert.deepEqual(environment?.rule_types, known ? [...own, 'customRule'] : own)
    const custom = [
      { app_id: '17', slug: 'shiplock', is_own: true },
      { app_id: '18', slug: 'other', is_own: false },
    ]
    assert.deepEqual(environment?.custom_rules, known ? custom : [])
  }
})

test('a lost request of our rule follows from the pending deployments of a run and the rules of the environment', async (t) => {
  // "Get pending deployments for a workflow run", "Get all deployment protection rules for an environment".
  const pending = { wait_timer: 0, wait_timer_started_at: null, current_user_can_approve: false, reviewers: [] }
  const requestsOf = async (environment: string, appId: number) => {
    const github = await startGithubAnswers(t, ({ path }) => {
      if (path.endsWith('/actions/runs/9001/pending_deployments'))
        return { data: [{ ...pending, environment: { id: 1, name: environment } }] }
      if (!path.endsWith('/environments/prod%2Feu/deployment_protection_rules')) return
      const rule = { id: 3, node_id: 'x', enabled: true, app: { id: appId, slug: 'app' } }
      return { data: { total_count: 1, custom_deployment_protection_rules: [rule] } }
    })
    const at = new Date('2026-02-02T00:00:00Z')
    const deployment = {
      repository,
      id: '7',
      environment: 'prod/eu',
      ref: 'main',
      commit_sha: SHA,
      run: { id: '9001', attempt: 2 },
      creator: null,
      description: null,
      created_at: at,
      updated_at: at,
    }
    const requests = await github.codeHost.open(ACCESS).listGateRequests(deployment)
    const [request] = requests
    return request === undefined
      ? requests.length
      : [request.deployment?.id, request.run, new URL(request.callback_url).pathname]
  }
  const path = `/repos/${repository.full_name}/actions/runs/9001/deployment_protection_rule`
  const [deployment, run, address] = (await requestsOf('prod/eu', 17)) as string[]
  assert.deepEqual([deployment, run], ['7', { id: '9001', attempt: null }])
  assert.ok(address?.endsWith(path), address)
  assert.equal(await requestsOf('staging', 17), 0)
  assert.equal(await requestsOf('prod/eu', 18), 0)
})

test('deployments before the given time end their list', async (t) => {
  const deployment = (id: number, day: string) => ({
    id,
    environment: 'p',
    sha: SHA,
    created_at: `2026-02-${day}T00:00:00Z`,
  })
  const link = '<https://x.example/?page=2>; rel="next"'
  const github = await startGithubAnswers(t, ({ path }) =>
    path.endsWith('/deployments') ? { headers: { link }, data: [deployment(2, '03'), deployment(1, '01')] } : undefined,
  )
  const page = await github.codeHost
    .open(ACCESS)
    .listDeployments(repository, { since: new Date('2026-02-02T00:00:00Z') })
  assert.ok(page !== 'not_modified')
  assert.deepEqual([page.items.map(({ id }) => id), page.next], [['2'], null])
})

test('alerts that GitHub refuses are an empty list with its answer, of any type', async (t) => {
  for (const status of [403, 404]) {
    const github = await startGithubAnswers(t, ({ path }) =>
      path.includes('/alerts') ? { status, data: { message: 'No' } } : undefined,
    )
    const client = github.codeHost.open(ACCESS)
    for (const type of ['code_scanning', 'dependabot', 'secret_scanning'] as const) {
      const page = await client.listAlerts(repository, type, {})
      assert.ok(page !== 'not_modified')
      const { refusal, ...rest } = page
      assert.deepEqual(rest, { items: [], next: null, etag: null })
      assert.equal(refusal?.status, status)
      assert.match(refusal?.message ?? '', /^GitHub answered \d+ to GET .*: No\.$/)
    }
  }
})

test('a commit that cannot be read costs neither the file nor the merged pull request', async (t) => {
  const sha = 'a'.repeat(40)
  const content = Buffer.from('on: push\n').toString('base64')
  const github = await startGithubAnswers(t, ({ path }) => {
    if (path.endsWith('/contents/.github/workflows/ci.yml')) return { data: { sha: 'b1', content, encoding: 'base64' } }
    return path.endsWith(`/commits/${sha}/pulls`)
      ? { data: [{ number: 7, merged_at: '2026-02-01T00:00:00Z', merge_commit_sha: sha }] }
      : undefined
  })
  const client = github.codeHost.open(ACCESS)
  const path = '.github/workflows/ci.yml'
  const [commit] = await client.readCommits(repository, [{ sha, workflow_path: path }])
  assert.deepEqual(
    [commit?.message, commit?.author, commit?.merged_pull_request?.number, commit?.workflow_blob],
    [null, null, 7, 'b1'],
  )
  // The address of blobs answers 404 too, but the file is also at its path.
  assert.equal(await client.readFile(repository, { path, commit_sha: sha, blob: 'b1' }), 'on: push\n')
  assert.deepEqual(await client.readCommits(repository, [{ sha: 'b'.repeat(40), workflow_path: 'none' }]), [])
})

test('a file of another encoding and a folder are read; a folder that is a file is empty', async (t) => {
  const github = await startGithubAnswers(t, ({ path }) => {
    if (path.endsWith('/git/blobs/b1'))
      return { data: { content: Buffer.from('name: ✓\n').toString('base64'), encoding: 'base64' } }
    if (path.endsWith('/contents/.shiplock/policies'))
      return {
        data: [
          { type: 'file', path: '.shiplock/policies/a.yaml', sha: 's1' },
          { type: 'dir', path: '.shiplock/policies/b', sha: 's2' },
        ],
      }
    return path.endsWith('/contents/README') ? { data: { type: 'file', path: 'README', sha: 's3' } } : undefined
  })
  const client = github.codeHost.open(ACCESS)
  const file = { path: 'none.yaml', commit_sha: 'c1' }
  assert.equal(await client.readFile(repository, { ...file, blob: 'b1' }), 'name: ✓\n')
  assert.equal(await client.readFile(repository, { ...file, blob: 'b2' }), null)
  assert.deepEqual(await client.listFolder(repository, '.shiplock/policies', 'main'), [
    { path: '.shiplock/policies/a.yaml', blob: 's1' },
  ])
  assert.deepEqual(await client.listFolder(repository, 'README', 'main'), [])
  assert.deepEqual(await client.listFolder(repository, 'none', 'main'), [])
})

test('a folder that may not be read is not an empty one', async (t) => {
  const github = await startGithubAnswers(t, ({ path }) =>
    path.includes('/contents/') ? { status: 403, data: { message: 'No' } } : undefined,
  )
  await assert.rejects(github.codeHost.open(ACCESS).listFolder(repository, '.shiplock/policies', 'main'), HostRefusal)
})

const ADDRESSES: [address: string, api: string, allowed: boolean][] = [
  ['https://results-receiver.actions.githubusercontent.com/x', 'https://api.github.com', true],
  ['https://productionresultssa1.blob.core.windows.net/x', 'https://api.github.com', true],
  ['http://productionresultssa1.blob.core.windows.net/x', 'https://api.github.com', false],
  ['https://evil-blob.core.windows.net.evil.example/x', 'https://api.github.com', false],
  ['https://actions.githubusercontent.com.evil.example/x', 'https://api.github.com', false],
  ['https://169.254.169.254/x', 'https://api.github.com', false],
  ['http://127.0.0.1:5432/x', 'https://api.github.com', false],
  ['https://git.example.com/storage/x', 'https://git.example.com/api/v3', true],
  ['http://git.example.com/storage/x', 'https://git.example.com/api/v3', false],
  ['http://127.0.0.1:81/x', 'http://localhost:80', true],
  ['file:///etc/passwd', 'http://localhost:80', false],
]

test('logs are read from hosts of GitHub and from that of the API', () => {
  for (const [address, api, allowed] of ADDRESSES)
    assert.equal(isLogAddress(new URL(address), new URL(api)), allowed, address)
})
