import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startFakeAzure } from '../../../../test/support/azure/fake-azure.ts'
import type { Repository } from '../../../../test/support/hosts/types.ts'
import { systemClock } from '../../../platform/clock.ts'
import { createLog } from '../../../platform/log.ts'
import { createAzureHost } from './host.ts'

const ADDRESS = 'https://shiplock.example/webhooks/azure/0198a000-0000-7000-8000-000000000001'
const EVENTS = 16

async function setUp(t: TestContext) {
  const fake = await startFakeAzure()
  t.after(() => fake.close())
  const shop = fake.stories.addRepository('acme/shop') as Repository
  const token = fake.state.credentials.add(shop.owner)
  const host = createAzureHost({
    url: fake.url,
    entraUrl: fake.url,
    readCredentials: async () => ({ type: 'token', token }),
    sealingKey: createSecretKey(randomBytes(32)),
    log: createLog('silent'),
    clock: systemClock,
    pace: { timeLimitMs: 10_000, waitUnitMs: 1 },
  })
  /** Each process has a client of its own, which remembers what it has checked. */
  const open = (id = '1') => host.open({ id, installation_id: shop.owner.uuid, host: '127.0.0.1' })
  const repository = await open().readRepository(shop.uuid)
  assert.ok(repository)
  return { fake, shop, open, repository }
}

test('each event has one subscription of the project, with the secret as its password', async (t) => {
  const { fake, shop, open, repository } = await setUp(t)
  const other = fake.stories.addRepository('acme/docs') as Repository
  assert.equal(other.project, shop.project)
  const client = open()
  await client.ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  const second = await client.readRepository(other.uuid)
  assert.ok(second)
  await client.ensureWebhook(second, { address: ADDRESS, secret: 'one', look: 'first' })
  const { hooks } = fake.hooks
  assert.equal(hooks.length, EVENTS)
  assert.equal(new Set(hooks.flatMap(({ events }) => [...events])).size, EVENTS)
  assert.ok(hooks.every(({ secret, url }) => secret === 'one' && url.startsWith(`${ADDRESS}?secret=`)))
  assert.ok(!hooks.some(({ url }) => url.endsWith('=one')))
  assert.deepEqual(fake.violations, [])
})

test('a subscription that is missing, disabled, doubled or has another secret is corrected', async (t) => {
  const { fake, open, repository } = await setUp(t)
  await open('1').ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  const [first, second, third] = fake.hooks.hooks
  assert.ok(first && second && third)
  fake.hooks.removeHook(first)
  second.active = false
  fake.hooks.addHook({ ...third, events: third.events })
  await open('2').ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  assert.equal(fake.hooks.hooks.length, EVENTS)
  assert.ok(fake.hooks.hooks.every(({ active }) => active))
  await open('3').ensureWebhook(repository, { address: ADDRESS, secret: 'two', look: 'first' })
  assert.ok(fake.hooks.hooks.every(({ secret }) => secret === 'two'))
  assert.deepEqual(
    fake.state.serviceConnections.map(({ username, password, shown }) => [username, password, shown.url]),
    [['shiplock', 'two', ADDRESS]],
  )
  assert.deepEqual(fake.violations, [])
})

test('subscriptions that are on probation are replaced, because Azure DevOps loses their events until a retry succeeds', async (t) => {
  const { fake, shop, open, repository } = await setUp(t)
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(request.method as string)
    response.end()
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  t.after(() => receiver.close())
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks/azure/1`
  await open('1').ensureWebhook(repository, { address, secret: 'one', look: 'first' })
  const push = async () => {
    fake.stories.push(shop)
    await fake.hooks.settled()
    return received.length
  }
  fake.hooks.broken = true
  await push()
  fake.hooks.broken = false
  assert.equal(await push(), 0)
  await open('2').ensureWebhook(repository, { address, secret: 'one', look: 'first' })
  assert.equal(fake.hooks.hooks.length, EVENTS)
  assert.equal(await push(), 1)
  assert.deepEqual(fake.violations, [])
})

test('a project is looked at once in a synchronization; removing leaves the hooks of others', async (t) => {
  const { fake, open, repository, shop } = await setUp(t)
  const client = open()
  await client.ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  const before = fake.requests.length
  await client.ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  assert.equal(fake.requests.length, before)
  const scope = `project ${shop.project.uuid}`
  const consumerInputs = { url: 'https://other.example/' }
  fake.hooks.addHook({
    url: 'https://other.example/',
    secret: 'x',
    scope,
    events: ['git.push'],
    settings: { consumerInputs },
  })
  await client.removeWebhooks(ADDRESS)
  assert.deepEqual(
    fake.hooks.hooks.map(({ url }) => url),
    ['https://other.example/'],
  )
  assert.equal(fake.state.serviceConnections.length, 0)
})

test('organizations may refuse the events of Advanced Security and the service connection', async (t) => {
  const { fake, open, repository } = await setUp(t)
  fake.operations.failing.set('POST /{organization}/_apis/serviceendpoint/endpoints', 403)
  await open().ensureWebhook(repository, { address: ADDRESS, secret: 'one', look: 'first' })
  assert.equal(fake.hooks.hooks.length, EVENTS)
  fake.operations.failing.set('POST /{organization}/_apis/hooks/subscriptions', 403)
  const refused = open('2').ensureWebhook(repository, { address: `${ADDRESS}2`, secret: 'one', look: 'first' })
  await assert.rejects(refused, { status: 403 })
})
