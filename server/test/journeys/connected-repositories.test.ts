import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { applyRepositoryEvent, saveRepository } from '../../src/codehosts/connections/save-repository.ts'
import type { HostEvents, HostSource } from '../../src/codehosts/host-event.ts'
import type { HostRepository } from '../../src/codehosts/host-repository.ts'
import { findById, findByName, findOnHost, listRepositories } from '../../src/repositories/repository.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { hostRepository, insertConnection } from '../support/host-objects.ts'
import { codeResult } from '../support/issues.ts'
import { drainQueue, listJobs } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { sarif } from '../support/sarif.ts'

const RUNS = 60

let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  source = await connect(caller.orgId)
})

/** Connects the account that owns the repository: one organization at a time can have it. */
async function connect(orgId: string, repository = hostRepository()): Promise<HostSource> {
  const { sql } = api.services
  await sql`update codehost_connections set status = 'removed' where account_id = ${repository.owner_id}`
  const made = await insertConnection(sql, orgId, repository)
  await sql`update codehost_connections set account_id = ${repository.owner_id} where id = ${made.connection_id}`
  return made
}

const day = (number: number) => new Date(Date.UTC(2026, 1, number))
const remember = (repository: HostRepository, from = source) =>
  api.services.sql.begin((tx) => saveRepository(api.services, tx, from, repository))
const happen = (change: HostEvents['repository']['change'], repository: HostRepository) =>
  api.services.sql.begin((tx) => applyRepositoryEvent(api.services, tx, source, { change, repository }))

/** What is stored of a repository, without what never changes. */
async function stored(id = '1001', orgId = caller.orgId) {
  const [row] = await api.services.sql`
    select full_name, tracked_branch, owner_id, html_url, private, archived, deleted_at, host_updated_at, connection_id
    from repositories
    where org_id = ${orgId} and provider = 'github' and id = ${id}`
  return row
}

const renamed = (full_name: string, fields: Partial<HostRepository> = {}) =>
  hostRepository({ full_name, html_url: `https://github.com/${full_name}`, ...fields })

test('a link becomes the connected repository of its id, with the name and the default branch of the host', async () => {
  await link(api, caller, { provider: 'github', id: '7', name: 'acme/old', trackedBranch: 'develop' })
  await remember(renamed('acme/new', { id: '7', default_branch: 'trunk' }))
  const repository = await stored('7')
  assert.deepEqual(
    [repository?.full_name, repository?.tracked_branch, repository?.connection_id],
    ['acme/new', 'trunk', source.connection_id],
  )
})

test('the tracked branch of a link stays until the host tells all fields of the repository', async () => {
  await link(api, caller, { provider: 'github', id: '7', name: 'acme/shop2', trackedBranch: 'develop' })
  await remember(renamed('acme/shop2', { id: '7', updated_at: null }))
  assert.equal((await stored('7'))?.tracked_branch, 'develop')
  await remember(renamed('acme/shop2', { id: '7', default_branch: 'trunk' }))
  assert.equal((await stored('7'))?.tracked_branch, 'trunk')
})

test('newer facts replace older ones, and older ones change nothing', async () => {
  const newer = renamed('acme/store', { updated_at: day(20), private: false, archived: true, default_branch: 'next' })
  await remember({ ...newer, updated_at: new Date('2026-03-02T00:00:00Z') })
  const state = await stored()
  assert.deepEqual(
    [state?.full_name, state?.private, state?.archived, state?.tracked_branch],
    ['acme/store', false, true, 'next'],
  )
  await remember(hostRepository({ updated_at: day(1) }))
  await remember(hostRepository({ updated_at: null }))
  assert.deepEqual(await stored(), state)
})

test('a repository that is mentioned again costs no write', async () => {
  const version = async () =>
    (await api.services.sql`select xmin::text from repositories where org_id = ${caller.orgId}`)[0]?.xmin
  const before = await version()
  await remember(hostRepository())
  assert.equal(await version(), before)
})

test('of facts of the same time, a stated change replaces a mention', async () => {
  await happen('changed', renamed('acme/store'))
  await remember(hostRepository())
  assert.equal((await stored())?.full_name, 'acme/store')
})

test('a deleted repository keeps its history, and is found until another one takes its name', async () => {
  const { sql } = api.services
  await happen('deleted', hostRepository())
  await remember(hostRepository({ updated_at: day(1) }))
  const deleted = await stored()
  assert.deepEqual([deleted?.deleted_at, deleted?.connection_id], [api.clock.now(), null])
  assert.equal((await findByName(sql, caller.orgId, 'acme/shop'))[0]?.id, '1001')
  await remember(hostRepository({ id: '1002', updated_at: day(1) }))
  assert.deepEqual(
    (await findByName(sql, caller.orgId, 'ACME/Shop')).map(({ id }) => id),
    ['1002'],
  )
  assert.ok(await findById(sql, caller.orgId, 'github', '1001'))
})

test('a repository that the host describes after its deletion is there again', async () => {
  await happen('deleted', hostRepository())
  await remember(hostRepository({ updated_at: new Date('2026-03-02T00:00:00Z') }))
  const state = await stored()
  assert.deepEqual([state?.deleted_at, state?.connection_id], [null, source.connection_id])
})

test('a repository of an account without our App leaves the connection; one that comes back joins it', async () => {
  const away = renamed('other/shop', { owner_id: '99', updated_at: new Date('2026-03-02') })
  await happen('changed', away)
  assert.deepEqual([(await stored())?.connection_id, (await stored())?.full_name], [null, 'other/shop'])
  await remember(hostRepository())
  assert.equal((await stored())?.connection_id, null)
  await happen('changed', hostRepository({ updated_at: new Date('2026-03-03') }))
  assert.equal((await stored())?.connection_id, source.connection_id)
})

test('a repository that moves between two accounts of an organization moves between their connections', async () => {
  const to = await connect(caller.orgId, renamed('globex/other', { id: '2001', owner_id: '56' }))
  const moved = renamed('globex/shop', { owner_id: '56', updated_at: new Date('2026-03-02') })
  await remember(moved, to)
  await remember(hostRepository())
  assert.equal((await stored())?.connection_id, to.connection_id)
})

test('the repository that told its name last has it, in whatever order that was heard', async () => {
  const first = renamed('acme/cart', { id: '1', updated_at: day(1) })
  const second = renamed('acme/cart', { id: '2', updated_at: day(5) })
  const gone = renamed('acme/basket', { id: '1', updated_at: day(4) })
  for (const [orders, holder] of [
    [[first, second], '2'],
    [[second, first], '2'],
    [[second, first, gone], '2'],
    [[second, gone, first], '2'],
    [[first, renamed('acme/cart', { id: '2', updated_at: null })], '2'],
  ] as const) {
    await api.services.sql`delete from repositories where org_id = ${caller.orgId} and id in ('1', '2')`
    for (const repository of orders) await remember(repository)
    const { sql } = api.services
    assert.equal((await findOnHost(sql, caller.orgId, 'github.com', 'acme/cart'))?.id, holder)
  }
})

test('a new name is announced once and shown with what was reported before', async () => {
  await uploadReport(api, caller, sarif([codeResult('js/xss', 'src/a.ts', [1, 2])], 'CodeQL'), {
    repository: 'acme/shop',
  })
  await drainQueue(api)
  await happen('changed', renamed('acme/store', { updated_at: new Date('2026-03-02') }))
  await happen('changed', renamed('acme/store', { updated_at: new Date('2026-03-02') }))
  const queued = await listJobs(api.services.sql, 'event repositories.repository.renamed')
  assert.deepEqual(
    queued.map(({ payload }) => payload),
    [{ org_id: caller.orgId, provider: 'github', repository_id: '1001' }],
  )
  await drainQueue(api)
  const [finding] = await listFindings(api, caller)
  assert.equal(finding.repository, 'acme/store')
})

test('parallel events about one new repository store it once, with the newest facts', async () => {
  const versions = Array.from({ length: 8 }, (_, index) =>
    renamed(`acme/v${index}`, { id: '77', updated_at: day(index + 1) }),
  )
  await Promise.all(versions.map((repository) => remember(repository)))
  assert.equal((await stored('77'))?.full_name, 'acme/v7')
})

test('parallel events about repositories that exchange their names neither fail nor wait for each other forever', async () => {
  const rounds = Array.from({ length: 20 }, (_, round) => [
    renamed(round % 2 ? 'acme/a' : 'acme/b', { id: '1', updated_at: day(1 + (round >> 1)) }),
    renamed(round % 2 ? 'acme/b' : 'acme/a', { id: '2', updated_at: day(1 + (round >> 1)) }),
  ])
  await Promise.all(rounds.flat().map((repository) => happen('changed', repository)))
  const listed = (await listRepositories(api.services.sql, caller.orgId)).filter(({ id }) => id.length === 1)
  assert.equal(listed.length, 2)
})

test('a link that contradicts a connected repository is refused; one that agrees changes nothing', async () => {
  const state = await stored()
  const wanted = { provider: 'github', id: '1001', name: 'acme/shop' } as const
  await link(api, caller, { ...wanted, name: 'Acme/Shop', host: 'github.com', trackedBranch: 'main' })
  for (const other of [{ name: 'acme/store' }, { host: 'git.example' }, { trackedBranch: 'develop' }]) {
    await assert.rejects(link(api, caller, { ...wanted, ...other }), /acme\/shop \(github 1001\) is connected/)
  }
  await assert.rejects(link(api, caller, { ...wanted, id: '5' }), /already linked with another github id/)
  assert.deepEqual(await stored(), state)
})

/**
 * The life of two repositories. Each fact has its own time; the last one of each repository is its
 * final state.
 */
const HISTORY: [HostEvents['repository']['change'] | 'mentioned', HostRepository][] = [
  ['changed', renamed('acme/a', { id: '1', updated_at: day(1) })],
  ['mentioned', renamed('acme/a', { id: '1', updated_at: day(1) })],
  ['changed', renamed('acme/b', { id: '1', updated_at: day(2) })],
  ['mentioned', renamed('acme/b', { id: '1', updated_at: day(3), default_branch: 'next' })],
  ['changed', renamed('acme/a', { id: '2', updated_at: day(4) })],
  ['changed', renamed('acme/a', { id: '2', updated_at: day(5), archived: true })],
  ['changed', renamed('other/b', { id: '1', updated_at: day(6), owner_id: '9' })],
  ['changed', renamed('acme/c', { id: '1', updated_at: day(7), default_branch: 'next' })],
  ['mentioned', renamed('acme/a', { id: '2', updated_at: null })],
  ['mentioned', renamed('acme/a', { id: '2', updated_at: day(8), private: false })],
  ['deleted', renamed('acme/a', { id: '2', updated_at: day(8), private: false })],
  ['mentioned', renamed('acme/c', { id: '1', updated_at: day(9), default_branch: 'next' })],
]

/** Every event at least once, in any order, some of them again. */
const shuffled = fc
  .tuple(fc.shuffledSubarray(HISTORY, { minLength: HISTORY.length }), fc.array(fc.constantFrom(...HISTORY)))
  .chain(([all, again]) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }))

test('the same events in every order end in the same repositories', async () => {
  const play = async (events: typeof HISTORY, apart: boolean) => {
    const { orgId } = await api.caller()
    const from = await connect(orgId)
    const one = ([change, repository]: (typeof HISTORY)[number]) =>
      api.services.sql.begin(async (tx) => {
        await saveRepository(api.services, tx, from, repository)
        if (change !== 'mentioned') await applyRepositoryEvent(api.services, tx, from, { change, repository })
      })
    if (apart) await Promise.all(events.map(one))
    else for (const event of events) await one(event)
    const states = await Promise.all(['1', '2'].map((id) => stored(id, orgId)))
    const holder = await findOnHost(api.services.sql, orgId, 'github.com', 'acme/a')
    const connected = states.map((state) => state?.connection_id === from.connection_id)
    return { states: states.map((state) => ({ ...state, connection_id: null })), connected, holder: holder?.id }
  }
  const expected = await play(HISTORY, false)
  assert.deepEqual(
    [expected.states.map((state) => Reflect.get(state, 'full_name')), expected.connected, expected.holder],
    [['acme/c', 'acme/a'], [true, false], '2'],
  )
  await fc.assert(
    fc.asyncProperty(shuffled, fc.boolean(), async (events, apart) => {
      assert.deepEqual(await play(events, apart), expected)
    }),
    { numRuns: RUNS },
  )
})
