import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { FakeBitbucket } from '../../../../test/support/bitbucket/fake-bitbucket.ts'
import { openedWorkspace } from '../../../../test/support/bitbucket/opened-workspace.ts'
import type { Hook } from '../../../../test/support/hosts/webhooks.ts'
import { HostRefusal } from '../../code-host.ts'
import { hasSignature, readHead } from './webhook.ts'

const REPOSITORY_ID = '723a2f4e-f092-4bb3-9c4a-abb2b946aeaf'
const PIPELINE_ID = '11f7d3a0-6f3e-4b52-9a1c-0d3c0d6f2a11'
const repository = { type: 'repository', uuid: `{${REPOSITORY_ID.toUpperCase()}}`, full_name: 'acme/shop' }
const commit = { type: 'commit', hash: 'd'.repeat(40), date: '2026-03-02T16:08:09+00:00' }

function spans(...names: string[]) {
  const attributes = [
    { key: 'pipeline.uuid', value: { stringValue: `{${PIPELINE_ID}}` } },
    { key: 'pipeline.repository.uuid', value: { stringValue: `{${REPOSITORY_ID}}` } },
    { key: 'pipeline_run.run_number', value: { intValue: 1 } },
  ]
  return { resourceSpans: [{ scopeSpans: [{ spans: names.map((name) => ({ name, attributes })) }] }] }
}

const CONNECTED = { installation_id: 'a workspace', secret: 'a secret' }
const HEADERS = { 'x-event-key': 'repo:push', 'x-request-uuid': 'e2a5f9c1-5f6b-4f0e-9a3a-1d9f2f6f7a10' }

function headOf(payload: object, headers: object = {}) {
  return readHead(Buffer.from(JSON.stringify(payload)), { ...HEADERS, ...headers }, CONNECTED)
}

test('before the body is read, a signature has its form', () => {
  const signed = (text?: string) => hasSignature({ 'x-hub-signature': text }, CONNECTED)
  assert.ok(signed(`sha256=${'0'.repeat(64)}`))
  for (const text of [undefined, '', `sha256=${'0'.repeat(63)}`, `sha1=${'0'.repeat(40)}`]) assert.ok(!signed(text))
  assert.ok(!hasSignature({ 'x-hub-signature': `sha256=${'0'.repeat(64)}` }, null))
})

test('deliveries of one object have one lane', () => {
  const lane = (event: string, payload: object) => headOf(payload, { 'x-event-key': event })?.lane
  assert.equal(lane('repo:push', { repository }), `repository:${REPOSITORY_ID}`)
  assert.equal(lane('pullrequest:approved', { repository, pullrequest: { id: 7 } }), `pull:${REPOSITORY_ID}:7`)
  const checks = { repository, commit_status: { commit } }
  assert.equal(lane('repo:commit_status_updated', checks), `checks:${REPOSITORY_ID}:${commit.hash}`)
  assert.equal(lane('pipeline:span_created', spans('bbc.pipeline_run')), `run:${PIPELINE_ID}`)
  for (const payload of [{}, spans('bbc.command')])
    assert.equal(lane('pipeline:span_created', payload), `delivery:${HEADERS['x-request-uuid']}`)
})

test('a delivery has its event and the workspace of its connection', () => {
  const { id, lane: _, payload: __, ...head } = headOf({ repository }) ?? {}
  assert.match(id ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.deepEqual(head, { event: 'repo:push', action: 'push', installation_id: 'a workspace' })
  for (const headers of [{ 'x-event-key': undefined }, { 'x-event-key': 'push' }, { 'x-request-uuid': 'a b' }])
    assert.equal(headOf({ repository }, headers), null)
  assert.equal(readHead(Buffer.from('no JSON'), HEADERS, CONNECTED), null)
})

test('an event that two webhooks report is one delivery', () => {
  const other = { 'x-request-uuid': 'c0ffee00-5f6b-4f0e-9a3a-1d9f2f6f7a10' }
  assert.equal(headOf({ repository }, other)?.id, headOf({ repository })?.id)
  assert.notEqual(headOf({ repository, commit }, other)?.id, headOf({ repository })?.id)
  assert.notEqual(headOf({ repository }, { 'x-event-key': 'repo:updated' })?.id, headOf({ repository })?.id)
})

test('a delivery is accepted with the signature of its body only', async (t) => {
  const { host } = await openedWorkspace(t)
  const body = Buffer.from('{"repository":{"uuid":"{AB}"}}')
  const target = { installation_id: 'ab', secret: 'a secret' }
  const signature = `sha256=${createHmac('sha256', target.secret).update(body).digest('hex')}`
  const { verify } = host.webhooks
  assert.equal(await verify(body, { 'x-hub-signature': signature }, target), true)
  assert.equal(await verify(Buffer.from('{}'), { 'x-hub-signature': signature }, target), false)
  assert.equal(await verify(body, { 'x-hub-signature': signature.replace('sha256', 'sha1') }, target), false)
  assert.equal(await verify(body, {}, target), false)
  assert.equal(await verify(body, { 'x-hub-signature': signature }, null), false)
})

function withoutViolations(fake: FakeBitbucket): void {
  assert.deepEqual(fake.violations, [])
}

const TARGET = { address: 'https://shiplock.example.com/webhooks/bitbucket/1', secret: 'a secret', look: 'first' }

test('the workspace has one webhook, and each repository one for the event that it refuses', async (t) => {
  const { fake, client, stories, shop, read } = await openedWorkspace(t)
  const repository = await read(shop)
  await client.ensureWebhook(repository, TARGET)
  await client.ensureWebhook(repository, TARGET)
  const shown = fake.hooks.hooks.map(({ scope, secret, events }) => [scope.split(' ')[0], secret, events.size])
  assert.deepEqual(shown, [
    ['workspace', 'a secret', 15],
    ['repository', 'a secret', 1],
  ])
  assert.equal(fake.requests.filter((request) => request.startsWith('POST')).length, 3)
  const secret = 'another secret'
  await client.ensureWebhook(repository, { ...TARGET, secret })
  assert.deepEqual(
    fake.hooks.hooks.map((hook) => hook.secret),
    [secret, secret],
  )
  stories.push(shop)
  await client.removeWebhooks(TARGET.address)
  assert.deepEqual(fake.hooks.hooks, [])
  withoutViolations(fake)
})

test('without permission for the workspace, each repository has a webhook', async (t) => {
  const { fake, client, shop, read } = await openedWorkspace(t)
  fake.failing('GET /2.0/workspaces/{workspace}/hooks', 403)
  await client.ensureWebhook(await read(shop), TARGET)
  assert.deepEqual(
    fake.hooks.hooks.map(({ scope, events }) => [scope, events.size]),
    [[`repository ${shop.uuid}`, 16]],
  )
  fake.failing('GET /2.0/repositories/{workspace}/{repo_slug}/hooks', 403)
  const other = await openedWorkspace(t)
  other.fake.failing('GET /2.0/workspaces/{workspace}/hooks', 403)
  other.fake.failing('GET /2.0/repositories/{workspace}/{repo_slug}/hooks', 403)
  await assert.rejects(other.client.ensureWebhook(await other.read(other.shop), TARGET), HostRefusal)
})

const scopesOf = (fake: FakeBitbucket) => fake.hooks.hooks.map(({ scope }) => scope.split(' ')[0]).sort()

test('the workspace has one webhook, however many repositories are looked at together', async (t) => {
  const { fake, client, stories, read } = await openedWorkspace(t)
  const all = Array.from({ length: 8 }, (_, index) => stories.addRepository(`acme/shop-${index}`))
  const repositories = await Promise.all(all.map(read))
  await Promise.all(repositories.map((repository) => client.ensureWebhook(repository, TARGET)))
  assert.equal(scopesOf(fake).filter((scope) => scope === 'workspace').length, 1)
  assert.equal(fake.requests.filter((request) => /^POST .*workspaces/.test(request)).length, 2)
  withoutViolations(fake)
})

test('what two processes made at once is one webhook, and so is what is found twice', async (t) => {
  const { fake, client, token, shop, read } = await openedWorkspace(t)
  fake.trouble.latencyMs = 50
  const script = join(import.meta.dirname, '../../../../test/support/bitbucket/ensure-webhook.ts')
  const args = [script, fake.url, token, shop.owner.uuid, shop.uuid, JSON.stringify(TARGET)]
  await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)))
  assert.deepEqual(scopesOf(fake), ['repository', 'workspace'])
  fake.trouble.latencyMs = 0
  const [one] = fake.hooks.hooks
  fake.hooks.addHook({ ...(one as Hook), events: ['repo:push'] })
  const own = { url: TARGET.address, secret: 'old', scope: `repository ${shop.uuid}`, events: ['repo:push'] }
  for (let count = 0; count < 2; count += 1) fake.hooks.addHook(own)
  await client.ensureWebhook(await read(shop), { ...TARGET, look: 'second' })
  assert.deepEqual(scopesOf(fake), ['repository', 'workspace'])
  const reported = fake.hooks.hooks.flatMap(({ events }) => [...events])
  assert.equal(new Set(reported).size, reported.length, 'no event is reported by two webhooks')
  withoutViolations(fake)
})
