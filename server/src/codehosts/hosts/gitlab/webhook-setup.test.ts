import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { FakeGitLabOptions } from '../../../../test/support/gitlab/fake-gitlab.ts'
import { type OpenGitlab, openGitlab } from '../../../../test/support/gitlab/open-host.ts'
import { HostRefusal } from '../../code-host.ts'
import { formatSigningToken } from './webhook.ts'

const TARGET = { address: 'https://shiplock.example.com/webhooks/gitlab/1', secret: 'a secret', look: 'first' }

async function withHost(options: FakeGitLabOptions, run: (open: OpenGitlab) => Promise<void>): Promise<void> {
  const open = await openGitlab(options)
  try {
    await run(open)
    assert.deepEqual(open.fake.violations, [])
  } finally {
    await open.fake.close()
  }
}

const EVENTS = [
  'deployment_events',
  'job_events',
  'merge_requests_events',
  'note_events',
  'pipeline_events',
  'project_events',
  'push_events',
  'vulnerability_events',
]

test('one webhook of the group covers all its projects, and is checked seldom', () =>
  withHost({}, async ({ fake, client, addProject }) => {
    const [one, other] = [await addProject('one'), await addProject('other')]
    for (const { repository } of [one, other, one]) await client.ensureWebhook(repository, TARGET)
    const [hook, ...more] = fake.hooks.hooks
    assert.deepEqual([hook?.scope, more], [`group ${one.repository.owner_id}`, []])
    assert.deepEqual([...(hook?.events ?? [])].sort(), EVENTS)
    assert.equal(hook?.settings.enable_ssl_verification, true)
    // A webhook that signs sends no token.
    assert.deepEqual([hook?.secret, hook?.settings.signing_token], ['', formatSigningToken(TARGET.secret)])
    assert.equal(fake.requests.filter((request) => request.startsWith('POST')).length, 1)
  }))

test('a server that cannot sign gets the token', () =>
  withHost({ signs: false }, async ({ fake, client, addProject }) => {
    await client.ensureWebhook((await addProject('one')).repository, TARGET)
    assert.deepEqual(
      fake.hooks.hooks.map(({ secret, settings }) => [secret, settings.signing_token]),
      [[TARGET.secret, undefined]],
    )
  }))

test('an edition without group webhooks gets one for each project', () =>
  withHost({ edition: 'free' }, async ({ fake, client, addProject }) => {
    const projects = [await addProject('one'), await addProject('other')]
    for (const { repository } of projects) await client.ensureWebhook(repository, TARGET)
    assert.deepEqual(
      fake.hooks.hooks.map(({ scope }) => scope),
      projects.map(({ project }) => `project ${project.id}`),
    )
    await client.removeWebhooks(TARGET.address)
    assert.deepEqual(fake.hooks.hooks, [])
  }))

test('a changed webhook is corrected, a second one and those of the connection are removed', () =>
  withHost({}, async ({ fake, client, addProject }) => {
    const { repository } = await addProject('one')
    const scope = `group ${repository.owner_id}`
    const wrong = { url: TARGET.address, secret: 'old', scope, events: ['issues_events'] }
    fake.hooks.addHook({ ...wrong, settings: { enable_ssl_verification: false } })
    fake.hooks.addHook(wrong)
    const foreign = fake.hooks.addHook({ ...wrong, url: 'https://other.example.com/' })
    await client.ensureWebhook(repository, TARGET)
    const own = fake.hooks.hooks.filter(({ url }) => url === TARGET.address)
    assert.deepEqual(
      own.map(({ events, settings }) => [[...events].sort(), settings.enable_ssl_verification]),
      [[EVENTS, true]],
    )
    await client.removeWebhooks(TARGET.address)
    assert.deepEqual(fake.hooks.hooks, [foreign])
  }))

test('a new secret is sent at once', () =>
  withHost({ signs: false }, async ({ fake, client, addProject }) => {
    const { repository } = await addProject('one')
    await client.ensureWebhook(repository, TARGET)
    await client.ensureWebhook(repository, { ...TARGET, secret: 'a new one' })
    assert.deepEqual(
      fake.hooks.hooks.map(({ secret }) => secret),
      ['a new one'],
    )
  }))

test('a token that may not manage webhooks is refused with the role that it needs', () =>
  withHost({}, async ({ fake, client, addProject }) => {
    const { repository } = await addProject('one')
    for (const kind of ['groups', 'projects']) fake.trouble.failing.set(`GET /api/v4/${kind}/{id}/hooks`, 403)
    await assert.rejects(client.ensureWebhook(repository, TARGET), (error) => {
      assert.ok(error instanceof HostRefusal)
      return /Maintainer/.test(error.message)
    })
    fake.trouble.failing.clear()
  }))

test('a Maintainer has the webhook of each project, and a Developer none, whatever the edition', () =>
  withHost({}, async ({ fake, client, addProject }) => {
    const { project, repository } = await addProject('one')
    fake.setAccessLevel(30)
    await assert.rejects(client.ensureWebhook(repository, TARGET), {
      status: 403,
      message: /needs the role Maintainer/,
    })
    fake.setAccessLevel(40)
    await client.ensureWebhook(repository, { ...TARGET, look: 'second' })
    assert.deepEqual(
      fake.hooks.hooks.map(({ scope }) => scope),
      [`project ${project.id}`],
    )
  }))

/** A server that answers every request with the status that it has at that moment. */
async function startReceiver() {
  const receiver = { status: 202, url: '', close: () => {} }
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(receiver.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  receiver.close = () => void server.close()
  return receiver
}

test('a webhook that GitLab disabled is enabled by a test request at the next look', (t) =>
  withHost({}, async ({ fake, client, addProject }) => {
    const receiver = await startReceiver()
    t.after(receiver.close)
    const target = { ...TARGET, address: receiver.url }
    const { repository } = await addProject('one')
    await client.ensureWebhook(repository, target)
    const [hook] = fake.hooks.hooks
    assert.ok(hook)
    hook.active = false
    await client.ensureWebhook(repository, target)
    assert.equal(hook.active, false, 'the same synchronization looks once')
    receiver.status = 500
    const refused = client.ensureWebhook(repository, { ...target, look: 'second' })
    await assert.rejects(refused, /GitLab has disabled the webhook, and its test request failed/)
    receiver.status = 202
    await client.ensureWebhook(repository, { ...target, look: 'second' })
    assert.deepEqual([hook.active, fake.hooks.hooks], [true, [hook]])
  }))

test('a server without test requests gets another webhook for a disabled one', () =>
  withHost({}, async ({ fake, client, addProject }) => {
    const { repository } = await addProject('one')
    await client.ensureWebhook(repository, TARGET)
    for (const hook of fake.hooks.hooks) hook.active = false
    fake.trouble.failing.set('POST /api/v4/groups/{id}/hooks/{hook_id}/test/{trigger}', 404)
    await client.ensureWebhook(repository, { ...TARGET, look: 'second' })
    assert.deepEqual(
      fake.hooks.hooks.map(({ active }) => active),
      [true],
    )
  }))

test('two servers that look at once leave one webhook, and none in the projects of the group', () =>
  withHost({}, async ({ fake, host, client, addProject }) => {
    const { project, repository } = await addProject('one')
    fake.hooks.addHook({ url: TARGET.address, secret: '', scope: `project ${project.id}`, events: ['push_events'] })
    const other = host.open({ id: 'the same on another server', installation_id: repository.owner_id, host: 'x' })
    await Promise.all([client, other].map((one) => one.ensureWebhook(repository, TARGET)))
    assert.deepEqual(
      fake.hooks.hooks.map(({ scope }) => scope),
      [`group ${repository.owner_id}`],
    )
  }))
