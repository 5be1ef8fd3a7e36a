import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type FakeGitHub,
  type FakeGitHubOptions,
  startFakeGitHub,
} from '../../../../test/support/github/fake-github.ts'
import { systemClock } from '../../../platform/clock.ts'
import { createLog } from '../../../platform/log.ts'
import {
  type AppCredentials,
  type CodeHost,
  type HostClient,
  HostRefusal,
  HostUnavailable,
  type ListResult,
} from '../../code-host.ts'
import type { HostAlertType } from '../../host-alert.ts'
import type { HostEvent, HostEventKind, HostEvents } from '../../host-event.ts'
import type { HostRepository } from '../../host-repository.ts'
import { createGithubHost } from './host.ts'

const WORKFLOW = '.github/workflows/ci.yml'
const POLICIES = '.shiplock/policies'

type World = {
  fake: FakeGitHub
  codeHost: CodeHost
  client: HostClient
  /** acme/shop, in the fake and as we read it. */
  shop: ReturnType<FakeGitHub['addRepository']>
  repository: HostRepository
}

/** An installation of the App on one repository with a commit. */
async function startWorld(t: TestContext, options: FakeGitHubOptions = {}): Promise<World> {
  const fake = await startFakeGitHub(options)
  t.after(() => fake.close())
  const shop = fake.addRepository('acme/shop')
  const installation = fake.install('acme')
  fake.push(shop, { files: { [WORKFLOW]: 'on: push\n', [`${POLICIES}/a.yaml`]: 'name: a\n' } })
  const codeHost = hostOf(fake)
  const client = codeHost.open({ id: 'a connection', installation_id: String(installation.id), host: 'github.com' })
  const [repository] = itemsOf(await client.listRepositories({}))
  return { fake, codeHost, client, shop, repository: repository as HostRepository }
}

function hostOf(fake: FakeGitHub): CodeHost {
  const readCredentials = async (): Promise<AppCredentials> => {
    const { appId, privateKey, webhookSecret, apiUrl } = fake.settings
    return { app_id: String(appId), private_key: privateKey, webhook_secrets: [webhookSecret], api_url: apiUrl }
  }
  const pace = { timeLimitMs: 10_000, waitUnitMs: 1 }
  return createGithubHost({ readCredentials, log: createLog('silent'), clock: systemClock, pace })
}

function itemsOf<Item>(page: ListResult<Item>): Item[] {
  assert.notEqual(page, 'not_modified')
  return page === 'not_modified' ? [] : page.items
}

/** What the webhooks said about a kind of object, oldest first. */
function told<Kind extends HostEventKind>({ fake, codeHost }: World, kind: Kind): HostEvents[Kind][] {
  const events = fake.deliveries.flatMap(({ event, payload }): HostEvent[] => {
    const translated = codeHost.webhooks.translate(event, payload)
    return translated.type === 'events' ? translated.events : []
  })
  return events.flatMap((event) => (event.kind === kind ? [event.data as HostEvents[Kind]] : []))
}

test('a run and its jobs are the same in webhooks and in lists', async (t) => {
  const world = await startWorld(t)
  const { fake, client, shop, repository } = world
  const jobs = [{ name: 'build' }, { name: 'test', needs: ['build'] }]
  const run = fake.startRun(shop, { workflow: { name: 'CI', path: WORKFLOW }, jobs })
  run.finish('build').finish('test', 'failure', {
    annotations: [{ level: 'failure', message: 'Assertion', line: 3 }],
    log: 'one\ntwo\n',
  })
  fake.clock.advance(60)
  run.rerun('grace', { failedOnly: true }).finish('test')
  const runId = String(run.id)
  const [listed] = itemsOf(await client.listRuns(repository, { since: new Date(Date.now() - 86_400_000) }))
  assert.deepEqual(listed, told(world, 'run').at(-1))
  assert.deepEqual([listed?.attempt, listed?.status, listed?.triggering_actor?.login], [2, 'success', 'grace'])
  assert.deepEqual(await client.readRun(repository, runId), listed)
  const first = await client.readRun(repository, runId, 1)
  assert.deepEqual([first?.attempt, first?.status], [1, 'failure'])
  const firstJobs = await client.listJobs(repository, runId, 1)
  assert.deepEqual(
    firstJobs.map(({ name, status }) => [name, status]),
    [
      ['build', 'success'],
      ['test', 'failure'],
    ],
  )
  const failed = firstJobs[1]
  assert.ok(failed !== undefined && told(world, 'job').some((job) => job.id === failed.id && job.status === 'failure'))
  assert.deepEqual(
    failed.failed_steps.map(({ name }) => name),
    ['Run test'],
  )
  const [annotation] = await client.listAnnotations(repository, failed.id)
  assert.deepEqual([annotation?.level, annotation?.message, annotation?.line], ['error', 'Assertion', 3])
  assert.equal(await client.readJobLog(repository, failed.id, 4), 'two\n')
  assert.equal(await client.readRun(repository, '1'), null)
  assert.deepEqual(fake.violations, [])
})

test('commits are the same by REST and by GraphQL', async (t) => {
  const { fake, client, shop, repository } = await startWorld(t)
  fake.push(shop, { branch: 'change', author: 'grace' })
  const pull = fake.openPullRequest(shop, { branch: 'change', author: 'grace' })
  const merge = fake.merge(shop, pull)
  const shas = [...shop.commits.keys()]
  assert.ok(shas.length >= 3)
  const wanted = shas.map((sha) => ({ sha, workflow_path: WORKFLOW }))
  const queried = await client.readCommits(repository, wanted)
  assert.deepEqual(
    queried.map(({ sha }) => sha),
    shas,
  )
  const merged = queried.find(({ sha }) => sha === merge.sha)
  assert.equal(merged?.merged_pull_request?.number, pull.number)
  assert.match(merged?.workflow_blob ?? '', /^[0-9a-f]{40}$/)
  const file = { path: WORKFLOW, commit_sha: merge.sha, blob: merged?.workflow_blob ?? '' }
  assert.equal(await client.readFile(repository, file), 'on: push\n')
  fake.graphql.enabled = false
  const read = await client.readCommits(repository, wanted)
  assert.deepEqual(read.map(withoutName), queried.map(withoutName))
  assert.deepEqual(await client.readCommits(repository, wanted.slice(0, 1)), read.slice(0, 1))
  assert.deepEqual(fake.violations, [])
})

/** REST gives accounts without their names. */
function withoutName<Commit extends { author: object | null }>(commit: Commit) {
  return { ...commit, author: commit.author && { ...commit.author, name: null } }
}

test('pull requests, reviews and checks are the same in webhooks and in lists', async (t) => {
  const world = await startWorld(t)
  const { fake, client, shop, repository } = world
  const head = fake.push(shop, { branch: 'change', author: 'grace' })
  const pull = fake.openPullRequest(shop, { branch: 'change', author: 'grace' })
  fake.startRun(shop, { pullRequest: pull }).finish('build')
  const review = fake.reviewPullRequest(shop, pull, { by: 'ada', state: 'approved' })
  fake.merge(shop, pull)
  const merged = told(world, 'pull_request').at(-1)
  assert.deepEqual([merged?.state, merged?.merged_by?.login], ['merged', 'ada'])
  assert.deepEqual(await client.readPullRequest(repository, pull.number), merged)
  const [listed] = itemsOf(await client.listPullRequests(repository, {}))
  assert.deepEqual(listed, merged)
  fake.graphql.enabled = false
  assert.deepEqual(itemsOf(await client.listPullRequests(repository, {})), [merged])
  assert.deepEqual(await client.listReviews(repository, pull.number), told(world, 'review'))
  assert.equal(told(world, 'review')[0]?.id, String(review.id))
  assert.deepEqual(await client.listChecks(repository, head.sha), told(world, 'check').slice(-1))
  assert.deepEqual(
    told(world, 'run')[0]?.pull_requests.map(({ number }) => number),
    [pull.number],
  )
  assert.deepEqual(fake.violations, [])
})

const DEPLOY = { name: 'deploy', environment: 'production' }

test('a deployment waits for reviewers and for our rule, which is answered', async (t) => {
  const world = await startWorld(t)
  const { fake, client, shop, repository } = world
  fake.addUser('mona')
  fake.addEnvironment(shop, 'production', { reviewers: ['mona', '@release'], ours: true, apps: ['other-app'] })
  const run = fake.startRun(shop, { jobs: [DEPLOY] })
  const environment = await client.readEnvironment(repository, 'production')
  assert.deepEqual(environment?.rule_types, ['required_reviewers', 'customRule'])
  assert.deepEqual([environment?.reviewers, environment?.reviewer_teams], [['mona'], ['release']])
  assert.deepEqual(
    environment?.custom_rules.map(({ slug, is_own }) => [slug, is_own]),
    [
      ['shiplock', true],
      ['other-app', false],
    ],
  )
  assert.equal(await client.readEnvironment(repository, 'staging'), null)
  const [pending] = await client.listPendingDeployments(repository, String(run.id))
  assert.deepEqual(pending, { environment: 'production', reviewers: ['mona'], reviewer_teams: ['release'] })

  const [request] = told(world, 'gate_request')
  assert.deepEqual([request?.run?.id, request?.environment], [String(run.id), 'production'])
  const target = {
    repository,
    environment: 'production',
    run_id: String(run.id),
    callback_url: request?.callback_url ?? null,
    callback_secret: null,
  }
  await client.act({ type: 'comment', target, text: 'x'.repeat(2000) })
  await client.act({ type: 'decision', target, decision: 'approved', text: 'By key ci: all is well' })
  const answers = fake.ruleAnswers.map(({ state, comment, environment: name }) => [state, comment?.length, name])
  assert.deepEqual(answers, [
    [null, 1024, 'production'],
    ['approved', 22, 'production'],
  ])

  fake.review(run, 'production', 'approved', 'mona', 'Go')
  fake.answerOtherRule(run, 'production', 'other-app', 'approved')
  run.finish('deploy')
  const [review] = await client.listDeploymentReviews(repository, String(run.id))
  const reviewed = told(world, 'deployment_review').at(-1)
  assert.deepEqual({ ...review, at: null, run: review?.run.id }, { ...reviewed, at: null, run: reviewed?.run.id })
  await assert.rejects(client.act({ type: 'decision', target, decision: 'rejected', text: 'Late' }), HostRefusal)
  assert.deepEqual(fake.violations, [])
})

test('deployments and their states are the same in webhooks and in lists', async (t) => {
  const world = await startWorld(t)
  const { fake, client, shop, repository } = world
  const run = fake.startRun(shop, { jobs: [DEPLOY] })
  fake.clock.advance(5)
  run.start('deploy')
  fake.clock.advance(5)
  run.finish('deploy')
  const [listed] = itemsOf(await client.listDeployments(repository, {}))
  assert.ok(listed !== undefined)
  assert.equal(listed.run, null)
  const read = await client.listDeploymentStatuses(listed)
  const heard = told(world, 'deployment_status')
  assert.deepEqual(
    read.map(({ state }) => state),
    ['waiting', 'in_progress', 'success'],
  )
  // The list knows the run from the address of the log, but not its attempt.
  const comparable = (status: HostEvents['deployment_status']) => ({ ...status, deployment: status.deployment.run?.id })
  assert.deepEqual(read.map(comparable), heard.map(comparable))
  assert.deepEqual([read[0]?.deployment.run?.id, read[0]?.job_id], [String(run.id), String(run.job('deploy').id)])
  assert.deepEqual(fake.violations, [])
})

const DISMISSALS: [type: HostAlertType, reason: string, word: string][] = [
  ['code_scanning', 'used_in_tests', 'used in tests'],
  ['dependabot', 'no_capacity', 'no_bandwidth'],
  ['dependabot', 'a_new_reason', 'tolerable_risk'],
  ['secret_scanning', 'inaccurate', 'false_positive'],
  ['code_scanning', 'risk_accepted', "won't fix"],
  ['dependabot', 'mitigated', 'tolerable_risk'],
  ['secret_scanning', 'risk_accepted', 'wont_fix'],
  ['dependabot', 'no_bandwidth', 'no_bandwidth'],
]

test('alerts are listed and read, and our dismissals and reopenings arrive', async (t) => {
  const world = await startWorld(t)
  const { fake, client, shop, repository } = world
  for (const [type, reason, word] of DISMISSALS) {
    const alert = fake.openAlert(shop, { type })
    const { repository: _, ...name } = told(world, 'alert_change').at(-1) as HostEvents['alert_change']
    assert.deepEqual(name, { type, number: alert.number })
    const open = await client.readAlert(repository, name)
    assert.equal(open?.status, 'open')
    await client.act({ type: 'dismissal', repository, alert: name, reason, comment: 'x'.repeat(300) })
    const dismissed = await client.readAlert(repository, name)
    assert.deepEqual([dismissed?.status, dismissed?.dismissal?.reason], ['dismissed', word], `${type} ${reason}`)
    assert.equal(dismissed?.dismissal?.comment?.length, 280)
    const listed = itemsOf(await client.listAlerts(repository, type, {}))
    assert.deepEqual(
      listed.find(({ number }) => number === name.number),
      dismissed,
    )
    for (const _again of [1, 2]) await client.act({ type: 'reopening', repository, alert: name })
    assert.equal((await client.readAlert(repository, name))?.status, 'open')
  }
  const secret = fake.openAlert(shop, { type: 'secret_scanning' })
  await client.act({ type: 'dismissal', repository, alert: secret, reason: 'revoked', comment: null })
  assert.equal((await client.readAlert(repository, secret))?.status, 'fixed')
  assert.equal(await client.readAlert(repository, { type: 'dependabot', number: 99 }), null)
  assert.deepEqual(fake.violations, [])
})

test('lists go on after their first page, in another client too', async (t) => {
  const { fake, codeHost, client, shop, repository } = await startWorld(t)
  fake.webhooks.hold()
  for (let count = 0; count < 101; count += 1) {
    fake.openAlert(shop, { type: 'dependabot' })
    fake.startRun(shop)
  }
  const [installation] = fake.world.installations.keys()
  const other = () =>
    hostOf(fake).open({ id: 'a connection', installation_id: String(installation), host: 'github.com' })
  const since = new Date(Date.now() - 86_400_000)
  const lists = [
    (reader: HostClient, next?: string) => reader.listAlerts(repository, 'dependabot', next ? { next } : {}),
    (reader: HostClient, next?: string) => reader.listRuns(repository, next ? { since, next } : { since }),
  ]
  for (const list of lists) {
    const first = await list(client)
    assert.ok(first !== 'not_modified' && first.next !== null && first.etag !== null)
    const second = await list(other(), first.next)
    assert.ok(second !== 'not_modified' && second.next === null)
    assert.deepEqual([first.items.length, second.items.length], [100, 1])
  }
  const page = await client.listRuns(repository, { since })
  assert.ok(page !== 'not_modified' && page.etag !== null)
  assert.equal(await client.listRuns(repository, { since, etag: page.etag }), 'not_modified')
  assert.equal(await codeHost.host(), new URL(fake.apiUrl).host)
  assert.deepEqual(fake.violations, [])
})

test('a repository is read under its new name', async (t) => {
  const { fake, client, shop, repository } = await startWorld(t)
  const run = fake.startRun(shop)
  fake.rename(shop, 'store')
  assert.equal((await client.readRun(repository, String(run.id)))?.id, String(run.id))
  assert.equal((await client.readRepository(repository.id))?.full_name, 'acme/store')
  await client.act({
    type: 'commit_status',
    repository,
    commit_sha: [...shop.commits.keys()][0] as string,
    context: 'shiplock/policies',
    state: 'failure',
    description: 'd'.repeat(200),
    url: null,
  })
  assert.deepEqual(
    shop.statuses.map(({ state, description }) => [state, description?.length]),
    [['failure', 140]],
  )
  const checks = await client.listChecks(repository, shop.statuses[0]?.sha ?? '')
  const check = checks.find(({ id }) => id.startsWith('status_'))
  assert.deepEqual([check?.name, check?.status, check?.source], ['shiplock/policies', 'failure', 'commit_status'])
  assert.deepEqual(await client.listFolder(repository, POLICIES, 'main'), [
    { path: `${POLICIES}/a.yaml`, blob: (await client.listFolder(repository, POLICIES, 'main'))[0]?.blob },
  ])
  assert.equal((await client.readAccount('ada'))?.login, 'ada')
  assert.deepEqual(fake.violations, [])
})

test('a key that was rotated after its last use is read again', async (t) => {
  const { fake, repository } = await startWorld(t)
  const [installation] = fake.world.installations.values()
  const codeHost = hostOf(fake)
  await codeHost.host()
  fake.addKey()
  fake.revokeOldKeys()
  const client = codeHost.open({ id: 'a connection', installation_id: String(installation?.id), host: 'github.com' })
  assert.deepEqual(itemsOf(await client.listRuns(repository, {})), [])
})

test('a suspended installation is unavailable until it is no longer suspended', async (t) => {
  const { fake, repository } = await startWorld(t)
  const [installation] = fake.world.installations.values()
  assert.ok(installation !== undefined)
  const client = hostOf(fake).open({ id: 'a connection', installation_id: String(installation.id), host: 'github.com' })
  fake.suspend(installation)
  await assert.rejects(client.listRuns(repository, {}), HostUnavailable)
  fake.unsuspend(installation)
  assert.deepEqual(itemsOf(await client.listRuns(repository, {})), [])
})

test('installations are read, and lost deliveries are found and asked for again', async (t) => {
  const { fake, codeHost, shop } = await startWorld(t)
  const [installation] = fake.world.installations.values()
  assert.deepEqual(await codeHost.readInstallation(String(installation?.id), null), {
    id: String(installation?.id),
    account: { id: String(shop.owner.id), login: 'acme', type: 'Organization' },
    repositories: 'all',
    suspended: false,
    updated_at: installation?.updated_at,
  })
  assert.equal(await codeHost.readInstallation('1', null), null)
  fake.webhooks.url = 'http://127.0.0.1:1/'
  fake.webhooks.broken = true
  fake.push(shop)
  await fake.webhooks.settled()
  const failed = await codeHost.redeliveries?.listFailed(new Date(Date.now() - 3_600_000))
  assert.deepEqual(
    failed?.map(({ event }) => event),
    ['push'],
  )
  await codeHost.redeliveries?.repeat(failed?.[0]?.id ?? '')
  await fake.webhooks.settled()
  assert.equal(fake.deliveries.at(-1)?.tries.at(-1)?.redelivery, true)
  assert.deepEqual(fake.violations, [])
})

test('an Enterprise Server has its own paths', async (t) => {
  const { fake, client, shop, repository } = await startWorld(t, {
    basePath: '/api/v3',
    htmlUrl: 'https://git.example.com',
  })
  assert.equal(repository.host, 'git.example.com')
  const commits = [...shop.commits.keys()].flatMap((sha) => Array(3).fill({ sha, workflow_path: null }))
  assert.equal((await client.readCommits(repository, commits)).length, commits.length)
  assert.ok(!fake.requests.some((request) => request.includes('/commits/')), 'GraphQL is not used')
  assert.deepEqual(fake.violations, [])
})
