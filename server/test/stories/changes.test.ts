import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findChange, type StoredChange } from '../../src/provenance/changes/change.store.ts'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { Commit, Repository } from '../support/hosts/types.ts'
import { listJobs } from '../support/queue.ts'
import { assertNothingFailed, nextSecond } from '../support/stories.ts'

let server: ConnectedServer
const shops = new Map<string, Repository>()
/** Pushed before the App was installed. The synchronization finds these pushes in its own time. */
const initial = new Set<string>()

before(async () => {
  server = await startConnectedServer()
  const { fake } = server
  for (const owner of ['acme', 'slow', 'twice']) {
    const shop = fake.addRepository(`${owner}/shop`)
    shops.set(owner, shop)
    initial.add(fake.push(shop).sha)
    await server.connect(owner)
  }
})
after(() => server?.close())

function shopOf(owner: string): Repository {
  return shops.get(owner) ?? assert.fail(`${owner} has no shop`)
}

/** A pull request is opened, approved, checked and merged. Returns the commit that landed. */
function mergePullRequest(repository: Repository, branch = 'cart'): Commit {
  const { fake } = server
  fake.push(repository, { branch, message: 'Fix the cart', files: { [`src/${branch}.ts`]: 'export {}\n' } })
  const pull = fake.openPullRequest(repository, { branch, title: 'Fix the cart' })
  fake.reviewPullRequest(repository, pull, { by: 'grace', state: 'approved' })
  fake.startRun(repository, { pullRequest: pull }).finish('build')
  return fake.merge(repository, pull)
}

/** The changes of a repository since its connection, in the order of their links. */
async function changesOf({ id }: Repository): Promise<StoredChange[]> {
  const rows = await server.sql<{ org_id: string; id: string }[]>`
    select org_id, id
    from changes
    where repository_id = ${String(id)}
    order by link_index`
  const found = await Promise.all(rows.map(({ org_id, id }) => findChange(server.sql, org_id, id)))
  return found.map((change) => change ?? assert.fail()).filter(({ merge_sha }) => !initial.has(merge_sha))
}

/** Waits until as many changes are recorded. */
function recorded(repository: Repository, count: number): Promise<StoredChange[]> {
  return server.until(
    () => changesOf(repository),
    (changes) => changes.length >= count,
  )
}

function runsOf(repository: Repository) {
  return server.fake.startRun(repository).finish('build')
}

test('a reviewed pull request lands, its checks finish, and its record says so; a late review amends it', async () => {
  const shop = shopOf('acme')
  const { fake } = server
  fake.protectBranch(shop, 'main', { approvals: 1, checks: ['build'] })
  const merged = mergePullRequest(shop)
  const run = runsOf(shop)
  const [reviewed] = await recorded(shop, 1)
  const record = reviewed?.record ?? assert.fail()
  assert.deepEqual(
    [record.landed_by, record.commits.merge, record.pull_request?.number, record.deviations],
    ['pull_request', merged.sha, 1, ['unsigned_commit']],
  )
  assert.deepEqual(
    record.reviews.map(({ reviewer, state, stale }) => [reviewer?.login, state, stale]),
    [['grace', 'approved', false]],
  )
  assert.deepEqual(
    record.runs.map(({ id, status }) => [id, status]),
    [[`gh_run_${run.id}`, 'success']],
  )
  assert.equal(record.branch_rules?.required_approvals, 1)
  await nextSecond(server)
  const [pull] = shop.pullRequests
  fake.reviewPullRequest(shop, pull ?? assert.fail(), { by: 'lin', state: 'changes_requested' })
  const amended = await server.until(
    async () => (await changesOf(shop)).find(({ id }) => id === reviewed?.id),
    (change) => (change?.amendments.length ?? 0) > 0,
  )
  assert.deepEqual(
    amended?.amendments.map(({ kind, facts }) => [kind, facts.review?.reviewer?.login]),
    [['review', 'lin']],
  )
  await server.settled()
  await assertNothingFailed(server)
})

test('a direct push and a merge queue are recorded as such', async () => {
  const shop = shopOf('acme')
  const { fake } = server
  const before = await changesOf(shop)
  await nextSecond(server)
  const pushed = fake.push(shop, { message: 'Hotfix' })
  runsOf(shop)
  const groups = ['one', 'two'].map((branch) => {
    fake.push(shop, { branch, files: { [`src/${branch}.ts`]: 'export {}\n' } })
    return fake.enqueue(shop, fake.openPullRequest(shop, { branch, title: branch }))
  })
  const last = groups.at(-1) ?? assert.fail()
  for (const { branch, head } of groups)
    fake.startRun(shop, { branch, sha: head.sha, event: 'merge_group' }).finish('build')
  await nextSecond(server)
  fake.mergeGroup(shop, last)
  const changes = (await recorded(shop, before.length + 3)).slice(before.length)
  assert.deepEqual(
    changes.map(({ record }) => [record?.landed_by, record?.commits.merge]).sort(),
    [['push', pushed.sha], ...groups.map(({ head }) => ['merge_queue', head.sha])].sort(),
  )
  await server.settled()
  assert.equal((await changesOf(shop)).length, before.length + 3)
  await assertNothingFailed(server)
})

test('deliveries that arrive twice and shuffled give one record for each landing', async () => {
  const shop = shopOf('twice')
  const { fake } = server
  fake.webhooks.hold()
  const merged = mergePullRequest(shop)
  runsOf(shop)
  await fake.webhooks.release({ twice: true, shuffle: 7 })
  await server.settled()
  const changes = await recorded(shop, 1)
  assert.deepEqual(
    changes.map(({ record }) => [record?.landed_by, record?.commits.merge]),
    [['pull_request', merged.sha]],
  )
  await assertNothingFailed(server)
})

test('a program that is killed while it records writes each record once, after it has started again', async () => {
  const shop = shopOf('slow')
  const { fake } = server
  const tried = async () =>
    (await listJobs(server.sql, 'provenance.record-changes')).filter(({ state }) => state === 'running').length
  fake.trouble.latencyMs = 300
  const merged = mergePullRequest(shop)
  runsOf(shop)
  await server.until(tried, (count) => count > 0)
  await server.restart('SIGKILL')
  fake.trouble.latencyMs = 0
  await recorded(shop, 1)
  await server.settled()
  const changes = await changesOf(shop)
  assert.deepEqual(
    changes.map(({ record }) => [record?.landed_by, record?.commits.merge]),
    [['pull_request', merged.sha]],
  )
  const { ok } = await server.command('provenance', 'verify')
  assert.equal(ok, true)
  await assertNothingFailed(server)
})

test('pull requests that landed before the connection are recorded from the lists of the host', async () => {
  const { fake } = server
  const shop = fake.addRepository('past/shop')
  fake.push(shop)
  const merged = mergePullRequest(shop)
  runsOf(shop)
  await server.connect('past')
  const [change] = await recorded(shop, 1)
  const record = change?.record ?? assert.fail()
  assert.deepEqual(
    [record.landed_by, record.commits.merge, record.reviews.length, record.runs.length],
    ['pull_request', merged.sha, 1, 1],
  )
  await assertNothingFailed(server)
})

test('a host that fails for what a record states does not prevent the record', async () => {
  const shop = shopOf('acme')
  const { fake } = server
  const before = await changesOf(shop)
  fake.trouble.failing.set('GET /repos/{owner}/{repo}/rules/branches/{branch}', 500)
  const merged = mergePullRequest(shop, 'later')
  runsOf(shop)
  const changes = await recorded(shop, before.length + 1)
  fake.trouble.failing.clear()
  const record = changes.find(({ record }) => record?.commits.merge === merged.sha)?.record ?? assert.fail()
  assert.deepEqual([record.branch_rules, record.commits.complete, record.reviews.length], [null, true, 1])
  await server.settled()
})
