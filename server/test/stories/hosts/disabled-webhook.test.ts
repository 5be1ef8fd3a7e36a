import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startFakeAzure } from '../../support/azure/fake-azure.ts'
import { startFakeGitLab } from '../../support/gitlab/fake-gitlab.ts'
import { startHostServer } from '../../support/hosts/host-server.ts'
import { Scene } from '../../support/hosts/host-table.ts'
import { assertNothingFailed } from '../../support/stories.ts'

/** The hosts that stop sending events to an address which failed. */
for (const start of [startFakeGitLab, startFakeAzure])
  describe(start.name, () => {
    let scene: Scene

    before(async () => {
      const host = await start()
      scene = new Scene(host, await startHostServer([host]))
    })
    after(() => scene?.server.close())

    test('a webhook that the host disabled after failures works after the next synchronization, which finds what it missed', async () => {
      const { host, server } = scene
      const shop = host.stories.addRepository('acme/shop')
      host.stories.push(shop)
      const connection = await scene.connect('acme')
      const count = host.hookCount('acme')
      host.webhooks.broken = true
      const missed = host.stories.startRun(shop).finish('build')
      await host.webhooks.settled()
      host.webhooks.broken = false
      const before = host.webhooks.all.length
      const unreported = host.stories.startRun(shop).finish('build')
      await host.webhooks.settled()
      assert.equal(host.webhooks.all.length, before, 'a disabled webhook is sent nothing')
      await server.command('provider', 'sync', connection.id, '--wait')
      const reported = host.stories.startRun(shop).finish('build')
      await server.settled()
      for (const story of [missed, unreported, reported])
        assert.equal((await server.get(`/v1/runs/${host.runId(story)}`)).status, 'success')
      assert.ok(host.webhooks.all.length > before + 1, 'the last run is reported by events')
      assert.equal(host.hookCount('acme'), count)
      await assertNothingFailed(server)
    })
  })
