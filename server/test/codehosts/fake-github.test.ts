import assert from 'node:assert/strict'
import { createSign } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { afterEach, beforeEach, test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { DESCRIBED_WEBHOOKS } from '../support/github/described.ts'
import { type FakeGitHub, startFakeGitHub } from '../support/github/fake-github.ts'
import { type Receiver, startReceiver } from '../support/github/receiver.ts'
import type { Installation } from '../support/github/types.ts'
import type { MergeGroup, PullRequest, Repository } from '../support/hosts/types.ts'

let receiver: Receiver
let fake: FakeGitHub
let shop: Repository
let installation: Installation
let token: string

beforeEach(async () => {
  receiver = await startReceiver()
  fake = await startFakeGitHub({ webhookUrl: receiver.url })
  shop = fake.addRepository('acme/shop')
  installation = fake.install('acme')
  token = await installationToken()
})

afterEach(async () => {
  await fake.close()
  await receiver.close()
})

function appToken(privateKey = fake.settings.privateKey, claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'RS256', typ: 'JWT' },
    { iat: now - 30, exp: now + 500, iss: fake.settings.appId, ...claims },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

// biome-ignore lint/suspicious/noExplicitAny: answers are any JSON
type Answer = { status: number; body: any; headers: Headers }

async function call(
  path: string,
  options: { as?: string; method?: string; body?: object; headers?: object } = {},
): Promise<Answer> {
  const { as = token, method = 'GET', body, headers = {} } = options
  const answer = await fetch(new URL(path, `${fake.apiUrl}/`), {
    method,
    headers: { ...(as === '' ? {} : { authorization: `bearer ${as}` }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text, headers: answer.headers }
}

async function installationToken(): Promise<string> {
  const path = `${fake.apiUrl}/app/installations/${installation.id}/access_tokens`
  const { status, body } = await call(path, { as: appToken(), method: 'POST' })
  assert.equal(status, 201)
  return body.token
}

function events(): string[] {
  return fake.deliveries.map(({ event, action }) => (action === null ? event : `${event}.${action}`))
}

test('A push goes to production through its jobs and gates, and every message is as GitHub describes it', async () => {
  fake.addEnvironment(shop, 'production', {
    reviewers: ['grace', '@release'],
    ours: true,
    apps: ['other'],
    waitMinutes: 5,
  })
  const workflow = 'name: CI\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n'
  fake.push(shop, { files: { '.github/workflows/ci.yml': workflow } })
  fake.protectBranch(shop, 'main', { approvals: 1, checks: ['build'] })
  fake.push(shop, { branch: 'cart', message: 'Fix the cart', files: { 'src/cart.ts': 'export {}\n' } })
  const pull = fake.openPullRequest(shop, { branch: 'cart', title: 'Fix the cart' })
  fake.push(shop, { branch: 'cart', message: 'Fix it again' })
  const review = fake.reviewPullRequest(shop, pull, { by: 'grace', state: 'approved' })
  fake.dismissReview(shop, pull, review)
  fake.startRun(shop, { pullRequest: pull }).finish('build')
  const merged = fake.merge(shop, pull)
  const jobs = [{ name: 'build' }, { name: 'deploy', needs: ['build'], environment: 'production' }]
  const run = fake.startRun(shop, { jobs })
  run.start('build').finish('build')
  assert.equal(run.status, 'waiting')

  const pending = await call(`/repos/acme/shop/actions/runs/${run.id}/pending_deployments`)
  assert.equal(pending.body[0].environment.name, 'production')
  assert.deepEqual(
    pending.body[0].reviewers.map(({ type }: { type: string }) => type),
    ['User', 'Team'],
  )
  const path = `/repos/acme/shop/actions/runs/${run.id}/deployment_protection_rule`
  const comment = { environment_name: 'production', comment: 'Waits for a person' }
  assert.equal((await call(path, { method: 'POST', body: comment })).status, 204)
  const approved = { environment_name: 'production', state: 'approved', comment: 'Tests passed' }
  assert.equal((await call(path, { method: 'POST', body: approved })).status, 204)
  assert.equal((await call(path, { method: 'POST', body: approved })).status, 422)
  assert.deepEqual(
    fake.ruleAnswers.map(({ state }) => state),
    [null, 'approved'],
  )
  fake.endWait(run, 'production')
  fake.answerOtherRule(run, 'production', 'other', 'approved')
  assert.equal(run.status, 'waiting')
  fake.review(run, 'production', 'approved', 'grace', 'Go')
  run.start('deploy').finish('deploy')
  assert.equal(run.status, 'success')

  const deployments = await call(`/repos/acme/shop/deployments?environment=production`)
  assert.equal(deployments.body[0].sha, merged.sha)
  const statuses = await call(`/repos/acme/shop/deployments/${deployments.body[0].id}/statuses`)
  assert.deepEqual(
    statuses.body.map(({ state }: { state: string }) => state),
    ['success', 'in_progress', 'queued', 'waiting'],
  )
  const approvals = await call(`/repos/acme/shop/actions/runs/${run.id}/approvals`)
  assert.equal(approvals.body[0].user.login, 'grace')
  for (const path of [
    `/repos/acme/shop/environments`,
    `/repos/acme/shop/environments/production`,
    `/repos/acme/shop/environments/production/deployment_protection_rules`,
    `/repos/acme/shop/deployments/${deployments.body[0].id}`,
    `/repos/acme/shop/actions/runs`,
    `/repos/acme/shop/actions/runs/${run.id}`,
    `/repos/acme/shop/actions/runs/${run.id}/jobs`,
    `/repos/acme/shop/actions/runs/${run.id}/attempts/1`,
    `/repos/acme/shop/actions/runs/${run.id}/attempts/1/jobs`,
    `/repos/acme/shop/actions/jobs/${run.job('build').id}`,
    `/repos/acme/shop/check-runs/${run.job('build').id}`,
    `/repos/acme/shop/check-runs/${run.job('build').id}/annotations`,
    `/repos/acme/shop/commits/${merged.sha}`,
    `/repos/acme/shop/commits/${merged.sha}/pulls`,
    `/repos/acme/shop/commits/${merged.sha}/check-runs`,
    `/repos/acme/shop/pulls?state=all&sort=updated&direction=desc`,
    `/repos/acme/shop/pulls/1`,
    `/repos/acme/shop/pulls/1/reviews`,
    `/repos/acme/shop/pulls/1/commits`,
    `/repos/acme/shop/contents/.github/workflows`,
    `/repos/acme/shop/contents/.github/workflows/ci.yml?ref=${merged.sha}`,
    `/repos/acme/shop/rules/branches/main`,
    '/repos/acme/shop',
    '/users/ada',
    '/rate_limit',
    '/installation/repositories',
  ]) {
    const { status, body } = await call(path)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  }
  await fake.webhooks.settled()
  assert.equal(receiver.received.length, fake.deliveries.length)
  assert.ok(events().includes('deployment_protection_rule.requested'))
  assert.ok(events().includes('deployment_review.approved'))
  assert.deepEqual(fake.violations, [])
})

test('A rejected gate fails the job and the run; a bypass lets it go on; a newer success retires the older', () => {
  fake.addEnvironment(shop, 'production', { ours: true, branches: ['main'], reviewers: ['grace'] })
  fake.push(shop)
  const jobs = [{ name: 'deploy', environment: 'production' }]
  const rejected = fake.startRun(shop, { jobs })
  fake.review(rejected, 'production', 'rejected', 'grace', 'No')
  assert.equal(rejected.status, 'failure')
  assert.equal(rejected.deployment('deploy').statuses.at(-1)?.state, 'failure')

  const bypassed = fake.startRun(shop, { jobs })
  fake.bypass(bypassed, 'production', 'root', 'Incident')
  bypassed.finish('deploy')
  const again = bypassed.rerun('lin')
  fake.bypass(again, 'production', 'root')
  again.finish('deploy')
  const states = shop.deployments.map(({ statuses }) => statuses.at(-1)?.state)
  assert.deepEqual(states, ['success', 'inactive', 'failure'])

  fake.push(shop, { branch: 'cart' })
  const refused = fake.startRun(shop, { branch: 'cart', jobs })
  assert.equal(refused.status, 'failure')
  assert.match(refused.job('deploy').annotations[0]?.message ?? '', /is not allowed to deploy to production/)
  assert.deepEqual(fake.violations, [])
})

test('A failed job skips what needs it, has annotations and a log, and runs again as a new attempt', async () => {
  fake.push(shop)
  const run = fake.startRun(shop, { jobs: [{ name: 'build' }, { name: 'test', needs: ['build'] }, { name: 'lint' }] })
  run.finish('lint')
  run.finish('build', 'failure', {
    annotations: [{ level: 'failure', message: 'Type error', path: 'src/cart.ts', line: 3 }],
    log: 'error TS2322\n',
  })
  assert.equal(run.status, 'failure')
  assert.equal(run.job('test').conclusion, 'skipped')
  const { id } = run.job('build')
  assert.equal((await call(`/repos/acme/shop/actions/jobs/${id}/logs`)).body, 'error TS2322\n')
  assert.equal((await call(`/repos/acme/shop/check-runs/${id}/annotations`)).body[0].message, 'Type error')
  run.rerun('lin', { failedOnly: true }).finish('build').finish('test')
  assert.equal(run.status, 'success')
  const { body } = await call(`/repos/acme/shop/actions/runs/${run.id}`)
  assert.equal(body.run_attempt, 2)
  assert.equal(body.triggering_actor.login, 'lin')
  assert.equal((await call(`/repos/acme/shop/actions/runs/${run.id}/attempts/1`)).body.conclusion, 'failure')
  fake.startRun(shop, { jobs: [{ name: 'build' }] }).cancel()
  assert.deepEqual(fake.violations, [])
})

test('Alerts of the three kinds are opened, fixed, reopened and dismissed on either side', async () => {
  fake.push(shop)
  const paths = { code_scanning: 'code-scanning', dependabot: 'dependabot', secret_scanning: 'secret-scanning' }
  const bodies = {
    code_scanning: { state: 'dismissed', dismissed_reason: 'false positive', dismissed_comment: 'Escaped' },
    dependabot: { state: 'dismissed', dismissed_reason: 'not_used', dismissed_comment: 'Unused' },
    secret_scanning: { state: 'resolved', resolution: 'revoked', resolution_comment: 'Revoked' },
  }
  for (const type of ['code_scanning', 'dependabot', 'secret_scanning'] as const) {
    const alert = fake.openAlert(shop, { type })
    if (type !== 'secret_scanning') fake.fixAlert(alert)
    if (type !== 'secret_scanning') fake.reopenAlert(alert)
    const path = `/repos/acme/shop/${paths[type]}/alerts`
    const changed = await call(`${path}/1`, { method: 'PATCH', body: bodies[type] })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    assert.equal(alert.state, 'dismissed')
    assert.equal((await call(path)).body.length, 1)
    assert.equal((await call(`${path}/1`)).status, 200)
    assert.equal((await call(`${path}?state=open`)).body.length, 0)
    fake.reopenAlert(alert)
  }
  assert.equal((await call('/repos/acme/shop/secret-scanning/alerts/1/locations')).status, 200)
  assert.deepEqual(fake.violations, [])
  assert.ok(events().includes('secret_scanning_alert.resolved'))
})

test('Repositories and installations change, and requests follow a renamed repository', async () => {
  fake.rename(shop, 'store')
  const moved = await call('/repos/acme/shop', { headers: {} })
  assert.equal(moved.body.full_name, 'acme/store')
  assert.equal((await call(`/repositories/${shop.id}`)).body.id, shop.id)
  assert.equal((await call('/repos/acme/store/installation', { as: appToken() })).body.id, installation.id)
  fake.archive(shop)
  fake.unarchive(shop)
  fake.setVisibility(shop, 'public')
  fake.setDefaultBranch(shop, 'trunk')
  fake.suspend(installation)
  assert.equal((await call('/repos/acme/store')).status, 403)
  fake.unsuspend(installation)
  const other = fake.addRepository('umbrella/lab')
  const elsewhere = fake.install('umbrella', [other])
  fake.transfer(shop, 'umbrella')
  assert.equal((await call(`/repositories/${shop.id}`)).status, 404)
  fake.delete(other)
  fake.uninstall(installation)
  assert.equal((await call('/installation/repositories')).status, 401)
  const as = appToken()
  const lasting = `/app/installations/${elsewhere.id}`
  for (const path of ['/app', '/app/installations', lasting, '/app/hook/deliveries', '/app/hook/config']) {
    assert.equal((await call(path, { as })).status, 200, path)
  }
  assert.deepEqual(fake.violations, [])
})

test('Only tokens that a current key signed recently are accepted', async () => {
  const now = Math.floor(Date.now() / 1000)
  assert.equal((await call('/app', { as: appToken() })).status, 200)
  assert.equal((await call('/app', { as: appToken(undefined, { exp: now - 1 }) })).status, 401)
  assert.equal((await call('/app', { as: appToken(undefined, { iat: now + 60 }) })).status, 401)
  assert.equal((await call('/app', { as: appToken(undefined, { exp: now + 700 }) })).status, 401)
  assert.equal((await call('/app', { as: token })).status, 401)
  assert.equal((await call('/repos/acme/shop', { as: appToken() })).status, 403)
  const old = fake.settings.privateKey
  const next = fake.addKey()
  assert.equal((await call('/app', { as: appToken(old) })).status, 200)
  fake.revokeOldKeys()
  assert.equal((await call('/app', { as: appToken(old) })).status, 401)
  assert.equal((await call('/app', { as: appToken(next) })).status, 200)
  assert.equal((await call('/repos/acme/shop')).status, 401)
  const { body } = await call(`/app-manifests/${fake.confirmManifest({ name: 'Ours' })}/conversions`, {
    as: '',
    method: 'POST',
  })
  assert.equal(body.name, 'Ours')
  assert.deepEqual(fake.violations, [])
})

test('Lists have pages, cursors and versions', async () => {
  fake.push(shop)
  for (let count = 0; count < 3; count += 1) fake.startRun(shop).finish('build')
  const first = await call('/repos/acme/shop/actions/runs?per_page=2')
  assert.equal(first.body.total_count, 3)
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] as string
  assert.equal((await call(next)).body.workflow_runs.length, 1)
  const etag = first.headers.get('etag') as string
  assert.equal(
    (await call('/repos/acme/shop/actions/runs?per_page=2', { headers: { 'if-none-match': etag } })).status,
    304,
  )
  assert.equal((await call('/repos/acme/shop/actions/runs?created=>=2999-01-01')).body.total_count, 0)
  for (let count = 0; count < 3; count += 1) fake.openAlert(shop, { type: 'dependabot' })
  const alerts = await call('/repos/acme/shop/dependabot/alerts?per_page=2')
  const after = /<([^>]+)>; rel="next"/.exec(alerts.headers.get('link') ?? '')?.[1] as string
  assert.equal((await call(after)).body[0].number, 1)
  assert.deepEqual(fake.violations, [])
})

test('Deliveries are signed, can be held, shuffled, doubled and lost, and are sent again on request', async () => {
  fake.push(shop)
  await fake.webhooks.settled()
  const { body, headers } = receiver.received.at(-1) as { body: string; headers: IncomingHttpHeaders }
  assert.ok(await verify(fake.settings.webhookSecret, body, String(headers['x-hub-signature-256'])))
  receiver.received.length = 0
  fake.webhooks.hold()
  for (let count = 0; count < 10; count += 1) fake.push(shop, { message: String(count) })
  assert.equal(receiver.received.length, 0)
  await fake.webhooks.release({ shuffle: 7, twice: true, lose: 0.5 })
  const ids = receiver.received.map((one) => String(one.headers['x-github-delivery']))
  const lost = 10 - new Set(ids).size
  assert.ok(lost > 0 && lost < 10)
  assert.equal(ids.length, 2 * (10 - lost))
  const as = appToken()
  const failed = await call('/app/hook/deliveries?status=failure', { as })
  assert.equal(new Set(failed.body.map(({ guid }: { guid: string }) => guid)).size, lost)
  for (const { id } of failed.body) {
    assert.equal((await call(`/app/hook/deliveries/${id}/attempts`, { as, method: 'POST' })).status, 202)
  }
  await fake.webhooks.settled()
  assert.equal(new Set(receiver.received.map((one) => one.headers['x-github-delivery'])).size, 10)
  assert.equal((await call(`/app/hook/deliveries/${failed.body[0].id}`, { as })).status, 200)
  assert.deepEqual(fake.violations, [])
})

test('Deliveries older than three days are gone, forgotten events are never listed, and a blocked repository is named', async () => {
  const as = appToken()
  fake.webhooks.forgotten.add('push')
  fake.push(shop)
  await fake.webhooks.settled()
  const listed = async () => (await call('/app/hook/deliveries?per_page=100', { as })).body
  const before = await listed()
  assert.ok(before.length > 0 && before[0].event !== 'push')
  fake.webhooks.forgotten.clear()
  fake.world.clock.advance(4 * 24 * 60 * 60)
  assert.deepEqual(await listed(), [])
  assert.equal(
    (await call(`/app/hook/deliveries/${before[0].id}/attempts`, { as: appToken(), method: 'POST' })).status,
    404,
  )
  fake.block(shop, 451)
  const blocked = await call('/repos/acme/shop/pulls')
  assert.deepEqual([blocked.status, blocked.body.message], [451, 'Repository access blocked'])
  fake.block(shop, null)
  assert.equal((await call('/repos/acme/shop/pulls')).status, 200)
  assert.deepEqual(fake.violations, [])
})

test('Requests that GitHub does not describe are answered 501 and remembered', async () => {
  assert.equal((await call('/repos/acme/shop/pulls?colour=red')).status, 501)
  assert.equal((await call('/repos/acme/shop/nonsense')).status, 501)
  assert.equal((await call('/repos/acme/shop', { method: 'DELETE' })).status, 501)
  const sha = fake.push(shop).sha
  assert.equal((await call(`/repos/acme/shop/statuses/${sha}`, { method: 'POST', body: { context: 'x' } })).status, 501)
  assert.equal(fake.violations.length, 4)
  const body = { state: 'success', context: 'shiplock', description: 'Fine' }
  assert.equal((await call(`/repos/acme/shop/statuses/${sha}`, { method: 'POST', body })).status, 201)
  assert.equal((await call(`/repos/acme/shop/commits/main/status`)).body.state, 'success')
  assert.equal((await call(`/repos/acme/shop/commits/main/statuses`)).body.length, 1)
  assert.equal(fake.violations.length, 4)
})

test('GitHub can be down, limit requests and cut answers', async () => {
  fake.trouble.down = 'error'
  assert.equal((await call('/repos/acme/shop')).status, 503)
  fake.trouble.down = 'refuse'
  await assert.rejects(call('/repos/acme/shop'))
  fake.trouble.down = null
  fake.trouble.primaryLimited = 1
  const limited = await call('/repos/acme/shop')
  assert.equal(limited.status, 403)
  assert.equal(limited.headers.get('x-ratelimit-remaining'), '0')
  fake.trouble.limited = 1
  assert.equal((await call('/repos/acme/shop')).headers.get('retry-after'), '1')
  fake.trouble.cutAnswers = 1
  await assert.rejects(call('/repos/acme/shop'))
  fake.trouble.failing.set('GET /repos/{owner}/{repo}', 404)
  assert.equal((await call('/repos/acme/shop')).status, 404)
  fake.trouble.failing.clear()
  assert.equal((await call('/repos/acme/shop')).status, 200)
})

test('GraphQL answers for many commits at once', async () => {
  const file = '.github/workflows/ci.yml'
  const { sha } = fake.push(shop, { author: 'ada', files: { [file]: 'on: push\n' } })
  const query = `query($owner: String!, $name: String!, $path: String!) {
    repository(owner: $owner, name: $name) {
      c0: object(oid: "${sha}") { ... on Commit {
        oid message author { user { databaseId login avatarUrl url } }
        associatedPullRequests(first: 1) { nodes { number url mergeCommit { oid } } }
        file(path: $path) { object { oid ... on Blob { text } } }
      } }
      c1: object(oid: "${'0'.repeat(40)}") { ... on Commit { oid } }
    }
  }`
  const variables = { owner: 'acme', name: 'shop', path: file }
  const { body } = await call('/graphql', { method: 'POST', body: { query, variables } })
  assert.equal(body.data.repository.c0.author.user.login, 'ada')
  assert.equal(body.data.repository.c0.file.object.text, 'on: push\n')
  assert.equal(body.data.repository.c1, null)
  const blob = await call(`/repos/acme/shop/git/blobs/${body.data.repository.c0.file.object.oid}`)
  assert.equal(Buffer.from(blob.body.content, 'base64').toString(), 'on: push\n')
  fake.graphql.enabled = false
  assert.equal((await call('/graphql', { method: 'POST', body: { query, variables } })).status, 501)
  assert.deepEqual(fake.violations, [])
})

const commitShas = ({ body }: Answer) => body.map(({ sha }: { sha: string }) => sha)

for (const method of ['merge', 'squash', 'rebase'] as const) {
  test(`A pull request that is merged by ${method} lands on its base branch`, async () => {
    fake.push(shop, { files: { 'README.md': 'Shop\n', 'old.ts': 'moved\n' } })
    const files = { 'src/cart.ts': 'export {}\n', 'new.ts': 'moved\n', 'old.ts': null }
    const first = fake.push(shop, { branch: 'cart', author: 'grace', signature: 'valid', files })
    const second = fake.push(shop, { branch: 'cart', author: null, files: { 'README.md': 'Cart\n' } })
    const pull = fake.openPullRequest(shop, { branch: 'cart', title: 'Fix the cart', author: 'grace' })
    const before = fake.push(shop, { files: { 'other.ts': 'other\n' } })
    const landed = fake.merge(shop, pull, 'lin', method)
    const commits = await call('/repos/acme/shop/pulls/1/commits')
    assert.deepEqual(commitShas(commits), [first.sha, second.sha])
    assert.deepEqual(
      commits.body.map(({ author, commit }: Answer['body']) => [author?.login, commit.verification.reason]),
      [
        ['grace', 'valid'],
        [undefined, 'unsigned'],
      ],
    )
    const changed = await call('/repos/acme/shop/pulls/1/files')
    assert.deepEqual(
      changed.body.map((file: Answer['body']) => [file.filename, file.status, file.previous_filename]),
      [
        ['README.md', 'modified', undefined],
        ['new.ts', 'renamed', 'old.ts'],
        ['src/cart.ts', 'added', undefined],
      ],
    )
    assert.deepEqual([...landed.files.keys()].sort(), ['README.md', 'new.ts', 'other.ts', 'src/cart.ts'])
    const compared = await call(`/repos/acme/shop/compare/${before.sha}...main?per_page=1`)
    const added = { merge: 3, squash: 1, rebase: 2 }[method]
    assert.equal(compared.body.total_commits, added)
    assert.equal(compared.headers.get('link')?.includes('rel="next"') ?? false, added > 1)
    const { body } = await call(`/repos/acme/shop/commits/${landed.sha}`)
    assert.deepEqual(
      [body.parents.length, body.author?.login ?? null, body.committer.login, body.commit.verification.verified],
      {
        merge: [2, 'lin', 'web-flow', true],
        squash: [1, 'grace', 'web-flow', true],
        rebase: [1, null, 'lin', false],
      }[method],
    )
    assert.deepEqual(fake.violations, [])
  })
}

test('A merge queue merges several pull requests by one push', async () => {
  fake.push(shop)
  const pulls = ['cart', 'search', 'login'].map((branch) => {
    fake.push(shop, { branch, files: { [`${branch}.ts`]: 'export {}\n' } })
    return fake.openPullRequest(shop, { branch })
  }) as [PullRequest, PullRequest, PullRequest]
  const left = fake.enqueue(shop, pulls[2])
  const first = fake.enqueue(shop, pulls[0])
  fake.enqueue(shop, pulls[1], 'grace', 'squash')
  fake.dequeue(shop, left)
  const second = shop.mergeQueue.at(-1) as MergeGroup
  assert.notEqual(shop.mergeQueue[0]?.head.sha, first.head.sha)
  fake.startRun(shop, { event: 'merge_group', branch: second.branch, sha: second.head.sha }).finish('build')
  const landed = fake.mergeGroup(shop, second)
  assert.deepEqual([...landed.files.keys()], ['cart.ts', 'search.ts'])
  assert.equal(shop.refs.get('refs/heads/main'), landed.sha)
  assert.deepEqual(
    pulls.map(({ merged_by }) => merged_by?.login),
    ['github-merge-queue[bot]', 'github-merge-queue[bot]', undefined],
  )
  const { body } = await call('/repos/acme/shop/activity?ref=main&per_page=1')
  assert.deepEqual([body[0].activity_type, body[0].after], ['merge_queue_merge', landed.sha])
  assert.equal((await call(`/repos/acme/shop/commits/${landed.sha}/check-runs`)).body.total_count, 1)
  assert.deepEqual(fake.violations, [])
})

test('Computed repositories have pages of runs, deployments and alerts', async () => {
  const bulk = await startFakeGitHub({
    bulk: { repositories: 1000, runsPerRepository: 100, deploymentsPerRepository: 5, alertsPerRepository: 6 },
  })
  const known = fake
  fake = bulk
  try {
    installation = [...bulk.world.installations.values()][0] as Installation
    token = await installationToken()
    const page = await call('/installation/repositories?per_page=100&page=10')
    assert.equal(page.body.repositories[99].full_name, 'bulk/repository-1000')
    const runs = await call('/repos/bulk/repository-1000/actions/runs?per_page=100')
    assert.equal(runs.body.workflow_runs.length, 100)
    const { id, head_sha } = runs.body.workflow_runs[99]
    assert.equal((await call(`/repositories/1000/actions/runs/${id}/attempts/1/jobs`)).body.jobs.length, 1)
    assert.equal((await call(`/repos/bulk/repository-1000/commits/${head_sha}`)).body.sha, head_sha)
    assert.equal((await call('/repos/bulk/repository-7/deployments')).body.length, 5)
    assert.equal((await call('/repos/bulk/repository-7/dependabot/alerts')).body.length, 2)
  } finally {
    fake = known
    await bulk.close()
  }
})

test('Every webhook that the fake knows is sent, and fits its description', () => {
  const lab = fake.addRepository('acme/lab')
  fake.addEnvironment(shop, 'production', { reviewers: ['grace'], ours: true })
  fake.push(shop, { author: null })
  fake.push(shop, { branch: 'cart' })
  const pull = fake.openPullRequest(shop, { branch: 'cart', draft: true })
  fake.push(shop, { branch: 'cart', forced: true })
  fake.retitle(shop, pull, 'Another title')
  fake.closePullRequest(shop, pull)
  fake.reopenPullRequest(shop, pull)
  fake.dequeue(shop, fake.enqueue(shop, pull))
  fake.dismissReview(shop, pull, fake.reviewPullRequest(shop, pull, { by: 'grace', state: 'changes_requested' }))
  const jobs = [{ name: 'build' }, { name: 'deploy', needs: ['build'], environment: 'production' }]
  const run = fake.startRun(shop, { jobs, pullRequest: pull }).finish('build')
  fake.review(run, 'production', 'rejected', 'grace')
  run.rerun('lin', { failedOnly: true })
  fake.review(run, 'production', 'approved', 'grace')
  const deployment = fake.createDeployment(shop, { environment: 'staging', sha: pull.head.sha })
  fake.setDeploymentState(deployment, 'success')
  for (const type of ['code_scanning', 'dependabot', 'secret_scanning'] as const) {
    const alert = fake.openAlert(shop, { type })
    if (type !== 'secret_scanning') fake.fixAlert(alert)
    if (type !== 'secret_scanning') fake.reopenAlert(alert)
    fake.dismissAlert(
      alert,
      type === 'dependabot' ? 'tolerable_risk' : type === 'code_scanning' ? "won't fix" : 'revoked',
    )
    fake.reopenAlert(alert)
  }
  fake.rename(lab, 'laboratory')
  fake.archive(lab)
  fake.unarchive(lab)
  fake.setVisibility(lab, 'public')
  fake.setVisibility(lab, 'private')
  fake.setDefaultBranch(lab, 'trunk')
  const other = fake.install('umbrella', [])
  fake.transfer(lab, 'umbrella')
  fake.changeSelection(other, { add: [lab] })
  fake.transfer(lab, 'acme')
  fake.delete(lab)
  fake.suspend(installation)
  fake.push(shop)
  fake.unsuspend(installation)
  fake.acceptPermissions(installation)
  fake.renameAccount(installation, 'acme-corp')
  fake.uninstall(installation)
  fake.ping()
  const sent = new Set(events().map((name) => name.replaceAll(/[._]/g, '-')))
  assert.deepEqual(
    DESCRIBED_WEBHOOKS.filter((name) => !sent.has(name)),
    [],
  )
  assert.deepEqual(fake.violations, [])
})

test('Answers and payloads that do not fit the description are remembered', async () => {
  shop.archived = 'no' as never
  fake.push(shop)
  assert.match(fake.violations.join(), /^webhook push: body\/repository\/archived must be boolean/)
  assert.equal((await call('/repos/acme/shop')).status, 200)
  assert.match(fake.violations.at(-1) ?? '', /^GET \/repos\/\{owner\}\/\{repo\}: answer 200 .*archived must be boolean/)
})

test('Reviewers, timers and Apps each hold a deployment until all have approved', () => {
  fake.addEnvironment(shop, 'production', { reviewers: ['grace'], apps: ['other'], waitMinutes: 10 })
  fake.push(shop)
  const run = fake.startRun(shop, { jobs: [{ name: 'deploy', environment: 'production' }] })
  assert.throws(() => run.start('deploy'), /waiting/)
  fake.review(run, 'production', 'approved', 'grace')
  assert.throws(() => fake.review(run, 'production', 'approved', 'lin'), /does not wait for reviewers/)
  fake.endWait(run, 'production')
  assert.throws(() => run.start('deploy'), /waiting/)
  fake.answerOtherRule(run, 'production', 'other', 'approved')
  run.start('deploy')
  assert.deepEqual(
    run.deployment('deploy').statuses.map(({ state }) => state),
    ['waiting', 'queued', 'in_progress'],
  )
})

test('Whatever happens to a run, its webhooks and answers fit their descriptions', async () => {
  const conclusions = ['success', 'failure', 'cancelled', 'timed_out', 'skipped', 'neutral', 'action_required'] as const
  const rules = {
    reviewers: fc.subarray(['grace', '@release']),
    ours: fc.boolean(),
    apps: fc.subarray(['other']),
    waitMinutes: fc.constantFrom(0, 5),
  }
  const steps = fc.array(fc.record({ pick: fc.nat(), conclusion: fc.constantFrom(...conclusions) }), { maxLength: 12 })
  const property = fc.asyncProperty(fc.record(rules), steps, fc.boolean(), async (environment, ends, ofPullRequest) => {
    fake.violations.length = 0
    fake.addEnvironment(shop, 'production', environment)
    fake.push(shop, { branch: 'cart' })
    const pullRequest = fake.openPullRequest(shop, { branch: 'cart' })
    const jobs = [{ name: 'build' }, { name: 'lint' }, { name: 'deploy', needs: ['build'], environment: 'production' }]
    const run = fake.startRun(shop, { jobs, branch: 'cart', ...(ofPullRequest ? { pullRequest } : {}) })
    for (const { pick, conclusion } of ends) {
      const open = jobs
        .map(({ name }) => run.job(name))
        .filter(({ status }) => status !== 'completed' && status !== null)
      const job = open[pick % open.length]
      if (job === undefined) run.rerun('lin', { failedOnly: pick % 2 === 0 })
      else if (job.status === 'waiting') fake.bypass(run, 'production', 'root')
      else if (pick % 11 === 10) run.cancel()
      else if (pick % 3 === 0 && job.status === 'queued') run.start(job.name)
      else run.finish(job.name, conclusion)
    }
    for (const path of ['', '/jobs?filter=all', '/pending_deployments', '/approvals']) {
      assert.equal((await call(`/repos/acme/shop/actions/runs/${run.id}${path}`)).status, 200)
    }
    assert.equal((await call('/repos/acme/shop/deployments')).status, 200)
    assert.deepEqual(fake.violations, [])
  })
  await fc.assert(property, { numRuns: 40 })
})

test('An Enterprise Server has its API below a path', async () => {
  const server = await startFakeGitHub({ basePath: '/api/v3', htmlUrl: 'https://git.example.com' })
  const known = fake
  fake = server
  try {
    fake.addRepository('acme/shop')
    installation = fake.install('acme')
    token = await installationToken()
    assert.equal((await call(`${fake.apiUrl}/repos/acme/shop`)).body.html_url, 'https://git.example.com/acme/shop')
    const query =
      '{ repository(owner: "acme", name: "shop") { ...facts } } fragment facts on Repository { nameWithOwner }'
    const graph = new URL('/api/graphql', fake.apiUrl).href
    assert.equal(
      (await call(graph, { method: 'POST', body: { query } })).body.data.repository.nameWithOwner,
      'acme/shop',
    )
    fake.addRepository('acme/lab')
    const pages = await call(`${fake.apiUrl}/installation/repositories?per_page=1`)
    const next = /<([^>]+)>; rel="next"/.exec(pages.headers.get('link') ?? '')?.[1] as string
    assert.equal((await call(next)).body.repositories[0].name, 'lab')
    assert.deepEqual(fake.violations, [])
  } finally {
    fake = known
    await server.close()
  }
})
