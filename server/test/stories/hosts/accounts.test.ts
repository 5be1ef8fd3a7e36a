import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachHost } from '../../support/hosts/host-table.ts'
import type { Repository } from '../../support/hosts/types.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed } from '../../support/stories.ts'

forEachHost((scene) => {
  function live(repository: Repository): void {
    const { stories } = scene().host
    stories.push(repository)
    stories.startRun(repository).finish('build')
  }

  /** The names under which the API shows the runs of an account's repositories, sorted. */
  async function namesOf(login: string): Promise<string[]> {
    const { server } = scene()
    await server.settled()
    const runs: Json[] = await server.get('/v1/runs?limit=100')
    const names = runs.map(({ repository_full_name }) => repository_full_name as string)
    return names.filter((name) => name.startsWith(`${login}/`)).sort()
  }

  async function connection(id: string): Promise<Json> {
    const connections: Json[] = await scene().server.command('provider', 'list')
    return connections.find((one) => one.id === id)
  }

  test('a repository is renamed, and everything about it has its new name', async () => {
    const { host, server } = scene()
    const login = scene().newLogin()
    const repository = host.stories.addRepository(`${login}/shop`)
    live(repository)
    const type = host.can.alerts[0]
    if (type) host.stories.openAlert(repository, { type })
    await scene().connect(login)
    host.stories.rename(repository, 'store')
    live(repository)
    const name = host.fullName(repository)
    assert.match(name, /store$/)
    assert.deepEqual(await namesOf(login), [name, name])
    const query = `repository=${encodeURIComponent(name)}&provider=${host.provider}`
    assert.equal((await server.get(`/v1/security/findings?${query}`)).length, type ? 1 : 0)
    await assertNothingFailed(server)
  })

  test('a deleted repository keeps its history under its last name; a new one is followed', async () => {
    const { host, server } = scene()
    const login = scene().newLogin()
    const [gone, kept] = ['gone', 'kept'].map((name) => host.stories.addRepository(`${login}/${name}`)) as [
      Repository,
      Repository,
    ]
    for (const repository of [gone, kept]) live(repository)
    const { id } = await scene().connect(login)
    const nameOfGone = host.fullName(gone)
    host.stories.delete(gone)
    live(kept)
    const added = host.stories.addRepository(`${login}/new`)
    await server.settled()
    await server.command('provider', 'sync', id, '--wait')
    live(added)
    const [keptName, newName] = [kept, added].map((repository) => host.fullName(repository))
    assert.deepEqual(await namesOf(login), [nameOfGone, keptName, keptName, newName].sort())
    await assertNothingFailed(server)
  })

  test('a disconnected account has no webhooks of ours and is not followed; it can be connected again', async () => {
    const { host, server } = scene()
    const login = scene().newLogin()
    const repository = host.stories.addRepository(`${login}/shop`)
    live(repository)
    const first = await scene().connect(login)
    const hooks = host.hookCount(login)
    if (hooks !== null) assert.ok(hooks > 0)
    assert.equal((await namesOf(login)).length, 1)
    await server.command('provider', 'disconnect', first.id)
    await server.settled()
    if (hooks !== null) assert.equal(host.hookCount(login), 0)
    assert.equal((await connection(first.id))?.status ?? 'removed', 'removed')
    live(repository)
    assert.equal((await namesOf(login)).length, 1)
    const again = await scene().connect(login)
    assert.equal((await connection(again.id)).status, 'active')
    assert.equal((await namesOf(login)).length, 2)
    assert.equal(host.hookCount(login), hooks)
    live(repository)
    assert.equal((await namesOf(login)).length, 3)
    await assertNothingFailed(server)
  })

  test('an account that is connected again stays one connection with one set of webhooks', async () => {
    const { host, server } = scene()
    const login = scene().newLogin()
    host.stories.addRepository(`${login}/shop`)
    const first = await scene().connect(login)
    const hooks = host.hookCount(login)
    const second = await scene().connect(login)
    assert.equal(second.id, first.id)
    assert.equal(host.hookCount(login), hooks)
    await assertNothingFailed(server)
  })
})
