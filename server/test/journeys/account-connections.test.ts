import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { type HostCredentials, HostRefusal, HostUnavailable } from '../../src/codehosts/code-host.ts'
import { connectInstallation } from '../../src/codehosts/connections/connect-installation.ts'
import { disconnect, removeWebhooks } from '../../src/codehosts/connections/remove-connection.job.ts'
import { applyDeliveries } from '../../src/codehosts/deliveries/apply-deliveries.ts'
import type { ObjectChange } from '../../src/codehosts/host-event.ts'
import { hostEventHandlers } from '../../src/host-event-handlers.ts'
import { accountHost, TOKEN } from '../support/account-host.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { hostRepository, hostRun } from '../support/host-objects.ts'
import { clearJobs, drainQueue } from '../support/queue.ts'

const SHARDS = 8
const host = accountHost()
let api: TestApi
let caller: Caller
let login: string
let numbers = 0

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  await clearJobs(api.services.sql)
  caller = await api.caller()
  numbers += 1
  login = `group-${numbers}`
  const account = { id: `${numbers}`, login, type: 'group' }
  host.accounts.set(login, { id: `${numbers}`, account, repositories: 'all', suspended: false })
  host.webhooks.clear()
  const page = async () => ({ items: [], next: null, etag: null })
  const lists = { listRuns: page, listDeployments: page, listAlerts: page, listPullRequests: page, listPushes: page }
  const listRepositories = async () => ({ items: [repository()], next: null, etag: null })
  Object.assign(host.answers, { ...lists, listRepositories, readCommits: async () => [], listJobs: async () => [] })
  Object.assign(host.answers, { readBranchHead: async () => null, readAccount: async () => null })
  for (const own of ['ensureWebhook', 'removeWebhooks'] as const) delete host.answers[own]
})

const repository = () =>
  hostRepository({
    ...{ provider: 'gitlab', host: 'gitlab.com', id: `9${numbers}`, full_name: `${login}/sub/shop` },
    owner_id: `${numbers}`,
  })
const run = (fields = {}) => hostRun({ repository: repository(), id: `7${numbers}`, ...fields })
const connect = (credentials: HostCredentials | null = TOKEN, org_id = caller.orgId) =>
  connectInstallation(api.services, { org_id, provider: 'gitlab', installation_id: login, credentials }, COMMAND_LINE)

/** Connects the account, and reads what it has. */
async function connected(): Promise<string> {
  const { id } = await connect()
  await drainQueue(api)
  return id
}

async function secretOf(id: string): Promise<string> {
  return (await api.services.secretsOfConnections.read(id))?.webhook_secret ?? assert.fail('no secret')
}

async function deliver(id: string, changes: ObjectChange[], token: string, path = `/webhooks/gitlab/${id}`) {
  const headers = { 'x-token': token, 'x-delivery': randomUUID() }
  return (await fetch(`${api.url}${path}`, { method: 'POST', headers, body: JSON.stringify(changes) })).status
}

async function applyAll(): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1)
    await applyDeliveries({ ...api.services, handlers: hostEventHandlers }, { shard })
  await drainQueue(api)
}

const show = async (id: string) => (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data

test('an account is connected by its name: its repositories are read and send their events here', async () => {
  const id = await connected()
  const address = `${api.services.config.baseUrl}/webhooks/gitlab/${id}`
  assert.deepEqual([...host.webhooks], [[address, await secretOf(id)]])
  const [row] = await api.services.sql`
    select credentials, installation_id, (select full_name from repositories where connection_id = connection.id)
    from codehost_connections connection
    where id = ${id}`
  assert.deepEqual([row?.installation_id, row?.full_name], [`${numbers}`, `${login}/sub/shop`])
  assert.match(row?.credentials, /^v1\./)
  assert.doesNotMatch(row?.credentials, /good token/)
})

test('credentials that the host does not accept, or that are missing, connect nothing', async () => {
  await assert.rejects(connect({ type: 'token', token: 'wrong' }), { status: 400, code: 'invalid_credentials' })
  await assert.rejects(connect(null), { status: 400, code: 'invalid_request' })
  host.accounts.delete(login)
  await assert.rejects(connect(), { status: 404 })
  assert.equal((await api.services.sql`select from codehost_connections where org_id = ${caller.orgId}`).count, 0)
})

test('connecting again replaces the credentials and keeps the secret of the webhooks, also at the same time', async () => {
  const id = await connected()
  const secret = await secretOf(id)
  const fresh: HostCredentials = { type: 'token', token: 'another token' }
  host.accepted.add(fresh.token)
  const again = await Promise.all([connect(fresh), connect(fresh), connect(fresh)])
  assert.deepEqual(
    again.map((made) => [made.id, made.created]),
    [1, 2, 3].map(() => [id, false]),
  )
  assert.deepEqual(await api.services.secretsOfConnections.read(id), { credentials: fresh, webhook_secret: secret })
  await assert.rejects(connect(fresh, (await api.caller()).orgId), { status: 409, code: 'account_connected' })
})

test('two organizations that connect an account at the same time: one of them has it', async () => {
  const other = await api.caller()
  const made = await Promise.allSettled([connect(), connect(TOKEN, other.orgId)])
  assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('a webhook names a run, which is read from the host; whatever the order, its newest state counts', async () => {
  const id = await connected()
  const secret = await secretOf(id)
  const change: ObjectChange = { type: 'run', repository_id: repository().id, id: run().id }
  host.answers.readRun = async () => run({ status: 'success', completed_at: new Date('2026-03-01T10:05:00Z') })
  assert.equal(await deliver(id, [change, change], secret), 202)
  assert.equal(await deliver(id, [change], secret), 202)
  await applyAll()
  assert.equal((await show(`gl_run_${run().id}`)).status, 'success')
})

test('a host that cannot be reached is asked again; what it refuses is left out', async () => {
  const id = await connected()
  const change: ObjectChange = { type: 'run', repository_id: repository().id, id: run().id }
  host.answers.readRun = async () => {
    throw new HostUnavailable('away')
  }
  assert.equal(await deliver(id, [change], await secretOf(id)), 202)
  await assert.rejects(applyAll(), HostUnavailable)
  host.answers.readRun = async () => {
    throw new HostRefusal(403, 'no')
  }
  assert.equal(await deliver(id, [change], await secretOf(id)), 202)
  await applyAll()
})

test('a push, a repository that was deleted, and what is outside the account', async () => {
  const id = await connected()
  const secret = await secretOf(id)
  host.answers.readRepository = async () => null
  const push = { ref: 'refs/heads/main', before: 'a'.repeat(40), after: 'b'.repeat(40), forced: false, pusher: null }
  const repository_id = repository().id
  assert.equal(
    await deliver(
      id,
      [
        { type: 'push', repository_id, push: { ...push, by_merge_queue: false, pushed_at: new Date() } },
        { type: 'run', repository_id: '123456', id: '1' },
        { type: 'repository', repository_id, change: 'deleted' },
      ],
      secret,
    ),
    202,
  )
  await applyAll()
  const [row] = await api.services
    .sql`select deleted_at from repositories where connection_id is null and id = ${repository_id}`
  assert.ok(row?.deleted_at)
})

test('a delivery without the secret of its connection is refused, and one for no connection too', async () => {
  const id = await connected()
  const secret = await secretOf(id)
  assert.equal(await deliver(id, [], 'wrong'), 401)
  assert.equal(await deliver(id, [], ''), 401)
  assert.equal(await deliver(id, [], secret, `/webhooks/gitlab/${randomUUID()}`), 401)
  assert.equal(await deliver(id, [], secret, '/webhooks/gitlab/x'), 401)
  assert.equal(await deliver(id, [], secret, '/webhooks/gitlab'), 404)
  assert.equal(await deliver(id, [], secret, `/webhooks/github/${id}`), 404)
})

test('disconnecting removes the webhooks and then the credentials; later deliveries are refused', async () => {
  const id = await connected()
  const secret = await secretOf(id)
  await disconnect(api.services, { id }, COMMAND_LINE)
  assert.equal(await deliver(id, [], secret), 401)
  await drainQueue(api)
  assert.equal(host.webhooks.size, 0)
  assert.equal(await api.services.secretsOfConnections.read(id), null)
  const { id: next, created } = await connect()
  assert.deepEqual([created, next === id], [true, false])
  assert.notEqual(await secretOf(next), secret)
})

test('credentials are removed although the host does not let us remove the webhooks', async () => {
  const [refused, unreachable] = [new HostRefusal(403, 'no'), new HostUnavailable('away')]
  for (const error of [refused, unreachable]) {
    const id = await connected()
    host.answers.removeWebhooks = async () => {
      throw error
    }
    await disconnect(api.services, { id }, COMMAND_LINE)
    await clearJobs(api.services.sql)
    const work = removeWebhooks.run(api.services, { connection_id: id })
    if (error === refused) await work
    else {
      await assert.rejects(work, HostUnavailable)
      await removeWebhooks.giveUp?.(api.services, { connection_id: id }, { cause: 'failed' })
    }
    assert.equal(await api.services.secretsOfConnections.read(id), null)
  }
})
