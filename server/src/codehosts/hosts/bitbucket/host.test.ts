import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FakeBitbucket } from '../../../../test/support/bitbucket/fake-bitbucket.ts'
import { openedWorkspace } from '../../../../test/support/bitbucket/opened-workspace.ts'
import { type HostCredentials, type HostPage, HostRefusal, HostUnavailable, isDenied } from '../../code-host.ts'
import type { HostRun } from '../../host-run.ts'
import { parsePage } from './client.ts'
import { parseChangeCommit } from './commits.ts'
import { parseRun } from './runs.ts'

function pageOf<Item>(page: HostPage<Item> | 'not_modified'): HostPage<Item> {
  assert.notEqual(page, 'not_modified')
  return page as HostPage<Item>
}

function withoutViolations(fake: FakeBitbucket): void {
  assert.deepEqual(fake.violations, [])
}

test('a workspace is found by its slug and by its UUID, with credentials that are accepted', async (t) => {
  const { fake, host, shop, token } = await openedWorkspace(t)
  const credentials: HostCredentials = { type: 'token', token }
  const account = { id: shop.owner.uuid, login: 'acme', type: 'workspace' }
  for (const name of ['acme', shop.owner.uuid, `{${shop.owner.uuid.toUpperCase()}}`])
    assert.deepEqual((await host.readInstallation(name, credentials))?.account, account)
  assert.equal(await host.readInstallation('others', credentials), null)
  await assert.rejects(host.readInstallation('acme', { type: 'token', token: 'wrong' }), {
    status: 400,
    code: 'invalid_credentials',
  })
  withoutViolations(fake)
})

test('credentials that administer neither the workspace nor one of its repositories do not connect it', async (t) => {
  const { fake, host, stories, token } = await openedWorkspace(t)
  stories.addRepository('elsewhere/own')
  const stranger = host.readInstallation('acme', { type: 'token', token: fake.token('elsewhere') })
  const refused = { status: 403, code: 'host_role_too_low', message: /webhooks of the workspace acme/ }
  await assert.rejects(stranger, refused)
  fake.failing('GET /2.0/workspaces/{workspace}/hooks', 403)
  assert.equal((await host.readInstallation('acme', { type: 'token', token }))?.account.login, 'acme')
  fake.failing('GET /2.0/repositories/{workspace}/{repo_slug}/hooks', 403)
  await assert.rejects(host.readInstallation('acme', { type: 'token', token }), refused)
  withoutViolations(fake)
})

test('a consumer signs in with its secret, and again when its token is refused', async (t) => {
  let credentials: HostCredentials | null = null
  const { fake, client, shop } = await openedWorkspace(t, { credentials: () => credentials })
  await assert.rejects(client.readRepository(shop.uuid), /has no credentials/)
  const { id, secret } = fake.tokens.addClient(shop.owner, 'a consumer')
  credentials = { type: 'client', client_id: id, client_secret: secret, tenant_id: null }
  assert.equal((await client.readRepository(shop.uuid))?.full_name, 'acme/shop')
  await client.readRepository(shop.uuid)
  const signIns = () => fake.requests.filter((request) => request.startsWith('POST /site/oauth2')).length
  assert.equal(signIns(), 1)
  fake.tokens.revoke(shop.owner)
  await assert.rejects(client.readRepository(shop.uuid), HostUnavailable)
  const renewed = fake.tokens.addClient(shop.owner, 'a consumer')
  credentials = { type: 'client', client_id: id, client_secret: renewed.secret, tenant_id: null }
  assert.equal((await client.readRepository(shop.uuid))?.full_name, 'acme/shop')
})

test('a repository is read by its UUID, also after it was renamed', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const repository = await read(shop)
  assert.equal(repository.id, shop.uuid)
  assert.equal(repository.owner_id, shop.owner.uuid)
  assert.equal(repository.html_url, 'https://bitbucket.org/acme/shop')
  stories.rename(shop, 'store')
  assert.equal((await read(shop)).full_name, 'acme/store')
  for (const name of ['one', 'two']) stories.addRepository(`acme/${name}`)
  stories.addRepository('others/secret')
  const page = pageOf(await client.listRepositories({}))
  assert.deepEqual(page.items.map(({ full_name }) => full_name).sort(), ['acme/one', 'acme/store', 'acme/two'])
  assert.equal(await client.readRepository('11111111-1111-4111-8111-111111111111'), null)
  withoutViolations(fake)
})

test('a pipeline is a run with its steps, and each start of it an attempt', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  const { sha } = stories.push(shop)
  const story = stories.startRun(shop, { jobs: [{ name: 'build' }, { name: 'test', needs: ['build'] }] })
  const repository = await read(shop)
  const queued = await client.readRun(repository, story.run.uuid)
  assert.deepEqual([queued?.status, queued?.completed_at], ['queued', null])
  story.finish('build').finish('test', 'failure', { log: 'line 1\nError: no such cart\n' })
  const run = await client.readRun(repository, '1')
  assert.equal(run?.id, story.run.uuid)
  assert.deepEqual(run?.workflow, { id: 'branches/main', name: 'branches/main', path: 'bitbucket-pipelines.yml' })
  assert.deepEqual([run?.number, run?.attempt, run?.status, run?.ref], [1, 1, 'failure', 'refs/heads/main'])
  assert.deepEqual([run?.commit.sha, run?.kind, run?.actor?.login], [sha, 'push', 'ada'])
  const jobs = await client.listJobs(repository, story.run.uuid, 1)
  assert.deepEqual(
    jobs.map(({ name, status }) => [name, status]),
    [
      ['build', 'success'],
      ['test', 'failure'],
    ],
  )
  assert.equal(await client.readJobLog(repository, jobs[1]?.id as string, 15), ': no such cart\n')
  story.rerun('grace', { failedOnly: true }).finish('test')
  const again = await client.readRun(repository, story.run.uuid)
  assert.deepEqual([again?.attempt, again?.status, again?.triggering_actor?.login], [2, 'success', 'grace'])
  const attempts = (await client.listJobs(repository, story.run.uuid, 2)).map(({ name, attempt }) => [name, attempt])
  assert.deepEqual(attempts, [
    ['build', 1],
    ['test', 2],
  ])
  assert.equal(await client.readRun(repository, story.run.uuid, 1), null)
  withoutViolations(fake)
})

test('lists are paged without addresses', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  for (let count = 0; count < 101; count += 1) stories.startRun(shop)
  const repository = await read(shop)
  const first = pageOf(await client.listRuns(repository, {}))
  assert.deepEqual([first.items.length, first.next], [100, 'page=2'])
  const second = pageOf(await client.listRuns(repository, { next: first.next as string }))
  assert.deepEqual([second.items.map(({ number }) => number), second.next], [[1], null])
  withoutViolations(fake)
})

test('every pipeline is read, although their list names no next page', async (t) => {
  const { client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  for (let count = 0; count < 135; count += 1) stories.startRun(shop)
  const repository = await read(shop)
  const numbers: (number | null)[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: HostPage<HostRun> = pageOf(await client.listRuns(repository, next === '' ? {} : { next }))
    numbers.push(...page.items.map(({ number }) => number))
    next = page.next
  }
  assert.equal(new Set(numbers).size, 135)
})

test('a list ends where its size is reached, or a page has fewer values than asked for', () => {
  const values = [1, 2]
  const nextOf = (counts: object, page = '2') => parsePage({ values, ...counts }, { pagelen: 2, cursor: { page } }).next
  assert.equal(nextOf({ size: 5 }), 'page=3')
  assert.equal(nextOf({ size: 4 }), null)
  assert.equal(nextOf({}), 'page=3')
  assert.equal(nextOf({ values: [1] }), null)
  assert.equal(nextOf({ page: 7, size: 20 }), 'page=8')
  assert.equal(nextOf({ size: 4, next: 'https://elsewhere.example/?page=9&x=y' }), 'page=9')
  assert.equal(parsePage({ values }, { pagelen: 2, cursor: { ctx: 'opaque' } }).next, null)
})

const STATES: [state: object, status: string][] = [
  [{ name: 'PENDING' }, 'queued'],
  [{ type: 'pipeline_state_in_progress', stage: { name: 'RUNNING' } }, 'in_progress'],
  [{ name: 'IN_PROGRESS', stage: { name: 'PAUSED' } }, 'in_progress'],
  [{ name: 'IN_PROGRESS', stage: { name: 'HALTED' } }, 'in_progress'],
  [{ name: 'COMPLETED', result: { name: 'SUCCESSFUL' } }, 'success'],
  [{ type: 'pipeline_state_completed', result: { type: 'pipeline_state_completed_error' } }, 'failure'],
  [{ name: 'COMPLETED', result: { name: 'STOPPED' } }, 'cancelled'],
  [{ name: 'COMPLETED', result: { name: 'EXPIRED' } }, 'timed_out'],
  [{ name: 'COMPLETED', result: { name: 'SOMETHING_NEW' } }, 'failure'],
  [{ name: 'COMPLETED' }, 'failure'],
]

test('every state of a pipeline has a status', async (t) => {
  const { shop, read } = await openedWorkspace(t)
  const repository = await read(shop)
  const about = { uuid: '{A}', target: { commit: { hash: 'a' } }, created_on: '2026-03-01T10:00:00Z' }
  for (const [state, status] of STATES) assert.equal(parseRun({ ...about, state }, repository).status, status)
})

test('a pull request has whole hashes, the time of its merge and who merged it', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  const base = stories.push(shop, { files: { 'a.ts': 'a' } })
  const head = stories.push(shop, { branch: 'topic', files: { 'a.ts': null, 'src/a.ts': 'a', 'b.ts': 'b' } })
  const pull = stories.openPullRequest(shop, { branch: 'topic', draft: true })
  const repository = await read(shop)
  const open = await client.readPullRequest(repository, 1)
  assert.deepEqual([open?.state, open?.draft, open?.closed_at], ['open', true, null])
  const merge = stories.merge(shop, pull, 'grace')
  const merged = pageOf(await client.listPullRequests(repository, {})).items[0]
  assert.deepEqual([merged?.head.sha, merged?.base.sha, merged?.merge_commit_sha], [head.sha, base.sha, merge.sha])
  assert.deepEqual([merged?.merged_by?.login, merged?.merged_at], ['grace', pull.merged_at])
  const changed = await client.listChangedFiles(repository, 1)
  assert.deepEqual([changed?.paths.sort(), changed?.complete], [['a.ts', 'b.ts', 'src/a.ts'], true])
  const commits = await client.listPullRequestCommits(repository, 1)
  assert.deepEqual(
    commits?.commits.map(({ sha }) => sha),
    [head.sha],
  )
  assert.deepEqual(commits?.commits[0]?.author.email, 'ada@example.com')
  const compared = await client.compareCommits(repository, base.sha, merge.sha)
  assert.deepEqual(
    compared?.commits.map(({ sha }) => sha),
    [head.sha, merge.sha],
  )
  withoutViolations(fake)
})

test('a review names the commit that was reviewed, and is dismissed when it is withdrawn', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const first = stories.push(shop, { branch: 'topic' })
  const pull = stories.openPullRequest(shop, { branch: 'topic' })
  const review = stories.reviewPullRequest(shop, pull, { by: 'grace', state: 'approved' })
  const second = stories.push(shop, { branch: 'topic' })
  stories.reviewPullRequest(shop, pull, { by: 'bob', state: 'changes_requested' })
  const repository = await read(shop)
  const reviews = await client.listReviews(repository, 1)
  const shown = reviews.map(({ reviewer, state, commit_sha }) => [reviewer?.login, state, commit_sha])
  assert.deepEqual(shown.sort(), [
    ['bob', 'changes_requested', second.sha],
    ['grace', 'approved', first.sha],
  ])
  stories.dismissReview(shop, pull, review)
  const withdrawn = (await client.listReviews(repository, 1)).find(({ reviewer }) => reviewer?.login === 'grace')
  const given = reviews.find(({ reviewer }) => reviewer?.login === 'grace')
  assert.deepEqual([withdrawn?.id, withdrawn?.state], [given?.id, 'dismissed'])
  withoutViolations(fake)
})

test('a commit names the pull request whose merge created it', async (t) => {
  const { client, stories, shop, read } = await openedWorkspace(t)
  const base = stories.push(shop)
  stories.push(shop, { branch: 'topic' })
  stories.merge(shop, stories.openPullRequest(shop, { branch: 'topic' }))
  const repository = await read(shop)
  const merge = shop.pullRequests[0]?.merge_commit_sha as string
  const commit = shop.commits.get(merge)
  Object.assign(commit as object, { message: 'Merged in topic (pull request #1)' })
  const named = [base.sha, merge].map((sha) => ({ sha, workflow_path: 'bitbucket-pipelines.yml' }))
  const [first, second] = await client.readCommits(repository, named)
  assert.deepEqual([first?.merged_pull_request, first?.author?.login], [null, 'ada'])
  assert.equal(second?.merged_pull_request?.number, 1)
})

test('build statuses are checks; those of Pipelines have one name', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  const { sha } = stories.push(shop)
  stories.startRun(shop).finish('build')
  const repository = await read(shop)
  const status = {
    context: 'shiplock/policy/'.padEnd(60, 'x'),
    state: 'success',
    description: 'Fine',
    url: null,
  } as const
  const action = { type: 'commit_status', repository, commit_sha: sha, ...status } as const
  await client.act(action)
  await client.act(action)
  const checks = await client.listChecks(repository, sha)
  assert.deepEqual(
    checks.map(({ name, source, status: state }) => [name, source, state]),
    [
      ['bitbucket-pipelines', 'bitbucket-pipelines', 'success'],
      [status.context, 'commit_status', 'success'],
    ],
  )
  withoutViolations(fake)
})

test('a deployment is listed from its start, with the name of its environment', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const story = stories.startRun(shop, { jobs: [{ name: 'deploy', environment: 'Production' }] })
  const repository = await read(shop)
  assert.deepEqual(pageOf(await client.listDeployments(repository, {})).items, [])
  story.start('deploy')
  const { uuid, sha } = story.deployment('deploy')
  const [deployment, ...others] = pageOf(await client.listDeployments(repository, {})).items
  assert.deepEqual([deployment?.id, deployment?.environment, deployment?.commit_sha], [uuid, 'Production', sha])
  assert.deepEqual([deployment?.run?.id, others], [story.run.uuid, []])
  story.finish('deploy')
  const read2 = await client.readDeployment(repository, uuid)
  assert.ok(read2)
  const statuses = await client.listDeploymentStatuses(read2)
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['in_progress', 'success'],
  )
  const job = (await client.listJobs(repository, story.run.uuid, 1))[0]
  assert.equal(statuses[0]?.job_id, job?.id)
  assert.equal((await client.readEnvironment(repository, 'Production'))?.name, 'Production')
  withoutViolations(fake)
})

test('vulnerabilities of the newest security reports are alerts with lasting numbers', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const repository = await read(shop)
  const nothing = await client.listAlerts(repository, 'code_scanning', {})
  assert.ok(nothing !== 'not_modified' && isDenied(nothing))
  const one = stories.openAlert(shop, {
    type: 'code_scanning',
    severity: 'critical',
    tool: { name: 'Scan', version: null },
  })
  const other = stories.openAlert(shop, { type: 'code_scanning', tool: { name: 'Scan', version: null } })
  const page = pageOf(await client.listAlerts(repository, 'code_scanning', {}))
  assert.deepEqual(
    page.items.map(({ severity, tool_name }) => [severity, tool_name]),
    [
      ['high', 'Scan'],
      ['critical', 'Scan'],
    ],
  )
  const etag = page.etag as string
  assert.equal(await client.listAlerts(repository, 'code_scanning', { etag }), 'not_modified')
  const critical = page.items[1]
  assert.ok(critical && Number.isSafeInteger(critical.number))
  stories.fixAlert(one)
  assert.equal((await client.readAlert(repository, critical))?.status, 'fixed')
  stories.dismissAlert(other, 'false_positive')
  shop.alerts.splice(shop.alerts.indexOf(one), 1)
  assert.equal(await client.readAlert(repository, critical), null)
  const left = pageOf(await client.listAlerts(repository, 'code_scanning', { etag }))
  assert.deepEqual(
    left.items.map(({ number, status }) => [number, status]),
    [[page.items[0]?.number, 'dismissed']],
  )
  assert.ok(isDenied(pageOf(await client.listAlerts(repository, 'dependabot', {}))))
  withoutViolations(fake)
})

test('what Bitbucket cannot do is refused', async (t) => {
  const { client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const repository = await read(shop)
  const alert = { type: 'code_scanning', number: 1 } as const
  const target = { repository, environment: 'Production', run_id: '1', callback_url: null, callback_secret: null }
  const actions = [
    { type: 'decision', target, decision: 'approved', text: 'Fine' },
    { type: 'dismissal', repository, alert, reason: 'false_positive', comment: null },
    { type: 'reopening', repository, alert },
  ] as const
  for (const action of actions)
    await assert.rejects(client.act(action), (error) => error instanceof HostRefusal && error.status === 409)
})

test('a comment is written on the commit of the run once', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const { run } = stories.startRun(shop)
  const repository = await read(shop)
  const target = { repository, environment: 'Production', run_id: run.uuid, callback_url: null, callback_secret: null }
  for (let count = 0; count < 2; count += 1) await client.act({ type: 'comment', target, text: 'It waits.' })
  assert.deepEqual(
    shop.comments.map(({ text }) => text),
    ['It waits.'],
  )
  withoutViolations(fake)
})

test('the restrictions of a branch are its rules as far as they are known', async (t) => {
  const { client, stories, shop, read } = await openedWorkspace(t)
  stories.push(shop)
  const repository = await read(shop)
  assert.equal(await client.readBranchRules(repository, 'main'), null)
  stories.protectBranch(shop, 'm*', { approvals: 2, blocksForcePushes: true })
  const rules = await client.readBranchRules(repository, 'main')
  assert.deepEqual([rules?.requires_pull_request, rules?.required_approvals], [true, 2])
  assert.deepEqual([rules?.blocks_force_pushes, rules?.blocks_deletion, rules?.complete], [true, false, false])
  assert.equal(await client.readBranchRules(repository, 'topic'), null)
})

test('files of a folder have the versions of Git', async (t) => {
  const { client, stories, shop, read } = await openedWorkspace(t)
  const { sha } = stories.push(shop, { files: { 'policies/a.yml': '{"a": 1}\n', 'policies/deep/b.yml': 'b' } })
  const repository = await read(shop)
  const files = await client.listFolder(repository, 'policies', sha)
  const blob = 'ac5f3bb8c5b4d5c5b0c5e5f0e0c5b5d5'.length
  assert.deepEqual([files.map(({ path }) => path), files[0]?.blob.length], [['policies/a.yml'], blob + 8])
  assert.equal(await client.readFile(repository, { path: 'policies/a.yml', commit_sha: sha, blob: '' }), '{"a": 1}\n')
  assert.deepEqual(await client.listFolder(repository, 'none', sha), [])
})

test('the author of a commit has a name and an address, and any text is read in linear time', () => {
  const authorOf = (raw: string) => {
    const { name, email } = parseChangeCommit({ hash: 'a'.repeat(40), author: { raw } }).author
    return [name, email]
  }
  assert.deepEqual(authorOf(' Ada  <ada@example.com> '), ['Ada', 'ada@example.com'])
  assert.deepEqual(authorOf('A <b> C <ada@example.com>'), ['A <b> C', 'ada@example.com'])
  assert.deepEqual(authorOf('Ada'), ['Ada', null])
  const start = performance.now()
  for (const raw of [`Ada${' '.repeat(32_000)}`, '<'.repeat(32_000), `<${' '.repeat(32_000)}`]) authorOf(raw)
  assert.ok(performance.now() - start < 150)
})
