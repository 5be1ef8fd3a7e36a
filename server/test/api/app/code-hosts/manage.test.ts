import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { applyDeliveries } from '../../../../src/codehosts/deliveries/apply-deliveries.ts'
import type { GithubApp } from '../../../../src/codehosts/hosts/github/app/github-app.ts'
import { PAYLOAD_CHARS_MAX } from '../../../../src/codehosts/setup/code-host.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { applyingHandlers, createAppliedTable } from '../../../support/applied-runs.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { runPayload, sendWebhook, webhookHost } from '../../../support/webhooks.ts'

const SHARDS = 8

let api: TestApi
/** A server whose organizations do not trust each other. */
let apart: TestApi
let caller: Caller
let admin: Person
let installation: string
let numbers = 5000

const codeHosts = new Map(
  [...webhookHost()].map(([provider, host]) => [
    provider,
    {
      ...host,
      readInstallation: async (id: string) =>
        id === installation
          ? {
              id,
              account: { id: `9${id}`, login: `acme-${id}`, type: 'organization' },
              repositories: 'all',
              suspended: false,
            }
          : null,
    } as unknown as typeof host,
  ]),
)

before(async () => {
  api = await startTestApi({ codeHosts, env: { SHIPLOCK_ORGANIZATIONS_TRUST_EACH_OTHER: 'true' } })
  apart = await startTestApi({ codeHosts, beside: api })
  await createAppliedTable(api.services.sql)
  githubApp(api).require = async () => ({}) as never
})
after(async () => {
  await apart?.close()
  await api?.close()
})
beforeEach(async () => {
  installation = `${numbers++}`
  caller = await api.caller()
  admin = await createPerson(api, caller)
})

const as = (who: Person, method: string, path = '', body?: object) =>
  requestAs(api, who, method, `/code-hosts${path}`, body)
const connect = (who = admin) => as(who, 'POST', '', { provider: 'github', installation_id: installation })
const audited = async () =>
  (await requestAs(api, admin, 'GET', '/audit-log')).body.data.map(({ action, principal }: Json) => [
    action,
    principal.id,
  ])

async function deliver(message: string, of = installation, unfit = false): Promise<string> {
  const id = randomUUID()
  const owner = { id: `9${of}`, login: `acme-${of}` }
  const more = { installation: { id: Number(of) }, owner, ...(unfit && { unfit }) }
  assert.equal((await sendWebhook(api, runPayload(numbers++, message, more), { id })).status, 202)
  return id
}

async function applyAll(): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1)
    await applyDeliveries({ ...api.services, handlers: applyingHandlers() }, { shard })
}

test('201 for a new connection and 200 for the same again; it is listed, read and recorded with the person', async () => {
  const made = await connect()
  assert.equal(made.status, 201, made.text)
  const { id, account, status, sync } = made.body.data
  assert.deepEqual([account.login, status, sync.state], [`acme-${installation}`, 'active', 'idle'])
  const again = await connect()
  assert.deepEqual([again.status, again.body.data.id], [200, id])
  assert.deepEqual((await as(admin, 'GET')).body.data, [made.body.data])
  assert.deepEqual((await as(admin, 'GET', `/${id}`)).body.data, made.body.data)
  assert.deepEqual(await audited(), [['connection.create', admin.userId]])
})

test('400 or 404 for ids of another form', async () => {
  for (const id of ['%00', '%ff', 'a'.repeat(101), '..%2f..', '%F0%9F%92%A9', "'"]) {
    for (const path of [`/${id}`, `/deliveries/${id}`]) {
      const { status } = await as(admin, 'GET', path)
      assert.ok([400, 404].includes(status), `${path}: ${status}`)
    }
  }
})

test('404 for an installation that does not exist', async () => {
  assertError(await as(admin, 'POST', '', { provider: 'github', installation_id: '1' }), 404, 'not_found')
})

test('409 account_connected for an account of another organization, without its name', async () => {
  const other = await createPerson(api, await api.caller())
  await connect(other)
  const refused = await connect()
  assertError(refused, 409, 'account_connected')
  assert.ok(!refused.text.includes(other.org.split('/').at(-1) as string), refused.text)
})

test('another organization sees and changes nothing of a connection', async () => {
  const { id } = (await connect()).body.data
  const delivery = await deliver('one')
  const other = await createPerson(api, await api.caller())
  assert.deepEqual((await as(other, 'GET')).body.data, [])
  assert.deepEqual((await as(other, 'GET', '/deliveries')).body.data, [])
  for (const [method, path] of [
    ['GET', `/${id}`],
    ['DELETE', `/${id}`],
    ['POST', `/${id}/sync`],
    ['GET', `/deliveries/${delivery}`],
    ['GET', `/deliveries/${delivery}/payload`],
    ['POST', `/deliveries/${delivery}/replay`],
    ['GET', '/nothing'],
    ['DELETE', '/nothing'],
  ] as const)
    assertError(await as(other, method, path), 404, 'not_found')
})

test('a connection is synchronized and disconnected; 409 afterwards', async () => {
  const { id } = (await connect()).body.data
  assert.equal((await as(admin, 'POST', `/${id}/sync`)).status, 202)
  assert.equal((await as(admin, 'POST', `/${id}/sync`, { since_days: 30 })).status, 202)
  assertInvalid(await as(admin, 'POST', `/${id}/sync`, { since_days: 401 }), '/body/since_days')
  const [sync] = await api.services.sql`
    select requested_since
    from codehost_syncs
    where connection_id = ${id}`
  assert.equal(sync?.requested_since.getTime(), api.clock.now().getTime() - 30 * 86_400_000)
  assert.equal((await as(admin, 'DELETE', `/${id}`)).body.data.status, 'removed')
  assertError(await as(admin, 'DELETE', `/${id}`), 409, 'already_removed')
  assertError(await as(admin, 'POST', `/${id}/sync`), 409, 'not_active')
  assert.deepEqual((await audited()).map(([action]: [string]) => action).sort(), [
    'connection.create',
    'connection.remove',
    'connection.sync',
    'connection.sync',
  ])
})

test('deliveries are listed by status, read and replayed', async () => {
  await connect()
  const good = await deliver('good')
  api.clock.advance(1)
  const bad = await deliver('bad', installation, true)
  assertError(await as(admin, 'POST', `/deliveries/${good}/replay`), 409, 'not_replayable')
  await applyAll()
  const listed = (await as(admin, 'GET', '/deliveries')).body.data
  assert.deepEqual(
    listed.map(({ id, status }: Json) => [id, status]),
    [
      [bad, 'failed'],
      [good, 'applied'],
    ],
  )
  assert.deepEqual((await as(admin, 'GET', '/deliveries?status=failed')).body.data, [listed[0]])
  assert.deepEqual((await as(admin, 'GET', `/deliveries/${bad}`)).body.data, listed[0])
  const page = (await as(admin, 'GET', '/deliveries?limit=1')).body
  const next = await as(admin, 'GET', `/deliveries?limit=1&cursor=${page.next_cursor}`)
  assert.deepEqual([page.data[0].id, next.body.data[0].id, next.body.next_cursor], [bad, good, null])
  const replayed = await as(admin, 'POST', `/deliveries/${bad}/replay`)
  assert.deepEqual([replayed.status, replayed.body.data.status], [202, 'received'])
  assert.ok((await audited()).some(([action]: [string]) => action === 'delivery.replay'))
})

test('the payload of a delivery is shown until it expires, and only its start if it is long', async () => {
  await connect()
  const id = await deliver('one')
  const payload = async () => as(admin, 'GET', `/deliveries/${id}/payload`)
  const { data } = (await payload()).body
  assert.equal(JSON.parse(data.payload).installation.id, Number(installation))
  assert.equal(data.truncated, false)
  await api.services.sql`
    update codehost_deliveries
    set payload = repeat('x', ${PAYLOAD_CHARS_MAX + 1})
    where id = ${id}`
  const long = (await payload()).body.data
  assert.deepEqual([long.payload.length, long.truncated], [PAYLOAD_CHARS_MAX, true])
  await api.services.sql`
    update codehost_deliveries
    set payload = null
    where id = ${id}`
  assertError(await payload(), 404, 'not_found')
})

test('the App of the server is described without its secrets, with the address that installs it', async () => {
  const described = async () => (await as(admin, 'GET', '/setup')).body.data
  assert.deepEqual(await described(), { provider: 'github', source: null, name: null, install_url: null })
  const html_url = 'https://github.com/apps/shiplock-acme'
  const secrets = { private_key: 'the private key', webhook_secret: 'the webhook secret' }
  const api_url = api.services.config.codeHosts.github.url
  await githubApp(api).store({ api_url, app_id: '7', slug: 'shiplock-acme', html_url, ...secrets })
  assert.deepEqual(await described(), {
    provider: 'github',
    source: 'setup',
    name: 'shiplock-acme',
    install_url: `${html_url}/installations/new?state=${caller.slug}`,
  })
  await api.services.sql`delete from codehost_apps`
})

test('after the installation, GitHub sends the browser to the organization, which it cannot choose freely', async () => {
  const returned = async (query: string) => {
    const response = await fetch(`${api.url}/setup/github/installed${query}`, { redirect: 'manual' })
    return response.headers.get('location')
  }
  const settings = '/orgs/acme/settings/code-hosts'
  assert.equal(await returned('?state=acme&installation_id=7&setup_action=install'), `${settings}?installation=7`)
  assert.equal(await returned('?state=acme&setup_action=request'), settings)
  assert.equal(await returned('?state=acme&installation_id=7%26x'), settings)
  for (const state of ['', '../..', '/example.com', 'a%0ab']) assert.equal(await returned(`?state=${state}`), null)
})

test('a waiting installation is listed until it is connected', async () => {
  await deliver('early')
  await applyAll()
  const waiting = async () => (await as(admin, 'GET', '/waiting')).body.data.map(({ id }: Json) => id)
  assert.ok((await waiting()).includes(installation))
  await connect()
  assert.ok(!(await waiting()).includes(installation))
})

test('201 with an address for the setup, which is recorded; 409 if another organization uses the App', async () => {
  await api.services.sql`update codehost_connections set status = 'removed'`
  const begun = await as(admin, 'POST', '/setup', { provider: 'github', organization: 'acme' })
  assert.equal(begun.status, 201, begun.text)
  assert.ok(begun.body.data.url.startsWith(api.url))
  assert.deepEqual(await audited(), [['code_host.set_up', admin.userId]])
  assertError(await as(admin, 'POST', '/setup', { provider: 'github', organization: '-' }), 400, 'invalid_request')
  await connect()
  assert.equal((await as(admin, 'POST', '/setup', { provider: 'github' })).status, 201)
  const other = await createPerson(api, await api.caller())
  assertError(await as(other, 'POST', '/setup', { provider: 'github' }), 409, 'already_configured')
})

test('organizations that do not trust each other: only the operator sets up the App and connects what waits', async () => {
  githubApp(apart).require = async () => ({}) as never
  await createPerson(api, await api.caller())
  await deliver('early')
  const from = (method: string, path = '', body?: object) => requestAs(apart, admin, method, `/code-hosts${path}`, body)
  const connectFrom = (id = installation) => from('POST', '', { provider: 'github', installation_id: id })
  assert.deepEqual((await from('GET', '/waiting')).body.data, [])
  assertError(await from('POST', '/setup', { provider: 'github' }), 403, 'server_admin_required')
  const refused = await connectFrom()
  assertError(refused, 403, 'server_admin_required')
  assert.deepEqual((await connectFrom('1')).body, refused.body, 'an installation that does not exist')
  assert.deepEqual((await from('GET')).body.data, [])
})

test('an organization connects an account again that it had last, and no other organization does', async () => {
  githubApp(apart).require = async () => ({}) as never
  const other = await createPerson(api, await api.caller())
  const connectFrom = (who: Person) =>
    requestAs(apart, who, 'POST', '/code-hosts', { provider: 'github', installation_id: installation })
  const waiting = async (who: Person) => (await requestAs(apart, who, 'GET', '/code-hosts/waiting')).body.data.length
  const { id } = (await connect()).body.data
  assert.equal((await connectFrom(admin)).status, 200)
  assertError(await connectFrom(other), 403, 'server_admin_required')
  assert.equal((await requestAs(apart, admin, 'DELETE', `/code-hosts/${id}`)).status, 200)
  assert.deepEqual([await waiting(admin), await waiting(other)], [1, 0])
  assertError(await connectFrom(other), 403, 'server_admin_required')
  api.clock.advance(1)
  const others = (await connect(other)).body.data
  api.clock.advance(1)
  assert.equal((await as(other, 'DELETE', `/${others.id}`)).status, 200)
  assert.deepEqual([await waiting(admin), await waiting(other)], [0, 1])
  assertError(await connectFrom(admin), 403, 'server_admin_required')
  assert.equal((await connectFrom(other)).status, 201)
})

test('403 without the permission manage_integrations', async () => {
  const manager = await createPerson(api, { ...caller, role: 'release_manager' })
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/setup'],
    ['GET', '/waiting'],
    ['GET', '/deliveries'],
    ['POST', '/setup'],
  ] as const)
    assertError(await as(manager, method, path), 403, 'insufficient_permission')
})

function githubApp({ services }: TestApi): GithubApp {
  return services.hostApps.get('github') as GithubApp
}
