import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { FakeHost } from '../../support/hosts/fake-host.ts'
import { type HostServer, startHostServer } from '../../support/hosts/host-server.ts'
import { HOSTS } from '../../support/hosts/host-table.ts'
import type { RunStory } from '../../support/hosts/stories/run-story.ts'
import type { Repository } from '../../support/hosts/types.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed } from '../../support/stories.ts'

type Shop = { host: FakeHost; repository: Repository; run: RunStory }

let server: HostServer
const shops: Shop[] = []

before(async () => {
  server = await startHostServer(await Promise.all(HOSTS.map(({ start }) => start())))
  for (const host of server.hosts) {
    const repository = host.stories.addRepository('acme/shop')
    host.stories.push(repository)
    for (const type of host.can.alerts) host.stories.openAlert(repository, { type })
    const run = host.stories.startRun(repository).finish('build')
    await host.connect(server, 'acme')
    shops.push({ host, repository, run })
  }
  await server.settled()
})
after(() => server?.close())

test('every host has one connection of the organization, and its runs name it', async () => {
  const connections: Json[] = await server.command('provider', 'list')
  assert.deepEqual(
    connections.map(({ provider, status }) => [provider, status]).sort(),
    shops.map(({ host }) => [host.provider, 'active']).sort(),
  )
  const runs: Json[] = await server.get('/v1/runs?limit=100')
  assert.deepEqual(
    runs.map(({ id, provider, repository_full_name }) => [id, provider, repository_full_name]).sort(),
    shops.map(({ host, repository, run }) => [host.runId(run), host.provider, host.fullName(repository)]).sort(),
  )
  await assertNothingFailed(server)
})

test('a name that several hosts have needs a provider, and what belongs to them is never mixed', async () => {
  for (const { host, repository } of shops) {
    const name = host.fullName(repository)
    const sharing = shops.filter((other) => other.host.fullName(other.repository) === name)
    for (const list of ['/v1/security/findings', '/v1/security/issues', '/v1/changes']) {
      const query = `${list}?limit=100&repository=${encodeURIComponent(name)}`
      const { status, body } = await server.request('GET', query)
      if (sharing.length === 1) assert.equal(status, 200)
      else assert.deepEqual([status, body.error?.code], [400, 'REPOSITORY_AMBIGUOUS'], list)
      assert.equal((await server.request('GET', `${query}&provider=${host.provider}`)).status, 200)
    }
    const query = `repository=${encodeURIComponent(name)}&provider=${host.provider}`
    const findings: Json[] = await server.get(`/v1/security/findings?limit=100&${query}`)
    assert.equal(findings.length, host.can.alerts.length)
  }
  await assertNothingFailed(server)
})

test('what happens to a repository changes nothing of its namesakes', async () => {
  const [changed, ...others] = shops as [Shop, ...Shop[]]
  changed.host.stories.rename(changed.repository, 'store')
  const run = changed.host.stories.startRun(changed.repository).finish('build', 'failure')
  await server.settled()
  const runs: Json[] = await server.get('/v1/runs?limit=100')
  const nameOf = (id: string) => runs.find((one) => one.id === id)?.repository_full_name
  assert.equal(nameOf(changed.host.runId(run)), changed.host.fullName(changed.repository))
  for (const { host, repository, run: own } of others) assert.equal(nameOf(host.runId(own)), host.fullName(repository))
  await assertNothingFailed(server)
})
