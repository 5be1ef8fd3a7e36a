import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import { assertNothingFailed, BUILD_AND_DEPLOY, mergeChange } from '../support/stories.ts'

let server: ConnectedServer

before(async () => {
  server = await startConnectedServer()
})
after(() => server?.close())

test('GitHub is asked again for deliveries that failed', async () => {
  const { fake } = server
  const repository = fake.addRepository('acme/shop')
  const { connection } = await server.connect('acme')
  fake.webhooks.hold()
  mergeChange(fake, repository)
  const story = fake.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it').finish('deploy')
  await fake.webhooks.release({ lose: 0.1, seed: 6 })
  assert.notEqual(fake.webhooks.failed.length, 0)
  await server.command('provider', 'sync', connection.id, '--wait')
  await server.settled()
  assert.deepEqual(fake.webhooks.failed, [])
  assert.equal((await server.get(`/v1/runs/gh_run_${story.id}`)).status, 'success')
  assert.equal((await server.get(`/v1/deployments/gh_deployment_${story.deployment('deploy').id}`)).status, 'success')
  await assertNothingFailed(server)
})
