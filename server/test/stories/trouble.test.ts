import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { RunStory } from '../support/hosts/stories/run-story.ts'
import type { Repository } from '../support/hosts/types.ts'
import type { Json } from '../support/json.ts'
import { assertNothingFailed, REASON } from '../support/stories.ts'

let server: ConnectedServer
let shop: Repository

before(async () => {
  server = await startConnectedServer()
  const { fake } = server
  shop = fake.addRepository('acme/shop')
  fake.addEnvironment(shop, 'production', { ours: true })
  fake.push(shop)
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
})
after(() => server?.close())

/** A run that waits for our rule. */
async function startWaiting(): Promise<RunStory> {
  const story = server.fake.startRun(shop, { jobs: [{ name: 'deploy', environment: 'production' }] })
  await server.settled()
  return story
}

const show = (story: RunStory) => server.get(`/v1/deployments/gh_deployment_${story.deployment('deploy').id}`)

async function approve(story: RunStory): Promise<Json> {
  const path = `/v1/deployments/gh_deployment_${story.deployment('deploy').id}/approve`
  const { status, body } = await server.post(path, { reason: REASON })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

function decisionsFor(story: RunStory): (string | null)[] {
  return server.fake.ruleAnswers
    .filter(({ run_id, state }) => run_id === story.id && state !== null)
    .map(({ state }) => state)
}

/** The decision arrives once, and the deployment goes to its end. */
async function assertDeployed(story: RunStory): Promise<void> {
  await server.settled()
  assert.deepEqual(decisionsFor(story), ['approved'])
  story.finish('deploy')
  await server.settled()
  const { status, bypass, custom_rule_awaiting } = await show(story)
  assert.deepEqual([status, bypass, custom_rule_awaiting], ['success', null, null])
  await assertNothingFailed(server)
}

/** How many calls have failed and are tried again. */
const failedCalls = async () =>
  (await server.sql`select from codehost_calls where status = 'pending' and error is not null`).length

test('a decision that is made while GitHub is down arrives once', async () => {
  const { trouble } = server.fake
  const story = await startWaiting()
  trouble.down = 'error'
  assert.equal((await approve(story)).status, 'approved')
  await server.until(failedCalls, (failed) => failed === 1)
  assert.deepEqual(decisionsFor(story), [])
  trouble.down = null
  await assertDeployed(story)
})

for (const [limit, status] of [
  ['primaryLimited', 403],
  ['limited', 429],
] as const)
  test(`a decision that exceeds a limit arrives later (${limit}, ${status})`, async () => {
    const { trouble } = server.fake
    const story = await startWaiting()
    Object.assign(trouble, { [limit]: 1, limitedStatus: status, resetSeconds: 1, retryAfterSeconds: 1 })
    await approve(story)
    await server.until(
      async () => trouble[limit],
      (left) => left === 0,
    )
    await assertDeployed(story)
  })

test('the private key is rotated: a second key, the first one revoked, a restart with the second', async () => {
  const { fake } = server
  const story = await startWaiting()
  const key = fake.addKey()
  await approve(story)
  await assertDeployed(story)
  const second = await startWaiting()
  fake.revokeOldKeys()
  await approve(second)
  await server.until(failedCalls, (failed) => failed === 1)
  assert.deepEqual(decisionsFor(second), [])
  await server.restart('SIGTERM', { SHIPLOCK_GITHUB_PRIVATE_KEY: key })
  await assertDeployed(second)
})

test('the webhook secret is rotated: both are accepted meanwhile, and then only the new one', async () => {
  const { fake } = server
  const old = fake.settings.webhookSecret
  await server.restart('SIGTERM', { SHIPLOCK_GITHUB_WEBHOOK_SECRET: `${old},the new secret` })
  const first = fake.startRun(shop).finish('build')
  await server.settled()
  fake.setWebhookSecret('the new secret')
  const second = fake.startRun(shop).finish('build')
  await server.settled()
  for (const { id } of [first, second]) assert.equal((await server.get(`/v1/runs/gh_run_${id}`)).status, 'success')
  await server.restart('SIGTERM', { SHIPLOCK_GITHUB_WEBHOOK_SECRET: 'the new secret' })
  fake.setWebhookSecret(old)
  fake.startRun(shop)
  await fake.webhooks.settled()
  assert.equal(fake.deliveries.at(-1)?.tries.at(-1)?.statusCode, 401)
  fake.setWebhookSecret('the new secret')
  await assertNothingFailed(server)
})

const RUNS = 25

test('a program that is killed three times during an import and a burst of deliveries has everything once', async () => {
  const { fake } = server
  const history = fake.addRepository('big/history')
  fake.push(history)
  for (let count = 0; count < RUNS; count += 1)
    fake.startRun(history).finish('build', count % 5 === 0 ? 'failure' : 'success')
  for (let count = 0; count < 5; count += 1) fake.openAlert(history, { type: 'code_scanning', rule: `rule-${count}` })
  fake.trouble.latencyMs = 20
  const { id } = fake.install('big')
  await fake.webhooks.settled()
  await server.command('provider', 'connect', '--org', 'default', '--provider', 'github', '--installation', `${id}`)
  for (let kill = 0; kill < 3; kill += 1) {
    fake.webhooks.hold()
    fake.startRun(history).finish('build')
    const released = fake.webhooks.release({ together: true })
    const before = fake.requests.length
    await server.until(
      async () => fake.requests.length,
      (requests) => requests >= before + 3,
    )
    await server.restart('SIGKILL')
    await released
  }
  fake.trouble.latencyMs = 0
  await server.settled()
  const all: Json[] = await server.get('/v1/runs?limit=100')
  const own = all.filter(({ repository_full_name }) => repository_full_name === 'big/history')
  assert.deepEqual(own.map(({ id }) => id).sort(), history.runs.map(({ id }) => `gh_run_${id}`).sort())
  const failed = own.filter(({ status }) => status === 'failure')
  assert.deepEqual([own.filter(({ status }) => status === 'success').length, failed.length], [RUNS + 3 - 5, 5])
  assert.deepEqual(new Set(failed.map(({ failure_category }) => failure_category === null)), new Set([false]))
  const alerts: Json[] = await server.get('/v1/security/alerts?limit=100')
  assert.equal(alerts.filter(({ repository }) => repository === 'big/history').length, 5)
  const findings: Json[] = await server.get('/v1/security/findings?repository=big/history')
  assert.equal(findings.length, 5)
  await assertNothingFailed(server)
})
