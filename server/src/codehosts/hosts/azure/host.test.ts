import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type FakeAzure, type FakeAzureOptions, startFakeAzure } from '../../../../test/support/azure/fake-azure.ts'
import type { Repository } from '../../../../test/support/hosts/types.ts'
import { systemClock } from '../../../platform/clock.ts'
import { createLog } from '../../../platform/log.ts'
import {
  type CodeHost,
  type HostClient,
  type HostCredentials,
  HostRefusal,
  HostUnavailable,
  type ListResult,
} from '../../code-host.ts'
import type { HostAlert } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRun } from '../../host-run.ts'
import { createAzureHost } from './host.ts'

const CONNECTION = '0198a000-0000-7000-8000-000000000001'
const TENANT = '11111111-2222-4333-8444-555555555555'
const sealingKey = createSecretKey(randomBytes(32))

type Setting = {
  fake: FakeAzure
  host: CodeHost
  client: HostClient
  shop: Repository
  repository: HostRepository
  credentials: { current: HostCredentials | null }
}

async function setUp(t: TestContext, options: FakeAzureOptions = {}): Promise<Setting> {
  const fake = await startFakeAzure(options)
  t.after(() => fake.close())
  const shop = fake.stories.addRepository('acme/shop') as Repository
  fake.stories.push(shop, { files: { '.shiplock/policies/a.yaml': 'name: a', 'README.md': '# Shop' } })
  const secret = fake.state.credentials.add(shop.owner)
  const principal = { client_id: fake.state.credentials.clientId, client_secret: secret, tenant_id: TENANT }
  const credentials: Setting['credentials'] = {
    current: options.principal ? { type: 'client', ...principal } : { type: 'token', token: secret },
  }
  const host = createAzureHost({
    url: fake.url,
    entraUrl: fake.url,
    readCredentials: async () => credentials.current,
    sealingKey,
    log: createLog('silent'),
    clock: systemClock,
    pace: { timeLimitMs: 10_000, waitUnitMs: 1 },
  })
  const client = host.open({ id: CONNECTION, installation_id: shop.owner.uuid, host: await host.host() })
  const repository = await client.readRepository(shop.uuid)
  assert.ok(repository)
  return { fake, host, client, shop, repository, credentials }
}

test('an organization is found by its name and by its id', async (t) => {
  const { host, shop, credentials } = await setUp(t)
  const found = {
    id: shop.owner.uuid,
    account: { id: shop.owner.uuid, login: 'acme', type: 'Organization' },
    repositories: 'all',
    suspended: false,
  }
  assert.deepEqual(await host.readInstallation('acme', credentials.current), found)
  assert.deepEqual(await host.readInstallation(shop.owner.uuid, credentials.current), found)
  assert.equal(await host.readInstallation('nobody', credentials.current), null)
})

test('400 invalid_credentials: the sign-in page answers a token that is not known', async (t) => {
  const { host } = await setUp(t)
  const refused = host.readInstallation('acme', { type: 'token', token: 'wrong' })
  await assert.rejects(refused, { status: 400, code: 'invalid_credentials' })
  const client = { type: 'client', client_id: 'x', client_secret: 'wrong', tenant_id: TENANT } as const
  await assert.rejects(host.readInstallation('acme', client), { status: 400, code: 'invalid_credentials' })
  const nowhere = { ...client, tenant_id: null }
  await assert.rejects(host.readInstallation('acme', nowhere), { status: 400, code: 'invalid_credentials' })
})

test('the token of a service principal is renewed when it is refused', async (t) => {
  const { fake, client, shop } = await setUp(t, { principal: true })
  fake.state.credentials.expireTokens()
  assert.equal((await client.readRepository(shop.uuid))?.full_name, 'acme/acme products/shop')
  const asked = fake.requests.filter((request) => request.includes('/oauth2/'))
  assert.equal(asked.length, 2)
  assert.deepEqual(fake.violations, [])
})

test('credentials that were replaced are read again; without any, the host is unavailable', async (t) => {
  const { fake, client, shop, credentials } = await setUp(t)
  credentials.current = { type: 'token', token: fake.state.credentials.add(shop.owner) }
  fake.state.credentials.revoke(shop.owner, 1)
  assert.ok(await client.readRepository(shop.uuid))
  fake.state.credentials.revoke(shop.owner, 0)
  await assert.rejects(client.readRepository(shop.uuid), HostUnavailable)
  credentials.current = null
  await assert.rejects(client.readRepository(shop.uuid), /The connection has no credentials/)
})

test('a repository that the organization does not have is null', async (t) => {
  const { client, fake } = await setUp(t)
  const other = fake.stories.addRepository('other/shop') as Repository
  assert.equal(await client.readRepository(other.uuid), null)
  assert.deepEqual(fake.violations, [])
})

test('the folder of policies, its files and the newest commit of a branch are read', async (t) => {
  const { client, repository, shop, fake } = await setUp(t)
  const head = await client.readBranchHead(repository, 'main')
  assert.equal(head, shop.refs.get('refs/heads/main'))
  assert.equal(await client.readBranchHead(repository, 'mai'), null)
  const files = await client.listFolder(repository, '.shiplock/policies', 'main')
  assert.deepEqual(
    files.map(({ path }) => path),
    ['.shiplock/policies/a.yaml'],
  )
  const file = { path: '.shiplock/policies/a.yaml', commit_sha: head ?? '', blob: files[0]?.blob ?? '' }
  assert.equal(await client.readFile(repository, file), 'name: a')
  assert.deepEqual(await client.listFolder(repository, 'nothing', 'main'), [])
  assert.deepEqual(fake.violations, [])
})

test('runs have attempts, and jobs that were not repeated are taken over', async (t) => {
  const { client, repository, fake, shop } = await setUp(t)
  const jobs = [{ name: 'build' }, { name: 'check', needs: ['build'] }]
  const story = fake.stories.startRun(shop, { jobs, actor: 'ada' })
  story.finish('build').finish('check', 'failure', { log: 'one\ntwo\n', failedStep: 'Run check' })
  story.rerun('lin', { failedOnly: true }).finish('check')
  const id = `${shop.project.uuid}_${story.id}`
  const first = await client.readRun(repository, id, 1)
  const second = await client.readRun(repository, id)
  assert.deepEqual([first?.status, first?.attempt, first?.triggering_actor?.login], ['failure', 1, 'ada'])
  assert.deepEqual([second?.status, second?.attempt, second?.triggering_actor], ['success', 2, null])
  const shown = (attempt: number) => client.listJobs(repository, id, attempt)
  assert.deepEqual(
    (await shown(1)).map(({ name, status, failed_steps }) => [name, status, failed_steps.map((step) => step.name)]),
    [
      ['build', 'success', []],
      ['check', 'failure', ['Run check']],
    ],
  )
  assert.deepEqual(
    (await shown(2)).map(({ name, status }) => [name, status]),
    [
      ['build', 'success'],
      ['check', 'success'],
    ],
  )
  const failed = (await shown(1)).find(({ name }) => name === 'check')
  assert.equal(await client.readJobLog(repository, failed?.id ?? '', 4), 'two\n')
  assert.equal(second?.azure?.repositoryType, 'TfsGit')
  assert.deepEqual(fake.violations, [])
})

test('a job that ran for too long makes its run timed_out', async (t) => {
  const { client, repository, fake, shop } = await setUp(t)
  const story = fake.stories.startRun(shop).finish('build', 'timed_out')
  const run = await client.readRun(repository, `${shop.project.uuid}_${story.id}`)
  assert.equal(run?.status, 'timed_out')
})

test('the runs of a repository are listed page by page, newest first', async (t) => {
  const { client, repository, fake, shop } = await setUp(t)
  const ids = Array.from({ length: 53 }, () => fake.stories.startRun(shop).id)
  const listed: number[] = []
  for (let next: string | null = null, first = true; first || next !== null; first = false) {
    const page = await client.listRuns(repository, next === null ? {} : { next })
    assert.ok(page !== 'not_modified')
    listed.push(...page.items.map(({ number }) => number as number))
    next = page.next
  }
  assert.deepEqual(listed, ids.toReversed())
  assert.deepEqual(fake.violations, [])
})

test('events of pipelines do not name the repository, which is found by the run', async (t) => {
  const { client, fake, shop } = await setUp(t)
  const story = fake.stories.startRun(shop)
  const found = await client.readRepository(`run:${shop.project.uuid}_${story.id}`)
  assert.equal(found?.id, shop.uuid)
  assert.equal((await client.readRepository(`name:${shop.project.uuid}:shop`))?.id, shop.uuid)
  assert.equal(await client.readRepository(`run:${shop.project.uuid}_1`), null)
})

test('without Advanced Security the list of alerts is denied', async (t) => {
  const { client, repository, fake, shop } = await setUp(t)
  fake.state.withoutSecurity.add(shop.owner)
  assert.deepEqual(await client.listAlerts(repository, 'dependabot', {}), { items: [], next: null, etag: null })
  const alert = { type: 'dependabot', number: 7 } as const
  const repositoryName = { id: repository.id, full_name: repository.full_name }
  const refused = client.act({ type: 'reopening', repository: repositoryName, alert })
  await assert.rejects(refused, (error) => error instanceof HostRefusal && error.status === 403)
})

test('a decision without a check of ours is refused with a clear text', async (t) => {
  const { client, repository, fake } = await setUp(t)
  const target = { repository, environment: 'production', run_id: 'x', callback_url: null, callback_secret: null }
  const decide = (callback_url: string | null) =>
    client.act({ type: 'decision', target: { ...target, callback_url }, decision: 'approved', text: 'Yes' })
  await assert.rejects(decide(null), { status: 409 })
  await assert.rejects(decide('https://elsewhere.example/events?job=1'), { status: 409 })
  assert.ok(!fake.requests.some((request) => request.includes('/plans/')))
})

test('secrets of every confidence are alerts, and those of other branches are none', async (t) => {
  const { fake, client, shop, repository } = await setUp(t)
  const type = 'secret_scanning'
  for (let count = 0; count < 130; count += 1) {
    const alert = fake.stories.openAlert(shop, { type })
    if (count % 6 === 0) fake.state.unsure.add(alert)
  }
  const elsewhere = fake.stories.openAlert(shop, { type, ref: 'refs/heads/topic' })
  const numbers = new Set<number>()
  for (let next: string | null = ''; next !== null; ) {
    const page: ListResult<HostAlert> = await client.listAlerts(repository, type, next === '' ? {} : { next })
    assert.ok(page !== 'not_modified')
    for (const { number } of page.items) numbers.add(number)
    next = page.next
  }
  assert.deepEqual([numbers.size, numbers.has(elsewhere.id)], [130, false])
  const [unsure] = fake.state.unsure
  assert.equal((await client.readAlert(repository, { type, number: unsure?.id as number }))?.status, 'open')
  assert.equal(await client.readAlert(repository, { type, number: elsewhere.id }), null)
  assert.deepEqual(fake.violations, [])
})

test('a stage that runs again in an old build is among the changes, and so is a new build', async (t) => {
  const { fake, client, shop, repository } = await setUp(t)
  const [old, other] = [1, 2].map(() => fake.stories.startRun(shop).finish('build'))
  assert.ok(old && other)
  const changed_since = fake.state.world.now()
  old.rerun('grace').finish('build', 'failure')
  const queued = fake.stories.startRun(shop)
  const found: HostRun[] = []
  for (let next: string | null = ''; next !== null; ) {
    const options = next === '' ? { changed_since } : { next }
    const page: ListResult<HostRun> = await client.listRuns(repository, options)
    assert.ok(page !== 'not_modified' && page.has_changes)
    found.push(...page.items)
    next = page.next
  }
  assert.deepEqual(
    found.map(({ number, attempt, status }) => [number, attempt, status]),
    [
      [old.id, 2, 'failure'],
      [queued.id, 1, 'queued'],
    ],
  )
  assert.deepEqual(fake.violations, [])
})

test('a renamed organization is found by its id, whatever its former name answers', async (t) => {
  const { fake, client, shop, repository } = await setUp(t)
  assert.ok(await client.readRepository(repository.id))
  fake.rename(shop.owner, 'acme-inc')
  assert.equal((await client.readRepository(repository.id))?.full_name, 'acme-inc/acme products/shop')
  const page = await client.listRepositories({})
  assert.ok(page !== 'not_modified' && page.items.length === 1)
  assert.deepEqual(fake.violations, [])
})
