import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FakeGitLabOptions } from '../../../../test/support/gitlab/fake-gitlab.ts'
import { type OpenGitlab, openGitlab } from '../../../../test/support/gitlab/open-host.ts'
import { HostRefusal } from '../../code-host.ts'
import { formatSigningToken } from './webhook.ts'

const TARGET = { address: 'https://shiplock.example.com/webhooks/gitlab/1', secret: 'a secret' }

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
