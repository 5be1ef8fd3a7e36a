import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { type HostInstallation, HostUnavailable, type InstallationEvent } from '../../src/codehosts/code-host.ts'
import { applyInstallationEvent } from '../../src/codehosts/connections/apply-installation-event.ts'
import { connectInstallation } from '../../src/codehosts/connections/connect-installation.ts'
import {
  findConnectionOfInstallation,
  updateConnectionEvent,
} from '../../src/codehosts/connections/connection.store.ts'
import { listConnections, listWaiting } from '../../src/codehosts/connections/connection-list.store.ts'
import { upsertInstallation } from '../../src/codehosts/connections/installation.store.ts'
import { disconnect } from '../../src/codehosts/connections/remove-connection.job.ts'
import { saveRepository } from '../../src/codehosts/connections/save-repository.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { hostRepository } from '../support/host-objects.ts'
import { clearJobs, listJobs } from '../support/queue.ts'

const RUNS = 40
const GITHUB = { provider: 'github', host: 'github.com' } as const

const fake = fakeCodeHost()
let api: TestApi
let caller: Caller
let numbers = 0
let there: HostInstallation

before(async () => {
  api = await startTestApi({ codeHosts: fake.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  there = installation()
  fake.answers.readInstallation = async (id) => (id === there.id ? there : null)
})

function installation(fields: Partial<HostInstallation> = {}): HostInstallation {
  numbers += 1
  const account = { id: `${numbers + 1000}`, login: `acme-${numbers}`, type: 'Organization' }
  return { id: `${numbers}`, account, repositories: 'all', suspended: false, ...fields }
}

const connect = (org_id = caller.orgId, installation_id = there.id) =>
  connectInstallation(api.services, { org_id, provider: 'github', installation_id, credentials: null }, COMMAND_LINE)
const apply = (change: InstallationEvent['change'], about: HostInstallation, more: Partial<InstallationEvent> = {}) =>
  api.services.sql.begin((tx) =>
    applyInstallationEvent(api.services, tx, GITHUB, { change, installation: about, added: [], removed: [], ...more }),
  )
const statuses = async (orgId = caller.orgId) =>
  (await listConnections(api.services.sql, orgId)).map(({ connection }) => connection.status)
const waiting = async () => (await listWaiting(api.services.sql, null)).map(({ id }) => id)
const actions = async (orgId = caller.orgId) =>
  (
    await api.services.sql`select action, principal_type from audit_entries where org_id = ${orgId} order by action`
  ).map(({ action, principal_type }) => `${principal_type} ${action}`)
const announced = async (connectionId: string) =>
  (await listJobs(api.services.sql)).filter(({ key }) => key === `event codehosts.connection.made ${connectionId}`)
    .length
const forget = () => clearJobs(api.services.sql)

test('connecting an installation stores, audits and announces it; connecting it again returns the same', async () => {
  const made = await connect()
  assert.deepEqual(await connect(), { ...made, created: false })
  const [{ connection } = assert.fail()] = await listConnections(api.services.sql, caller.orgId)
  assert.deepEqual(connection, {
    id: made.id,
    ...GITHUB,
    account: there.account,
    status: 'active',
    repositories: 'all',
    connected_at: api.clock.now(),
    last_event_at: null,
    last_synced_at: null,
    sync: { state: 'idle', phase: null, done: null, total: null, error: null },
    refusals: [],
    refusals_total: 0,
  })
  assert.deepEqual(await actions(), ['command_line connection.create'])
  assert.equal(await announced(made.id), 1)
})

test('an account belongs to one organization: another one gets an error that names the first', async () => {
  await connect()
  const other = await api.caller()
  await assert.rejects(connect(other.orgId), new RegExp(`is connected to the organization "${caller.slug}"`))
  there = installation({ account: there.account })
  await assert.rejects(connect(other.orgId), new RegExp(`is connected to the organization "${caller.slug}"`))
  assert.deepEqual(await statuses(other.orgId), [])
})

test('of parallel connects of one installation, one makes the connection and the others return it', async () => {
  const made = await Promise.all(Array.from({ length: 6 }, () => connect()))
  assert.equal(new Set(made.map(({ id }) => id)).size, 1)
  assert.equal(made.filter(({ created }) => created).length, 1)
})

test('of parallel connects of one account by several organizations, one succeeds', async () => {
  const callers = await Promise.all(Array.from({ length: 5 }, () => api.caller()))
  const installations = callers.map(() => installation({ account: there.account }))
  fake.answers.readInstallation = async (id) => installations.find((one) => one.id === id) ?? null
  const ended = await Promise.allSettled(callers.map(({ orgId }, at) => connect(orgId, installations[at]?.id)))
  assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const one of ended) if (one.status === 'rejected') assert.match(one.reason.message, /is connected to the org/)
})

test('an account that was installed anew replaces its older connection', async () => {
  const first = await connect()
  there = installation({ account: there.account })
  const second = await connect()
  assert.notEqual(second.id, first.id)
  assert.deepEqual((await statuses()).sort(), ['active', 'removed'])
})

test('a disconnected account can be connected again, as a new connection, by another organization too', async () => {
  const first = await connect()
  await disconnect(api.services, { id: first.id }, COMMAND_LINE)
  await assert.rejects(disconnect(api.services, { id: first.id }, COMMAND_LINE), /is already removed/)
  assert.deepEqual(await waiting().then((ids) => ids.includes(there.id)), true)
  const other = await api.caller()
  const second = await connect(other.orgId)
  assert.ok(second.created && second.id !== first.id)
  assert.deepEqual([await statuses(), await statuses(other.orgId)], [['removed'], ['active']])
  assert.deepEqual(await actions(), ['command_line connection.create', 'command_line connection.remove'])
})

test('a disconnected account keeps its repositories with their names, outside of the connection', async () => {
  const { id } = await connect()
  await rememberShop(id)
  await disconnect(api.services, { id }, COMMAND_LINE)
  assert.deepEqual(await shop(), { full_name: `${there.account.login}/shop`, connection_id: null })
})

test('an installation that does not exist, and an id that is none, are refused', async () => {
  await assert.rejects(connect(caller.orgId, '999999'), { status: 404 })
  await assert.rejects(connect(caller.orgId, 'a b'), { status: 400 })
  await assert.rejects(disconnect(api.services, { id: 'x' }, COMMAND_LINE), { status: 400 })
  await assert.rejects(disconnect(api.services, { id: caller.orgId }, COMMAND_LINE), { status: 404 })
})

test('while the host cannot be reached, an installation is connected as its webhook described it', async () => {
  fake.answers.readInstallation = async () => {
    throw new HostUnavailable('down')
  }
  await api.services.sql.begin((tx) => upsertInstallation(tx, { ...GITHUB, id: there.id }, api.clock.now()))
  await assert.rejects(connect(), /cannot be reached, and no webhook has described/)
  await apply('created', { ...there, repositories: 'selected' })
  await connect()
  const [{ connection } = assert.fail()] = await listConnections(api.services.sql, caller.orgId)
  assert.deepEqual([connection.account, connection.repositories], [there.account, 'selected'])
})

test('an installation that nobody connected is listed as waiting until it is connected or removed', async () => {
  const unseen = installation()
  await upsertInstallation(api.services.sql, { ...GITHUB, id: unseen.id }, api.clock.now())
  await apply('created', there)
  const listed = await listWaiting(api.services.sql, null)
  const [named, described] = [unseen.id, there.id].map((id) => listed.find((one) => one.id === id))
  assert.deepEqual([named?.account, named?.status], [null, 'waiting'])
  assert.deepEqual([described?.account, described?.repositories], [there.account, 'all'])
  await connect()
  await apply('removed', unseen)
  const after = await waiting()
  assert.ok(!after.includes(there.id) && !after.includes(unseen.id))
})

test('suspending, resuming and removing an installation changes its connection, with an audit entry each', async () => {
  const { id } = await connect()
  await apply('suspended', { ...there, suspended: true })
  assert.deepEqual(await statuses(), ['suspended'])
  await forget()
  await apply('unsuspended', there)
  assert.deepEqual([await statuses(), await announced(id)], [['active'], 1])
  await rememberShop(id)
  await apply('removed', there)
  assert.deepEqual([await statuses(), (await shop())?.connection_id], [['removed'], null])
  assert.deepEqual(await actions(), [
    'command_line connection.create',
    'system connection.remove',
    'system connection.resume',
    'system connection.suspend',
  ])
  assert.equal(await findConnectionOfInstallation(api.services.sql, 'github', 'github.com', there.id), null)
})

test('an installation that the host describes again after its removal can be connected and stays connected', async () => {
  await connect()
  await apply('removed', there)
  const { id } = await connect()
  await apply('changed', there)
  assert.deepEqual((await statuses()).sort(), ['active', 'removed'])
  assert.equal((await findConnectionOfInstallation(api.services.sql, 'github', 'github.com', there.id))?.id, id)
})

test('a renamed account is shown under its new name', async () => {
  await connect()
  await apply('changed', { ...there, account: { ...there.account, login: 'renamed' } })
  const [{ connection } = assert.fail()] = await listConnections(api.services.sql, caller.orgId)
  assert.equal(connection.account?.login, 'renamed')
})

test('the final status does not depend on the order of events, where the host tells their times', async () => {
  const at = (day: number) => ({ ...there, updated_at: new Date(Date.UTC(2026, 1, day)) })
  const story = (): [InstallationEvent['change'], HostInstallation][] => [
    ['created', at(1)],
    ['suspended', { ...at(2), suspended: true }],
    ['unsuspended', at(3)],
    ['changed', { ...at(4), repositories: 'selected' }],
    ['suspended', { ...at(5), repositories: 'selected', suspended: true }],
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([0, 1, 2, 3, 4, 0, 3], { minLength: 7 }),
      fc.boolean(),
      async (order, isEnded) => {
        there = installation()
        caller = await api.caller()
        fake.answers.readInstallation = async () => at(1)
        await connect()
        const events = story()
        if (isEnded) events.splice(0, 1, ['removed', at(6)])
        for (const index of order) await apply(...(events[index] as (typeof events)[number]))
        assert.deepEqual(await statuses(), [isEnded ? 'removed' : 'suspended'])
      },
    ),
    { numRuns: RUNS },
  )
})

test('repositories leave and join a selection, and late events do not bring them back', async () => {
  const { id } = await connect()
  await rememberShop(id)
  const name = { id: '1001', full_name: `${there.account.login}/shop` }
  await apply('changed', there, { removed: [name] })
  await rememberShop(id)
  assert.equal((await shop())?.connection_id, null)
  await forget()
  await apply('changed', there, { added: [name] })
  assert.deepEqual([(await shop())?.connection_id, await announced(id)], [id, 1])
})

test('the creation of an installation that is delivered late does not bring removed repositories back', async () => {
  const { id } = await connect()
  await rememberShop(id)
  const name = { id: '1001', full_name: `${there.account.login}/shop` }
  await apply('changed', there, { removed: [name] })
  await apply('created', there, { added: [name] })
  assert.equal((await shop())?.connection_id, null)
})

test('a repository that was removed from the selection before it was first described stays outside', async () => {
  const { id } = await connect()
  await apply('changed', there, { removed: [{ id: '1001', full_name: 'x/shop' }] })
  await rememberShop(id)
  assert.equal((await shop())?.connection_id, null)
  await rememberShop(id, new Date(api.clock.now().getTime() + 1000))
  assert.equal((await shop())?.connection_id, id)
})

test('the time of the last event is noted at most once a minute, and nobody waits for it', async () => {
  const { id } = await connect()
  const connection = { org_id: caller.orgId, id }
  const { sql } = api.services
  const note = (seconds: number) =>
    sql.begin((tx) => updateConnectionEvent(tx, connection, new Date(Date.UTC(2026, 2, 1, 0, 0, seconds))))
  const noted = async () => (await listConnections(sql, caller.orgId))[0]?.connection.last_event_at?.toISOString()
  await note(0)
  await note(59)
  assert.equal(await noted(), '2026-03-01T00:00:00.000Z')
  await sql.begin(async (holder) => {
    await holder`select from codehost_connections where id = ${id} for update`
    await note(61)
  })
  assert.equal(await noted(), '2026-03-01T00:00:00.000Z')
  await note(61)
  assert.equal(await noted(), '2026-03-01T00:01:01.000Z')
})

async function rememberShop(connectionId: string, updatedAt?: Date): Promise<void> {
  const { id, login } = there.account
  const fields = { full_name: `${login}/shop`, owner_id: id, ...(updatedAt && { updated_at: updatedAt }) }
  const source = { org_id: caller.orgId, connection_id: connectionId, ...GITHUB }
  await api.services.sql.begin((tx) => saveRepository(api.services, tx, source, hostRepository(fields)))
}

async function shop() {
  const [row] = await api.services.sql`
    select full_name, connection_id from repositories where org_id = ${caller.orgId} and id = '1001'`
  return row
}
