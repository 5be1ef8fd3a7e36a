import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { ReleaseOptions } from '../../support/hosts/deliveries.ts'
import { forEachHost, type Scene } from '../../support/hosts/host-table.ts'
import { answersOf, linesOf } from '../../support/hosts/neutral-answers.ts'
import type { Repository } from '../../support/hosts/types.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed, BUILD_AND_DEPLOY, mergeChange, nextSecond } from '../../support/stories.ts'

/** How the deliveries of a story arrive. */
const ARRIVALS: Record<string, ReleaseOptions> = {
  'in order': {},
  'each two times': { twice: true },
  'in another order': { shuffle: 1 },
  'in another order and at once': { shuffle: 2, together: true },
  'in another order, but half of them lost': { shuffle: 4, lose: 0.5 },
  'not at all': { lose: 1 },
}

/**
 * Plays the story in an account for each arrival, whose deliveries are held and then released.
 * A synchronization finds what was lost.
 */
async function playAll(scene: Scene, story: Story): Promise<Map<string, Repository>> {
  const { host, server } = scene
  const shops = new Map(Object.keys(ARRIVALS).map((arrival) => [arrival, story.addShop(scene)]))
  const connections = new Map<string, Json>()
  for (const [arrival, { owner }] of shops) connections.set(arrival, await host.connect(server, owner.login))
  await server.settled()
  for (const [arrival, shop] of shops) {
    host.webhooks.hold()
    await story.live(scene, shop)
    await host.webhooks.release(ARRIVALS[arrival])
  }
  // A host that repeats deliveries no longer knows these: the lists have to show what they said.
  if (story.isForgotten) for (const { tries } of host.webhooks.failed) tries.length = 0
  await server.settled()
  for (const [arrival, { id }] of connections)
    if (ARRIVALS[arrival]?.lose) await server.command('provider', 'sync', id, '--wait')
  await server.settled()
  return shops
}

type Story = {
  /** Whether a host that repeats deliveries has forgotten them. */
  isForgotten: boolean
  addShop(scene: Scene): Repository
  live(scene: Scene, shop: Repository): Promise<void>
}

function addShop(scene: Scene): Repository {
  const { host } = scene
  const repository = host.stories.addRepository(`${scene.newLogin()}/shop`)
  if (host.can.reviewers) host.stories.addEnvironment(repository, 'production', { reviewers: ['grace'] })
  return repository
}

/**
 * Two changes go to production, the second one by a second attempt; an alert is fixed, another one
 * dismissed. A third deployment is rejected, where the host has reviewers.
 */
async function live({ host, server }: Scene, repository: Repository): Promise<void> {
  const { stories, can } = host
  mergeChange(stories, repository)
  const [injection, outdated] = (['code_scanning', 'dependabot'] as const).map((type) =>
    can.alerts.includes(type) ? stories.openAlert(repository, { type }) : null,
  )
  const first = stories.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  if (can.reviewers) stories.review(first, 'production', 'approved', 'grace', 'Go')
  first.finish('deploy')
  await nextSecond(server)
  stories.push(repository, { message: 'Fix the cart again' })
  if (injection) stories.fixAlert(injection)
  if (outdated) stories.dismissAlert(outdated, 'not_used', { by: 'grace', comment: 'Unused' })
  const second = stories.startRun(repository, { jobs: BUILD_AND_DEPLOY })
  second.finish('Compile it', 'failure', { log: 'error TS2322: Type error\n' })
  await nextSecond(server)
  const again = can.reruns ? second.rerun('lin') : stories.startRun(repository, { jobs: BUILD_AND_DEPLOY })
  again.finish('Compile it')
  if (can.reviewers) stories.review(again, 'production', 'approved', 'grace', 'Go again')
  again.finish('deploy')
  if (!can.reviewers) return
  const rejected = stories.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  stories.review(rejected, 'production', 'rejected', 'grace', 'No')
}

/** A deployment waits for our rule, and for a reviewer where there are any. */
const HELD: Story = {
  // GitHub lists no requests of rules: only the webhook tells them.
  isForgotten: false,
  addShop(scene) {
    const { stories, can } = scene.host
    const repository = stories.addRepository(`${scene.newLogin()}/shop`)
    stories.addEnvironment(repository, 'production', { ours: true, ...(can.reviewers && { reviewers: ['grace'] }) })
    return repository
  },
  async live({ host }, repository) {
    host.stories.push(repository)
    host.stories.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  },
}

forEachHost((scene, can) => {
  let shops: Map<string, Repository>
  let expected: Json

  before(async () => {
    shops = await playAll(scene(), { isForgotten: true, addShop, live })
    expected = await answersOf(scene(), shops.get('in order') as Repository)
  })

  async function assertSame(repository: Repository, wantedAnswers: Json): Promise<void> {
    const [actual, wanted] = [linesOf(await answersOf(scene(), repository)), linesOf(wantedAnswers)]
    const added = actual.filter((line) => !wanted.includes(line))
    const missing = wanted.filter((line) => !actual.includes(line))
    assert.deepEqual({ added, missing }, { added: [], missing: [] })
    await assertNothingFailed(scene().server)
  }

  test('the story in order shows what happened', async () => {
    const { runs, deployments, alerts, findings } = expected
    // The last run, the second one with its failed start, the first one, and that of the change.
    const second = can.reruns
      ? [['success', 2]]
      : [
          ['success', 1],
          ['failure', 1],
        ]
    const rejected = can.reviewers ? [['failure', 1]] : []
    assert.deepEqual(
      runs.map(({ status, run_attempt }: Json) => [status, run_attempt]),
      [...rejected, ...second, ['success', 1], ['success', 1]],
    )
    assert.deepEqual(
      deployments.map(({ status, superseded_by_id }: Json) => [status, superseded_by_id !== null]),
      [...(can.reviewers ? [['rejected', false]] : []), ['success', false], ['success', true]],
    )
    const states = [
      ...(can.alerts.includes('code_scanning') ? [['code_scanning', 'fixed']] : []),
      ...(can.alerts.includes('dependabot') ? [['dependabot', 'dismissed']] : []),
    ]
    assert.deepEqual(alerts.map(({ type, status }: Json) => [type, status]).sort(), states)
    assert.deepEqual(findings.map(({ state }: Json) => state).sort(), states.map(([, state]) => state).sort())
    await assertNothingFailed(scene().server)
  })

  for (const arrival of Object.keys(ARRIVALS))
    test(`deliveries that arrive ${arrival} show the same`, () =>
      assertSame(shops.get(arrival) as Repository, expected))

  test('an import of the history shows the same as the webhooks', async () => {
    const { host, server } = scene()
    const repository = addShop(scene())
    const empty = host.stories.addRepository(`${repository.owner.login}/empty`)
    await live(scene(), repository)
    const connection = await scene().connect(repository.owner.login)
    assert.equal(empty.commits.size, 0)
    await assertSame(repository, expected)
    const [listed] = (await server.command('provider', 'list')).filter(({ id }: Json) => id === connection.id)
    assert.deepEqual(listed.sync, { state: 'idle', phase: null, done: null, total: null, error: null })
    assert.notEqual(listed.last_synced_at, null)
  })

  if (can.gate)
    test('a deployment that waits for our rule is the same in any order, and gets one comment', async () => {
      const { can, stories } = scene().host
      const held = await playAll(scene(), HELD)
      const inOrder = await answersOf(scene(), held.get('in order') as Repository)
      assert.equal(inOrder.deployments[0].custom_rule_state, 'pending')
      for (const repository of held.values()) await assertSame(repository, inOrder)
      const commented = stories.ruleAnswers.map(({ run_id, state }) => [run_id, state])
      const runs = new Set(commented.map(([run]) => run))
      assert.deepEqual([commented.length, runs.size], can.comments ? [held.size, held.size] : [0, 0])
    })
})
