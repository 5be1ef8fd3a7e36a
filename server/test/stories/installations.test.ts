import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { Repository } from '../support/hosts/types.ts'
import type { Json } from '../support/json.ts'
import { assertNothingFailed } from '../support/stories.ts'

let server: ConnectedServer

before(async () => {
  server = await startConnectedServer()
})
after(() => server?.close())

async function listed(id: string): Promise<Json> {
  const connections: Json[] = await server.command('provider', 'list')
  return connections.find((connection) => connection.id === id)
}

/** A repository with a finished run and an alert. */
function addBusy(fullName: string): Repository {
  const repository = server.fake.addRepository(fullName)
  live(repository)
  return repository
}

function live(repository: Repository): void {
  const { fake } = server
  fake.push(repository)
  fake.startRun(repository, { jobs: [{ name: 'deploy', environment: 'production' }] }).finish('deploy')
}

/** The names under which the API shows the runs of a repository, by their ids. */
async function runsOf({ runs }: Repository): Promise<Json[]> {
  await server.settled()
  const all: Json[] = await server.get('/v1/runs?limit=100')
  return all
    .filter(({ github_run_id }) => runs.some(({ id }) => id === github_run_id))
    .map(({ repository_full_name }) => repository_full_name)
}

/** The newest commits of the pushes that are known of a repository, in order. */
async function pushesOf({ id }: Repository): Promise<string[]> {
  const rows = await server.sql<{ after_sha: string }[]>`
    select after_sha
    from pushes
    where repository_id = ${String(id)}
    order by pushed_at, after_sha`
  return rows.map(({ after_sha }) => after_sha)
}

test('events of an installation that nobody connected wait, and are applied after it is connected', async () => {
  const { fake } = server
  const repository = fake.addRepository('waiting/shop')
  const { id } = fake.install('waiting')
  live(repository)
  assert.deepEqual(await runsOf(repository), [])
  const { status, account } = await listed(String(id))
  assert.deepEqual([status, account.login], ['waiting', 'waiting'])
  const waiting = await server.sql`select from codehost_deliveries where waiting`
  assert.ok(waiting.length > 5)
  const about = ['--org', 'default', '--provider', 'github', '--installation', String(id)]
  const connection = await server.command('provider', 'connect', ...about)
  assert.deepEqual(await runsOf(repository), ['waiting/shop'])
  assert.deepEqual([...(await server.sql`select from codehost_deliveries where waiting`)], [])
  assert.notEqual((await listed(connection.id)).last_event_at, null)
  assert.equal(await listed(String(id)), undefined)
  await assertNothingFailed(server)
})

test('an installation is suspended, unsuspended, removed and connected again', async () => {
  const { fake } = server
  const repository = addBusy('moody/shop')
  const { installation, connection } = await server.connect('moody')
  assert.equal((await runsOf(repository)).length, 1)
  fake.suspend(installation)
  await server.settled()
  assert.equal((await listed(connection.id)).status, 'suspended')
  live(repository)
  assert.equal((await runsOf(repository)).length, 1)
  fake.unsuspend(installation)
  await server.settled()
  assert.equal((await listed(connection.id)).status, 'active')
  await server.command('provider', 'sync', connection.id, '--wait')
  assert.equal((await runsOf(repository)).length, 2)
  // The push during the suspension had no webhook. The first one had a webhook and is in the list.
  assert.deepEqual(new Set(await pushesOf(repository)), new Set(repository.commits.keys()))
  assert.equal((await pushesOf(repository)).length, 2)
  fake.uninstall(installation)
  await server.settled()
  assert.equal((await listed(connection.id))?.status ?? 'removed', 'removed')
  live(repository)
  assert.equal((await runsOf(repository)).length, 2)
  const again = await server.connect('moody')
  assert.equal((await listed(again.connection.id)).status, 'active')
  assert.equal((await runsOf(repository)).length, 3)
  await assertNothingFailed(server)
})

test('a repository is renamed, and everything about it has its new name', async () => {
  const { fake } = server
  const repository = addBusy('names/shop')
  fake.openAlert(repository, { type: 'code_scanning' })
  await server.connect('names')
  fake.rename(repository, 'store')
  live(repository)
  assert.deepEqual(await runsOf(repository), ['names/store', 'names/store'])
  const deployments: Json[] = await server.get('/v1/deployments?repository=names/store')
  assert.equal(deployments.length, 2)
  const alerts: Json[] = await server.get('/v1/security/alerts')
  assert.ok(alerts.some(({ repository }) => repository === 'names/store'))
  assert.equal((await server.get('/v1/security/findings?repository=names/store')).length, 1)
  await assertNothingFailed(server)
})

test('a transferred or deleted repository leaves the connection and keeps its history under its last name', async () => {
  const { fake } = server
  const moved = addBusy('leaving/moved')
  const gone = addBusy('leaving/gone')
  const kept = addBusy('leaving/kept')
  const { connection } = await server.connect('leaving')
  fake.transfer(moved, 'elsewhere')
  fake.delete(gone)
  await server.settled()
  live(moved)
  live(kept)
  await server.command('provider', 'sync', connection.id, '--wait')
  assert.deepEqual(await runsOf(moved), ['leaving/moved'])
  assert.deepEqual(await runsOf(gone), ['leaving/gone'])
  assert.deepEqual(await runsOf(kept), ['leaving/kept', 'leaving/kept'])
  assert.equal((await server.get('/v1/deployments?repository=leaving/gone')).length, 1)
  await assertNothingFailed(server)
})

test('a repository that GitHub blocks is named with its words, others are read, and nothing is said when it is back', async () => {
  const { fake } = server
  const blocked = addBusy('taken/down')
  const kept = addBusy('taken/up')
  const { connection } = await server.connect('taken')
  await server.settled()
  fake.block(blocked, 451)
  live(kept)
  await server.command('provider', 'sync', connection.id, '--wait').catch(() => null)
  const refusals: Json[] = (await listed(connection.id)).refusals
  assert.ok(refusals.length > 0)
  for (const { repository, status, message } of refusals) {
    assert.deepEqual([repository, status], ['taken/down', 451])
    assert.match(message, /451 .*: Repository access blocked/)
  }
  const runs: Json[] = await server.get('/v1/runs?limit=100')
  assert.equal(runs.filter(({ repository_full_name: name }) => name === 'taken/up').length, 2)
  fake.block(blocked, null)
  await server.command('provider', 'sync', connection.id, '--wait')
  assert.deepEqual((await listed(connection.id)).refusals, [])
  await assertNothingFailed(server)
})

test('a repository that moves between two connected accounts stays one repository', async () => {
  const { fake } = server
  const repository = addBusy('here/shop')
  fake.addRepository('there/other')
  await server.connect('here')
  await server.connect('there')
  fake.transfer(repository, 'there')
  live(repository)
  assert.deepEqual(await runsOf(repository), ['there/shop', 'there/shop'])
  await assertNothingFailed(server)
})
