import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChange, type StoredChange } from '../../../src/provenance/changes/change.store.ts'
import { forEachHost } from '../../support/hosts/host-table.ts'
import type { Commit, PullRequest, Repository } from '../../support/hosts/types.ts'
import { assertNothingFailed, nextSecond } from '../../support/stories.ts'

forEachHost((scene) => {
  /** A pull request is opened, approved, checked and merged. */
  function land(repository: Repository, branch = 'cart'): { pull: PullRequest; merged: Commit } {
    const { stories } = scene().host
    stories.push(repository, { branch, message: 'Fix the cart', files: { [`src/${branch}.ts`]: 'export {}\n' } })
    const pull = stories.openPullRequest(repository, { branch, title: 'Fix the cart' })
    stories.reviewPullRequest(repository, pull, { by: 'grace', state: 'approved' })
    stories.startRun(repository, { pullRequest: pull }).finish('build')
    return { pull, merged: stories.merge(repository, pull) }
  }

  /** The changes of a repository in the order of their links, waited for. */
  async function recorded(repository: Repository, ...shas: string[]): Promise<StoredChange[]> {
    const { host, server } = scene()
    const found = await server.until(
      async () => {
        const rows = await server.sql<{ org_id: string; id: string }[]>`
          select org_id, id
          from changes
          where repository_id = ${host.repositoryId(repository)}
          order by link_index`
        const changes = await Promise.all(rows.map(({ org_id, id }) => findChange(server.sql, org_id, id)))
        return changes.filter((change) => shas.includes(change?.merge_sha ?? ''))
      },
      (changes) => changes.length >= shas.length,
    )
    return found.map((change) => change ?? assert.fail())
  }

  async function connectShop(): Promise<Repository> {
    const repository = scene().host.stories.addRepository(`${scene().newLogin()}/shop`)
    scene().host.stories.push(repository)
    await scene().connect(repository.owner.login)
    return repository
  }

  test('a reviewed pull request, a direct push and a forced one land, and their records say so', async () => {
    const { host, server } = scene()
    const shop = await connectShop()
    const { merged, pull } = land(shop)
    const run = host.stories.startRun(shop).finish('build')
    await nextSecond(server)
    const pushed = host.stories.push(shop, { message: 'Hotfix' })
    host.stories.startRun(shop).finish('build')
    const [reviewed, direct] = await recorded(shop, merged.sha, pushed.sha)
    const record = reviewed?.record ?? assert.fail()
    assert.deepEqual(
      [record.landed_by, record.commits.merge, record.pull_request?.number],
      ['pull_request', merged.sha, pull.number],
    )
    assert.deepEqual(
      record.reviews.map(({ reviewer, state }) => [reviewer?.login, state]),
      [['grace', 'approved']],
    )
    assert.deepEqual(
      record.runs.map(({ id, status }) => [id, status]),
      [[host.runId(run), 'success']],
    )
    assert.deepEqual(
      [direct?.record?.landed_by, direct?.record?.pull_request, direct?.record?.forced],
      ['push', null, false],
    )
    await nextSecond(server)
    const instead = host.stories.push(shop, { message: 'Another hotfix', onto: merged.sha })
    host.stories.startRun(shop).finish('build')
    const [forced] = await recorded(shop, instead.sha)
    assert.deepEqual([forced?.record?.landed_by, forced?.record?.forced], ['push', true])
    await server.settled()
    await assertNothingFailed(server)
  })

  test('deliveries that arrive twice and shuffled give one record for each landing', async () => {
    const { host, server } = scene()
    const shop = await connectShop()
    host.webhooks.hold()
    const { merged } = land(shop)
    host.stories.startRun(shop).finish('build')
    await host.webhooks.release({ twice: true, shuffle: 7 })
    await server.settled()
    const changes = await recorded(shop, merged.sha)
    assert.deepEqual(
      changes.map(({ record }) => record?.landed_by),
      ['pull_request'],
    )
    await assertNothingFailed(server)
  })

  test('pull requests that landed before the connection are recorded from the lists of the host', async () => {
    const { host, server } = scene()
    const shop = host.stories.addRepository(`${scene().newLogin()}/past`)
    host.stories.push(shop)
    const { merged } = land(shop)
    host.stories.startRun(shop).finish('build')
    await scene().connect(shop.owner.login)
    const [change] = await recorded(shop, merged.sha)
    const record = change?.record ?? assert.fail()
    assert.deepEqual(
      [record.landed_by, record.commits.merge, record.reviews.length, record.runs.length],
      ['pull_request', merged.sha, 1, 1],
    )
    await assertNothingFailed(server)
  })
})
