import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startFakeGitLab } from '../../support/gitlab/fake-gitlab.ts'
import { startHostServer } from '../../support/hosts/host-server.ts'
import { Scene } from '../../support/hosts/host-table.ts'
import type { RunStory } from '../../support/hosts/stories/run-story.ts'
import type { Repository } from '../../support/hosts/types.ts'
import { assertNothingFailed } from '../../support/stories.ts'

/** GitLab without deployment approvals and group webhooks: the job of a deployment is manual. */
let scene: Scene
let shop: Repository

before(async () => {
  const host = await startFakeGitLab({ edition: 'free', signs: false })
  scene = new Scene(host, await startHostServer([host]))
  shop = host.stories.addRepository('acme/shop')
  host.stories.addEnvironment(shop, 'production', { ours: true })
  host.stories.push(shop)
  await scene.coverProduction()
  await scene.connect('acme')
})
after(() => scene?.server.close())

async function deploy(): Promise<RunStory> {
  const story = scene.host.stories.startRun(shop, { jobs: [{ name: 'deploy', environment: 'production' }] })
  await scene.server.settled()
  return story as RunStory
}

async function statusOf(story: RunStory) {
  await scene.server.settled()
  const { status, custom_rule_state, bypass } = await scene.show(story.deployment('deploy'))
  return { status, custom_rule_state, bypass: bypass?.gates ?? null }
}

const lastNote = () => shop.comments.at(-1)?.text ?? ''

test('a manual job waits for the gate; our approval starts it, and a note says why', async () => {
  const story = await deploy()
  assert.equal((await statusOf(story)).status, 'pending_approval')
  assert.equal((await scene.answer(story.deployment('deploy'), 'approve')).status, 200)
  await scene.server.settled()
  assert.match(lastNote(), /Approved/)
  story.finish('deploy')
  assert.deepEqual(await statusOf(story), { status: 'success', custom_rule_state: 'approved', bypass: null })
  await assertNothingFailed(scene.server)
})

test('our rejection leaves the job as it is; somebody who starts it nevertheless bypasses our rule', async () => {
  const story = await deploy()
  assert.equal((await scene.answer(story.deployment('deploy'), 'reject')).status, 200)
  await scene.server.settled()
  assert.match(lastNote(), /Rejected/)
  assert.equal((await statusOf(story)).status, 'rejected')
  assert.equal(story.job('deploy').status, 'waiting')
  scene.host.stories.bypass(story, 'production')
  story.finish('deploy')
  const { status, bypass } = await statusOf(story)
  assert.deepEqual([status, bypass], ['rejected', ['customRule']])
  await assertNothingFailed(scene.server)
})
