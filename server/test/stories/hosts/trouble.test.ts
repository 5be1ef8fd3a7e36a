import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { forEachHost } from '../../support/hosts/host-table.ts'
import type { RunStory } from '../../support/hosts/stories/run-story.ts'
import type { Repository } from '../../support/hosts/types.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed } from '../../support/stories.ts'

forEachHost((scene, can) => {
  let shop: Repository
  let connection: Json

  before(async () => {
    const { stories, can } = scene().host
    shop = stories.addRepository('acme/shop')
    stories.addEnvironment(shop, 'production', { ours: can.gate !== false })
    stories.push(shop)
    connection = await scene().connect('acme')
    await scene().coverProduction()
  })

  /** A run that waits for our rule. */
  async function startWaiting(): Promise<RunStory> {
    const { host, server } = scene()
    const story = host.stories.startRun(shop, { jobs: [{ name: 'deploy', environment: 'production' }] })
    await server.settled()
    return story
  }

  async function approve(story: RunStory): Promise<void> {
    const { status, body } = await scene().answer(story.deployment('deploy'), 'approve')
    assert.equal(status, 200, JSON.stringify(body))
  }

  const decisionsFor = ({ id }: RunStory) =>
    scene()
      .host.stories.ruleAnswers.filter(({ run_id, state }) => run_id === id && state !== null)
      .map(({ state }) => state)

  /** The decision arrives once, and the deployment goes to its end. */
  async function assertDeployed(story: RunStory): Promise<void> {
    const { server } = scene()
    await server.settled()
    assert.deepEqual(decisionsFor(story), ['approved'])
    story.finish('deploy')
    await server.settled()
    const { status, bypass, custom_rule_awaiting } = await scene().show(story.deployment('deploy'))
    assert.deepEqual([status, bypass, custom_rule_awaiting], ['success', null, null])
    await assertNothingFailed(server)
  }

  /** How many calls have failed and are tried again. */
  const failedCalls = async () =>
    (await scene().server.sql`select from codehost_calls where status = 'pending' and error is not null`).length

  if (can.gate)
    test('a decision that is made while the host is down arrives once', async () => {
      const { host, server } = scene()
      const story = await startWaiting()
      host.trouble.down = 'error'
      await approve(story)
      await server.until(failedCalls, (failed) => failed === 1)
      assert.deepEqual(decisionsFor(story), [])
      host.trouble.down = null
      await assertDeployed(story)
    })

  if (can.gate)
    test('a decision that exceeds a limit arrives later', async () => {
      const { host, server } = scene()
      const { trouble } = host
      const story = await startWaiting()
      Object.assign(trouble, { limited: 1, retryAfterSeconds: 1 })
      await approve(story)
      await server.until(
        async () => trouble.limited,
        (left) => left === 0,
      )
      await assertDeployed(story)
    })

  test('what happened while the host was down, limited, or cut its answers is read afterwards', async () => {
    const { host, server } = scene()
    const { trouble, stories } = host
    const status = async (story: RunStory) => {
      await server.settled()
      return (await server.get(`/v1/runs/${host.runId(story)}`)).status
    }
    trouble.down = 'refuse'
    const first = stories.startRun(shop).finish('build')
    await host.webhooks.settled()
    trouble.down = null
    await server.command('provider', 'sync', connection.id, '--wait')
    assert.equal(await status(first), 'success')
    Object.assign(trouble, { limited: 2, retryAfterSeconds: 1 })
    assert.equal(await status(stories.startRun(shop).finish('build', 'failure')), 'failure')
    trouble.cutAnswers = 2
    assert.equal(await status(stories.startRun(shop).finish('build')), 'success')
    Object.assign(trouble, { limited: 0, cutAnswers: 0 })
    await assertNothingFailed(server)
  })

  test('the credentials are rotated, and the former ones revoked', async () => {
    const { host, server } = scene()
    await host.rotateCredentials(server, 'acme')
    host.revokeOldCredentials('acme')
    const story = host.stories.startRun(shop).finish('build')
    await server.settled()
    assert.equal((await server.get(`/v1/runs/${host.runId(story)}`)).status, 'success')
    await server.command('provider', 'sync', connection.id, '--wait')
    await assertNothingFailed(server)
  })

  test('a list whose page is followed by itself ends with an error, others go on, and the next reading is whole', async () => {
    const { host, server } = scene()
    const { trouble, stories } = host
    const sync = () => server.command('provider', 'sync', connection.id, '--wait').catch(() => null)
    const shown = async () =>
      (await server.command('provider', 'list')).find(({ id }: Json) => id === connection.id).sync.error
    await sync()
    // Otherwise the first page is unchanged, and nothing behind it is read.
    stories.startRun(shop).finish('build')
    await server.settled()
    trouble.endless = /^GET .*\/(?:runs|pipelines|builds)\/?$/
    const asked = host.requests.length
    await sync()
    assert.match(await shown(), /runs: The host repeats a page of runs/)
    const listed = host.requests.slice(asked).filter((request) => /\/(?:runs|pipelines|builds)\?/.test(request))
    // Azure DevOps has several lists at this address.
    const lists = Map.groupBy(listed, (request) => request.replace(/[?&](?:page|continuationToken)=[^&]*/g, ''))
    for (const pages of lists.values()) assert.ok(pages.length <= 3, pages.join('\n'))
    trouble.endless = null
    const missed = stories.startRun(shop).finish('build')
    await server.settled()
    await sync()
    assert.equal(await shown(), null)
    assert.equal((await server.get(`/v1/runs/${host.runId(missed)}`)).status, 'success')
    await assertNothingFailed(server)
  })

  test('revoked credentials are said to be refused, and new ones find what was missed', async () => {
    const { host, server } = scene()
    host.revokeCredentials('acme')
    const missed = host.stories.startRun(shop).finish('build')
    await host.webhooks.settled()
    await assert.rejects(server.command('provider', 'sync', connection.id, '--wait'))
    const [listed] = (await server.command('provider', 'list')).filter(({ id }: Json) => id === connection.id)
    assert.equal(listed.sync.state, 'failed')
    await host.rotateCredentials(server, 'acme')
    host.revokeOldCredentials('acme')
    await server.command('provider', 'sync', connection.id, '--wait')
    await server.settled()
    assert.equal((await server.get(`/v1/runs/${host.runId(missed)}`)).status, 'success')
    await assertNothingFailed(server)
  })
})
