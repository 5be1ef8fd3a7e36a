import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type OpenGitlab, openGitlab } from '../../../../test/support/gitlab/open-host.ts'
import type { RunStory } from '../../../../test/support/hosts/stories/run-story.ts'
import { isDenied, type ListOptions, type ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRun } from '../../host-run.ts'
import { hasOneMeaning } from './branch-rules.ts'

let open: OpenGitlab
let free: OpenGitlab
before(async () => {
  open = await openGitlab()
  free = await openGitlab({ edition: 'free' })
})
after(async () => {
  for (const one of [open, free]) await one?.fake.close()
})

const JOBS = [{ name: 'build' }, { name: 'deploy', needs: ['build'], environment: 'production' }]

test('a retried pipeline has attempts, each with its jobs', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('retried')
  fake.stories.push(project, { message: 'Fix the cart' })
  const story = fake.stories.startRun(project, { jobs: JOBS, actor: 'ada' })
  story.finish('build', 'timed_out').rerun('lin').finish('build').finish('deploy')
  const run = await client.readRun(repository, String(story.id))
  assert.deepEqual(
    [run?.attempt, run?.status, run?.kind, run?.ref, run?.triggering_actor?.login, run?.commit.message],
    [2, 'success', 'push', 'refs/heads/main', 'lin', 'Fix the cart'],
  )
  const first = await client.readRun(repository, String(story.id), 1)
  assert.deepEqual([first?.attempt, first?.status, first?.triggering_actor?.login], [1, 'failure', 'ada'])
  assert.ok(first?.completed_at && run && first.completed_at <= run.started_at)
  assert.equal(await client.readRun(repository, String(story.id), 3), null)
  const jobs = async (attempt: number) =>
    (await client.listJobs(repository, String(story.id), attempt)).map(({ name, status }) => [name, status]).sort()
  assert.deepEqual(await jobs(1), [
    ['build', 'timed_out'],
    ['deploy', 'skipped'],
  ])
  assert.deepEqual(await jobs(2), [
    ['build', 'success'],
    ['deploy', 'success'],
  ])
  const [late] = (await client.listJobs(repository, String(story.id), 1)).filter(({ name }) => name === 'build')
  assert.deepEqual(
    (await client.listAnnotations(repository, late?.id ?? '')).map(({ message }) => message),
    ['The job failed: job execution timeout.'],
  )
})

const runsOf = async ({ client }: OpenGitlab, repository: HostRepository, options: ListOptions) => {
  const found: HostRun[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: ListResult<HostRun> = await client.listRuns(repository, next === '' ? options : { next })
    assert.ok(page !== 'not_modified')
    found.push(...page.items)
    next = page.next
  }
  return found
}

test('child pipelines are listed, between the others', async () => {
  const { fake, addProject } = open
  const { project, repository } = await addProject('children')
  fake.stories.push(project)
  const all = Array.from({ length: 50 }, () => fake.stories.startRun(project))
  for (const { run } of all.filter((_, index) => index % 5 === 0)) fake.makeChild(run)
  const found = await runsOf(open, repository, {})
  assert.deepEqual(
    found.map(({ id }) => id),
    all.map(({ id }) => String(id)).reverse(),
  )
  assert.equal(found.filter(({ kind, event }) => kind === 'workflow' && event === 'parent_pipeline').length, 10)
})

test('what changed since a time is listed, also in old pipelines', async () => {
  const { fake, addProject } = open
  const { project, repository } = await addProject('changes')
  fake.stories.push(project)
  const [old, child, ...others] = Array.from({ length: 25 }, () => fake.stories.startRun(project).finish('build'))
  assert.ok(old && child)
  fake.makeChild(child.run)
  const changed_since = fake.world.now()
  assert.deepEqual(await runsOf(open, repository, { changed_since }), [])
  for (const story of [child, old]) story.rerun('lin').finish('build', 'failure')
  const page = await open.client.listRuns(repository, { changed_since })
  assert.ok(page !== 'not_modified' && page.has_changes)
  assert.deepEqual(
    page.items.map(({ id, attempt, status }) => [id, attempt, status]),
    [old, child].map(({ id }) => [String(id), 2, 'failure']),
  )
  assert.equal((await runsOf(open, repository, {})).length, others.length + 2)
})

test('renaming a group takes no project out of the connection', async () => {
  const { client, fake, addProject } = await openGitlab()
  const { project } = await addProject('products/shop')
  const listed = async () => {
    const page = await client.listRepositories({})
    return page === 'not_modified' ? page : page.items.map(({ id, full_name }) => [id, full_name])
  }
  assert.deepEqual(await listed(), [[String(project.id), 'acme/products/shop']])
  fake.renameGroup('acme', 'acme-inc')
  assert.deepEqual(await listed(), [[String(project.id), 'acme-inc/products/shop']])
  assert.equal((await client.readRepository(String(project.id)))?.full_name, 'acme-inc/products/shop')
  assert.deepEqual(fake.violations, [])
  await fake.close()
})

test('a pipeline of a merge request names its branch and its merge request', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('for-merge-request')
  fake.stories.push(project)
  fake.stories.push(project, { branch: 'cart' })
  const pullRequest = fake.stories.openPullRequest(project, { branch: 'cart' })
  const run = await client.readRun(repository, String(fake.stories.startRun(project, { pullRequest }).id))
  assert.deepEqual(
    [run?.kind, run?.ref, run?.head_repository_id, run?.pull_requests],
    [
      'pull_request',
      'refs/heads/cart',
      repository.id,
      [{ number: 1, url: `${repository.html_url}/-/merge_requests/1` }],
    ],
  )
})

test('the end of a log has no marks of the runner', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('logs')
  fake.stories.push(project)
  const log = '2026-05-22T12:43:46.962646Z 01O first\n2026-05-22T12:43:47.962646Z 01E+second ä\n'
  const story = fake.stories.startRun(project).finish('build', 'failure', { log }) as RunStory
  const id = String(story.job('build').id)
  assert.equal(await client.readJobLog(repository, id, 10_000), 'first\nsecond ä\n')
  assert.equal(await client.readJobLog(repository, id, 2), '\n')
  assert.equal(await client.readJobLog(repository, '1', 100), null)
})

test('the jobs of a configuration are read as GitLab resolved them', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('configured')
  const text = 'stages: [build, deploy]\nmake: {stage: build}\nship: {stage: deploy, environment: production}\n'
  const { sha } = fake.stories.push(project, { files: { '.gitlab-ci.yml': text } })
  const run = await client.readRun(repository, String(fake.stories.startRun(project).id))
  assert.equal(run?.workflow.path, '.gitlab-ci.yml')
  const [commit] = await client.readCommits(repository, [{ sha, workflow_path: '.gitlab-ci.yml' }])
  const blob = commit?.workflow_blob ?? assert.fail()
  const file = { path: '.gitlab-ci.yml', commit_sha: sha, blob }
  assert.equal(await client.readFile(repository, file), text)
  assert.deepEqual(await client.readWorkflow?.(repository, file), {
    jobs: [
      { name: 'make', needs: [] },
      { name: 'ship', needs: ['make'] },
    ],
    deploys: true,
  })
})

test('files of a folder are listed; a folder that does not exist is empty', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('folders')
  fake.stories.push(project, { files: { 'a/b.yaml': 'x', 'a/c/d.yaml': 'y' } })
  const paths = (await client.listFolder(repository, 'a', 'main')).map(({ path }) => path)
  assert.deepEqual(paths, ['a/b.yaml'])
  assert.deepEqual(await client.listFolder(repository, 'none', 'main'), [])
  fake.trouble.failing.set('GET /api/v4/projects/{id}/repository/tree', 403)
  fake.trouble.failing.set('GET /api/v4/projects/{id}/repository/branches', 403)
  await assert.rejects(client.listFolder(repository, 'a', 'main'), { status: 403 })
  fake.trouble.failing.clear()
})

test('each way to merge says which commit landed; the push of a merge is left out', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('merged')
  const { stories } = fake
  const direct = stories.push(project, { message: 'Direct' })
  const landed = (['merge', 'squash', 'rebase'] as const).map((method) => {
    stories.push(project, { branch: method, files: { [method]: 'x' } })
    const pull = stories.openPullRequest(project, { branch: method })
    return [pull.number, stories.merge(project, pull, 'ada', method).sha]
  })
  const page = await client.listPullRequests(repository, {})
  assert.ok(page !== 'not_modified')
  assert.deepEqual(page.items.map(({ number, merge_commit_sha }) => [number, merge_commit_sha]).reverse(), landed)
  const pushes = await client.listPushes(repository, 'main', {})
  assert.ok(pushes !== 'not_modified')
  assert.deepEqual(
    pushes.items.map(({ after, pusher }) => [after, pusher?.login]),
    [[direct.sha, 'ada']],
  )
})

test('approvals that were withdrawn no longer count', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('reviewed')
  const { stories } = fake
  stories.push(project)
  stories.push(project, { branch: 'cart', files: { a: 'x' } })
  const pull = stories.openPullRequest(project, { branch: 'cart' })
  const [request] = project.pullRequests
  const review = (by: string, state: 'approved' | 'changes_requested' | 'commented') =>
    stories.reviewPullRequest(project, pull, { by, state, body: 'Text' })
  const own = fake.stories as unknown as { dismissReview(...given: unknown[]): void }
  own.dismissReview(project, request, review('grace', 'approved'))
  review('grace', 'approved')
  review('lin', 'changes_requested')
  review('ada', 'commented')
  const found = await client.listReviews(repository, pull.number)
  assert.deepEqual(found.map(({ reviewer, state }) => [reviewer?.login, state]).sort(), [
    ['ada', 'commented'],
    ['grace', 'approved'],
    ['grace', 'dismissed'],
    ['lin', 'changes_requested'],
  ])
  const files = await client.listChangedFiles(repository, pull.number)
  assert.deepEqual(files, { paths: ['a'], complete: true })
})

test('commits have the result of their signature', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('signed')
  const base = fake.stories.push(project)
  const signatures = ['valid', 'unsigned', 'unknown_key']
  const shas = signatures.map((signature) => fake.stories.push(project, { signature }).sha)
  const compared = await client.compareCommits(repository, base.sha, shas.at(-1) as string)
  assert.deepEqual(
    compared?.commits.map(({ sha, signature }) => [sha, signature?.verified, signature?.reason]),
    [
      [shas[0], true, 'verified'],
      [shas[1], false, 'unsigned'],
      [shas[2], false, 'unverified'],
    ],
  )
  assert.equal(compared?.complete, true)
})

test('the rules of a branch come from several places; what may not be read makes them incomplete', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('protected')
  const rules = { approvals: 2, codeOwners: true, checks: ['scan'], signatures: true, mergeQueue: true }
  fake.stories.protectBranch(project, 'main', { ...rules, blocksForcePushes: true })
  assert.deepEqual(await client.readBranchRules(repository, 'main'), {
    requires_pull_request: true,
    required_approvals: 2,
    requires_code_owner_review: true,
    required_checks: ['scan'],
    requires_signatures: true,
    blocks_force_pushes: true,
    blocks_deletion: true,
    requires_merge_queue: true,
    complete: true,
  })
  fake.trouble.failing.set('GET /api/v4/projects/{id}/approval_rules', 403)
  assert.equal((await client.readBranchRules(repository, 'main'))?.complete, false)
  fake.trouble.failing.set('GET /api/v4/projects/{id}/protected_branches', 403)
  assert.equal(await client.readBranchRules(repository, 'main'), null)
  fake.trouble.failing.clear()
})

test('an edition without approvals and vulnerabilities says so', async () => {
  const { client, fake, addProject } = free
  const { project, repository } = await addProject('free')
  fake.stories.protectBranch(project, 'main', {})
  assert.equal((await client.readBranchRules(repository, 'main'))?.complete, true)
  fake.stories.openAlert(project, { type: 'dependabot' })
  const alerts = await client.listAlerts(repository, 'dependabot', {})
  assert.ok(alerts !== 'not_modified' && isDenied(alerts))
  fake.stories.addEnvironment(project, 'production', { ours: true })
  const environment = await client.readEnvironment(repository, 'production')
  assert.deepEqual([environment?.rule_types, environment?.custom_rules], [[], []])
  assert.equal(await client.readEnvironment(repository, 'none'), null)
})

test('approval rules that name our user are ours', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('gated')
  fake.stories.addEnvironment(project, 'production', { ours: true, reviewers: ['grace', '@security'] })
  const { id, login } = fake.world.program
  assert.deepEqual(await client.readEnvironment(repository, 'production'), {
    name: 'production',
    rule_types: ['required_reviewers', 'customRule'],
    reviewers: ['grace'],
    reviewer_teams: ['security'],
    custom_rules: [{ app_id: String(id), slug: login, is_own: true }],
  })
  fake.stories.push(project)
  const story = fake.stories.startRun(project, { jobs: JOBS }).finish('build')
  const pending = await client.listPendingDeployments(repository, String(story.id))
  assert.deepEqual(pending, [{ environment: 'production', reviewers: ['grace'], reviewer_teams: ['security'] }])
})

test('alerts contain what the report said, and no secret', async () => {
  const { client, fake, addProject } = open
  const { project, repository } = await addProject('alerts')
  fake.stories.push(project)
  const types = ['code_scanning', 'dependabot', 'secret_scanning'] as const
  const opened = types.map((type) => fake.stories.openAlert(project, { type, severity: 'critical' }))
  for (const [index, type] of types.entries()) {
    const page = await client.listAlerts(repository, type, {})
    assert.ok(page !== 'not_modified')
    assert.deepEqual([page.items.length, page.items[0]?.severity], [1, 'critical'])
    const { id } = opened[index] as (typeof project.alerts)[number]
    assert.deepEqual(await client.readAlert(repository, { type, number: id }), page.items[0])
    assert.doesNotMatch(JSON.stringify(page.items), /ghp_/)
  }
  const number = (opened[0] as (typeof project.alerts)[number]).id
  assert.equal(await client.readAlert(repository, { type: 'dependabot', number }), null)
})

for (const [text, fits] of [
  ['# Owners\n* @acme\n/docs/ @grace team@example.com\n*.ts @acme/web\n', true],
  ['[Docs]\n/docs/ @grace\n', false],
  ['^[Docs][2] @grace\n', false],
  ['/docs/ @@maintainer\n', false],
  ['docs/api @grace\n', false],
  ['docs/ @grace\n', true],
  ['!/docs/ \n', false],
] as const)
  test(`the owners ${JSON.stringify(text)} ${fits ? 'mean' : 'do not mean'} the same at GitHub`, () =>
    assert.equal(hasOneMeaning(text), fits))

test('everything that was asked is known', () => {
  for (const one of [open, free]) assert.deepEqual(one.fake.violations, [])
})
