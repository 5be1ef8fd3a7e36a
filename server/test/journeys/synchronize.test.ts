import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { HostRefusal, HostUnavailable, type ListOptions, type ListResult } from '../../src/codehosts/code-host.ts'
import { findListed } from '../../src/codehosts/connections/connection-list.store.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import type { HostRepository } from '../../src/codehosts/host-repository.ts'
import { redeliverFailedJob } from '../../src/codehosts/sync/redeliver-failed.job.ts'
import { findTiming } from '../../src/codehosts/sync/sync.store.ts'
import { enqueueAllSyncs, enqueueSync, startDueSyncs } from '../../src/codehosts/sync/sync-connection.job.ts'
import { synchronizeConnection } from '../../src/codehosts/sync/synchronize-connection.ts'
import type { Services } from '../../src/services.ts'
import { AcmeHost } from '../support/acme-host.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { pagedHost } from '../support/paged-host.ts'
import { clearJobs, listJobs } from '../support/queue.ts'
import {
  connectAcme,
  createObjectTable,
  objectParts,
  shownConnection,
  storedState,
  synchronize,
  withHost,
  workOnSync,
} from '../support/synchronize.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

let api: TestApi
let acme: AcmeHost
let host: ReturnType<typeof pagedHost>
let services: Services
let parts: ReturnType<typeof objectParts>
let hooks: Parameters<typeof objectParts>[0]
let source: HostSource

before(async () => {
  api = await startTestApi()
  await createObjectTable(api.services.sql)
})
beforeEach(async () => {
  // Each test has an account of its own.
  await api.services.sql`update codehost_connections set status = 'removed'`
  await clearJobs(api.services.sql)
  await api.services.sql`delete from codehost_delivery_checks`
  await api.services.sql`delete from codehost_redeliveries`
  api.clock.advance(HOUR_MS)
  acme = new AcmeHost(api.clock.now())
  host = pagedHost(acme.state(['1', '2', '3']))
  services = withHost(api.services, host)
  hooks = { before: async () => {} }
  parts = objectParts({ before: (event) => hooks.before(event) })
  source = await connectAcme(api.services, (await api.caller()).orgId)
})
after(() => api?.close())

const sync = (since?: Date) => synchronize(services, parts, source, since)
const shown = () => shownConnection(api.services.sql, source)
const state = () => storedState(api.services.sql, source)
const keysOf = async (kind: string) =>
  (await state()).objects.filter((object) => object.kind === kind).map(({ key }) => key)
const requestsOf = (name: string) => host.requests.filter((request) => request.name.startsWith(name))

test('the first synchronization imports every list of every repository', async () => {
  assert.equal(await sync(), true)
  const { repositories } = await state()
  assert.deepEqual(
    repositories.map(({ id }) => id),
    ['1', '2', '3'],
  )
  assert.equal((await keysOf('run')).length, 15)
  assert.equal((await keysOf('deployment')).length, 9)
  assert.equal((await keysOf('deployment_status')).length, 9)
  assert.equal((await keysOf('pull_request')).length, 9)
  assert.deepEqual(await keysOf('alert'), [
    '1 code_scanning 1',
    '1 dependabot 1',
    '2 code_scanning 1',
    '2 dependabot 1',
    '3 code_scanning 1',
    '3 dependabot 1',
  ])
  const { last_synced_at, ...rest } = await shown()
  assert.deepEqual(rest, { sync_state: 'idle', sync_phase: null, sync_done: null, sync_total: null, sync_error: null })
  assert.deepEqual(last_synced_at, api.clock.now())
})

test('reviews are read of open pull requests and of those that were merged within 14 days', async () => {
  await sync()
  assert.deepEqual(await keysOf('review'), ['r11', 'r12', 'r21', 'r22', 'r31', 'r32'])
})

test('pushes to the tracked branch of the last 90 days are read, and then the new ones', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  const other = { ...acme.push(repository, 50, 1), ref: 'refs/heads/other' }
  host.state.pushes.push(acme.push(repository, 4, 91), other)
  await sync()
  const pushesOf = async (id: string) => (await keysOf('push')).filter((key) => key.startsWith(`${id} `)).length
  assert.deepEqual([await pushesOf('1'), await pushesOf('2')], [3, 3])
  host.state.pushes.push(acme.push(repository, 10, 0))
  host.requests.length = 0
  await sync()
  assert.equal(await pushesOf('1'), 4)
  assert.equal(requestsOf('listPushes 2').length, 1)
})

test('a host that fails for the list of pushes does not make a synchronization incomplete', async () => {
  for (const error of [new HostUnavailable('GitHub answered 500'), new HostRefusal(404, 'Not Found')]) {
    host.hooks.before = async ({ name }) => {
      if (name.startsWith('listPushes')) throw error
    }
    assert.equal(await sync(), true)
    const { sync_state, sync_error } = await shown()
    assert.deepEqual([sync_state, sync_error], ['idle', null])
  }
  assert.deepEqual(await keysOf('push'), [])
  host.hooks.before = async () => {}
  await sync()
  assert.equal((await keysOf('push')).length, 9)
})

test('runs of the last 90 days are imported, alerts of any age', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(
    acme.run(repository, '1089', 89),
    acme.run(repository, '1091', 91),
    acme.run(repository, '1092', 92),
  )
  await sync()
  const runs = await keysOf('run')
  assert.ok(runs.includes('1089'))
  assert.ok(!runs.includes('1091') && !runs.includes('1092'))
  assert.ok((await keysOf('alert')).includes('1 dependabot 1'), 'the alert is 400 days old')
})

test('since reads lists again back to this time, and further back than before', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(acme.run(repository, '1100', 100), acme.run(repository, '1200', 200))
  await sync(acme.ago(3.5))
  assert.equal((await keysOf('run')).length, 9)
  await sync()
  assert.equal((await keysOf('run')).length, 9, 'what is older than the first synchronization is not read')
  await sync(acme.ago(150))
  const runs = await keysOf('run')
  assert.ok(runs.includes('1100') && !runs.includes('1200') && runs.length === 16)
})

test('since reaches back 400 days at most', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(acme.run(repository, '1399', 399), acme.run(repository, '1401', 401))
  await sync(acme.ago(3000))
  const runs = await keysOf('run')
  assert.ok(runs.includes('1399') && !runs.includes('1401'))
})

test('a since that is later than the last synchronization does not hide what changed between', async () => {
  await sync()
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(acme.run(repository, 'between', 0.5))
  // As if nothing had been read for a day.
  await api.services.sql`
    update codehost_sync_lists set newest_at = ${acme.ago(1)} where connection_id = ${source.connection_id}`
  await sync(acme.ago(0.1))
  assert.ok((await keysOf('run')).includes('between'))
})

test('unchanged lists are not applied and their positions are not written', async () => {
  await sync()
  const versions = () =>
    api.services.sql`
      select xmin::text, repository_id, list
      from codehost_sync_lists
      where connection_id = ${source.connection_id}
      order by repository_id, list`
  const [before, applied] = [await versions(), parts.applied.length]
  host.requests.length = 0
  host.state.repositories.length = 2 // A list of one page, so that it is conditional.
  api.clock.advance(HOUR_MS)
  await sync()
  host.requests.length = 0
  const appliedByList = parts.applied.length
  assert.equal(appliedByList, applied + 2, 'the list of repositories has changed')
  await sync()
  assert.equal(parts.applied.length, appliedByList)
  const left = (rows: Awaited<ReturnType<typeof versions>>) => rows.filter(({ repository_id }) => repository_id !== '3')
  assert.deepEqual([...(await versions())], left(before))
  assert.equal(requestsOf('listDeploymentStatuses').length + requestsOf('listReviews').length, 0)
  assert.ok(
    host.requests
      .filter(({ name }) => name.startsWith('list') && name !== 'listFailedDeliveries')
      .every(({ options }) => options.etag),
  )
})

test('what changed late in a run of the last seven days is read again once a day', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  const [late, old] = [acme.run(repository, 'late', 6), acme.run(repository, 'old', 9)]
  host.state.runs.push(late, acme.run(repository, 'eight', 8), acme.run(repository, 'more', 8.5), old)
  await sync()
  api.clock.advance(MINUTE_MS)
  const updated_at = api.clock.now()
  for (const run of [late, old])
    host.state.runs.splice(host.state.runs.indexOf(run), 1, { ...run, status: 'failure', updated_at })
  const statusOf = async (id: string) => {
    const [row] = await api.services.sql<{ status: string }[]>`
      select data ->> 'status' as status
      from test_objects
      where org_id = ${source.org_id}
        and kind = 'run'
        and key = ${id}`
    return row?.status
  }
  await sync()
  assert.deepEqual([await statusOf('late'), await statusOf('old')], ['success', 'success'])
  api.clock.advance(24 * HOUR_MS - MINUTE_MS)
  await sync()
  assert.deepEqual([await statusOf('late'), await statusOf('old')], ['failure', 'success'])
  host.requests.length = 0
  await sync()
  assert.equal(requestsOf('listRuns 1').length, 1, 'and then what is new')
})

test('a host that can be asked for changes is asked for those since the last synchronization', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  const old = acme.run(repository, 'old', 80)
  host.state.runs.push(old)
  await sync()
  api.clock.advance(HOUR_MS)
  const changed = { ...old, attempt: 2, updated_at: api.clock.now() }
  const asked: (Date | undefined)[] = []
  host.answers.listRuns = async ({ id }, { changed_since }) => {
    if (id === '1') asked.push(changed_since)
    return { items: id === '1' ? [changed] : [], next: null, etag: '', has_changes: true }
  }
  await sync()
  assert.deepEqual(asked, [new Date(acme.ago(1).getTime() - 10 * MINUTE_MS)])
  const [row] = await api.services.sql`
    select data ->> 'attempt' as attempt
    from test_objects
    where org_id = ${source.org_id}
      and key = 'old'`
  assert.equal(row?.attempt, '2')
})

test('every open alert that a whole list does not have is read, however many they are', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  parts.listOpenAlerts = async (_db, _orgId, { repository: { id }, type, limit }) =>
    id === '2' && type === 'dependabot'
      ? Array.from({ length: 333 }, (_, index) => ({ type, number: index + 1 })).slice(0, limit)
      : []
  await sync()
  const read = parts.applied.flatMap(({ kind, data }) => (kind === 'alert_change' ? data.number : []))
  assert.equal(new Set(read).size, 332, 'all but the one that is listed')
})

test('until a webhook works, the connection says since when no event came', async () => {
  const secret = 'a secret'
  const withSecret = {
    ...services,
    secretsOfConnections: { forget: () => {}, read: async () => ({ webhook_secret: secret }) },
  }
  host.answers.ensureWebhook = async () => {
    throw new HostRefusal(422, 'The webhook is disabled.')
  }
  services = withSecret as unknown as Services
  await sync()
  assert.match((await shown()).sync_error ?? '', /webhook: The webhook is disabled\. No event has come yet\./)
  const at = acme.ago(2)
  await api.services.sql`update codehost_connections set last_event_at = ${at} where id = ${source.connection_id}`
  await sync()
  const since = new RegExp(`No event has come since ${at.toISOString()}`)
  assert.match((await shown()).sync_error ?? '', since)
})

test('a lost webhook is found: new objects, changed objects, and runs and deployments that have ended', async () => {
  const [repository] = host.state.repositories
  assert.ok(repository)
  const open = acme.run(repository, 'open', 6, { status: 'in_progress', completed_at: null })
  const waiting = acme.deployment(repository, 'waiting', 6)
  host.state.runs.push(open)
  host.state.deployments.push(waiting)
  await sync()
  api.clock.advance(HOUR_MS)
  const now = api.clock.now()
  // Neither is on the first page, and the pages before are unchanged.
  host.state.runs.splice(host.state.runs.indexOf(open), 1, {
    ...open,
    status: 'failure',
    completed_at: now,
    updated_at: now,
  })
  host.state.statuses.push(acme.status(waiting, 'end', 'success', now))
  host.state.runs.push(acme.run(host.state.repositories[1] ?? repository, 'new', 0))
  host.requests.length = 0
  await sync()
  const { objects } = await state()
  const find = (kind: string, key: string) => objects.find((object) => object.kind === kind && object.key === key)?.data
  assert.equal((find('run', 'open') as { status?: string })?.status, 'failure')
  assert.ok(find('run', 'new'))
  assert.ok(find('deployment_status', 'end'))
  assert.equal(requestsOf('readRun').length, 1)
  assert.deepEqual(
    requestsOf('listRuns 1').map(({ options }) => Object.keys(options)),
    [['etag', 'changed_since']],
  )
})

test('catching up reads no further than what changed since the last synchronization', async () => {
  await sync()
  api.clock.advance(HOUR_MS)
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(acme.run(repository, 'new', 0))
  const applied = parts.applied.length
  host.requests.length = 0
  await sync()
  assert.deepEqual(
    parts.applied
      .slice(applied)
      .filter(({ kind }) => kind !== 'repository')
      .map(({ data }) => (data as { id: string }).id),
    ['new', '11'],
    'the newest known run is read again, because hosts may show changes late',
  )
  assert.equal(requestsOf('listRuns 1').length, 2)
})

test('repositories that the host no longer lists leave the connection, and return when it lists them again', async () => {
  await sync()
  const [first, ...others] = host.state.repositories
  assert.ok(first)
  host.state.repositories = others
  api.clock.advance(HOUR_MS)
  await sync()
  assert.deepEqual(
    (await state()).repositories.map(({ id }) => id),
    ['2', '3'],
  )
  assert.ok((await state()).lists.every(({ repository_id }) => repository_id !== '1'))
  api.clock.advance(HOUR_MS)
  host.state.repositories = [first, ...others]
  await sync()
  assert.deepEqual(
    (await state()).repositories.map(({ id }) => id),
    ['1', '2', '3'],
  )
})

test('a host that is down pauses the synchronization for growing times, and it goes on where it was', async () => {
  let answers = 12
  host.hooks.before = async () => {
    answers -= 1
    if (answers < 0) throw new HostUnavailable('The host is down')
  }
  assert.equal(await sync(), false)
  const failed = await shown()
  assert.deepEqual([failed.sync_state, failed.sync_phase, failed.sync_error], ['failed', 'objects', 'The host is down'])
  const pauses: number[] = []
  for (let tries = 0; tries < 7; tries += 1) {
    const { due_at } = (await findTiming(api.services.sql, source.connection_id)) as { due_at: Date }
    pauses.push((due_at.getTime() - api.clock.now().getTime()) / 1000)
    api.clock.advance(due_at.getTime() - api.clock.now().getTime())
    await workOnSync(services, parts, source)
  }
  assert.deepEqual(pauses, [5, 15, 45, 135, 405, 900, 900])
  host.hooks.before = async () => {}
  host.requests.length = 0
  api.clock.advance(HOUR_MS)
  assert.equal(await workOnSync(services, parts, source), true)
  assert.equal(requestsOf('listRepositories').length, 0, 'the list of repositories is not read again')
  assert.equal((await keysOf('run')).length, 15)
  assert.equal((await shown()).sync_state, 'idle')
})

test('a rate limit pauses until the host allows requests again', async () => {
  host.hooks.before = async ({ name }) => {
    if (name === 'listFailedDeliveries') return
    // A worker has taken the job that asked for the synchronization.
    await api.services.sql`delete from jobs where name = 'codehosts.synchronize'`
    throw new HostUnavailable('The rate limit is exceeded', new Date(api.clock.now().getTime() + 40 * MINUTE_MS))
  }
  assert.equal(await sync(), false)
  const timing = await findTiming(api.services.sql, source.connection_id)
  assert.deepEqual(timing?.due_at, new Date(api.clock.now().getTime() + 40 * MINUTE_MS))
  const [job] = await listJobs(api.services.sql, 'codehosts.synchronize')
  assert.equal(job && Math.round(job.seconds_left / 60), 40)
})

test('a list that the host refuses or fails for is noted, and everything else is read', async () => {
  host.hooks.before = async ({ name }) => {
    if (name === 'listRuns 1') throw new HostRefusal(404, 'Not Found')
    if (name === 'listPullRequests 2') throw new HostUnavailable('Bad Gateway')
    if (name === 'listAlerts 3 dependabot') throw new HostRefusal(403, 'Dependabot alerts are disabled')
    if (name === 'listDeploymentStatuses 31') throw new HostRefusal(404, 'Not Found')
  }
  assert.equal(await sync(), true)
  assert.deepEqual([(await keysOf('run')).length, (await keysOf('pull_request')).length], [10, 6])
  assert.deepEqual([(await keysOf('deployment')).length, (await keysOf('deployment_status')).length], [9, 8])
  const { sync_state, sync_error } = await shown()
  assert.equal(sync_state, 'idle')
  assert.equal(sync_error, 'Repositories that were not read completely: 3. The first: acme/repo-1, runs: Not Found')
  host.hooks.before = async () => {}
  await sync()
  assert.deepEqual([(await keysOf('run')).length, (await keysOf('pull_request')).length], [15, 9])
  assert.equal((await shown()).sync_error, null)
})

test('an item that cannot be applied does not hold up the others', async () => {
  hooks.before = async (event) => {
    if (event.kind === 'run' && event.data.id === '22') throw new Error('It does not fit')
  }
  assert.equal(await sync(), true)
  assert.equal((await keysOf('run')).length, 14)
  assert.match((await shown()).sync_error ?? '', /acme\/repo-2, runs 22: It does not fit$/)
})

test('a page that the host no longer knows after an interruption restarts the list', async () => {
  let failures = 2
  host.hooks.before = async ({ name, options }) => {
    if (name === 'listRuns 1' && options.next === '4' && failures-- > 0)
      throw new HostRefusal(422, 'The cursor has expired')
  }
  assert.equal(await sync(), true)
  assert.equal((await keysOf('run')).length, 14)
  assert.match((await shown()).sync_error ?? '', /acme\/repo-1, runs: The cursor has expired$/)
  assert.equal(await syncAndRedeliver(), true)
  assert.equal((await keysOf('run')).length, 15)
  assert.equal((await shown()).sync_error, null)
})

test('a list that may not be read does not empty the connection or end a list early', async () => {
  const denied = { items: [], next: null, etag: null }
  await sync()
  const { listRepositories, listRuns } = host.answers
  assert.ok(listRepositories && listRuns)
  host.answers.listRepositories = async () => denied
  api.clock.advance(HOUR_MS)
  await sync()
  assert.equal((await state()).repositories.length, 3)
  host.answers.listRepositories = listRepositories
  host.answers.listRuns = async (repository, options) => (options.next === '2' ? denied : listRuns(repository, options))
  await sync(acme.ago(30))
  assert.match((await shown()).sync_error ?? '', /runs: The host does not return the next page$/)
  assert.ok((await state()).lists.some(({ list, next }) => list === 'runs' && next === '2'))
})

const REQUIRED = ['listRuns', 'listDeployments', 'listPullRequests']

test('a repository that the host refuses is named with its lists until it can be read again', async () => {
  await sync()
  const refusal = new HostRefusal(451, 'GitHub answered 451: Repository access blocked')
  const answers = { ...host.answers }
  const refuse = (list: 'listRuns' | 'listDeployments' | 'listPullRequests') => {
    const read = answers[list] as (repository: HostRepository, options: ListOptions) => Promise<ListResult<never>>
    const denied = { items: [], next: null, etag: null, refusal }
    host.answers[list] = async (repository, options) => (repository.id === '2' ? denied : read(repository, options))
  }
  for (const list of REQUIRED) refuse(list as 'listRuns')
  api.clock.advance(HOUR_MS)
  const since = api.clock.now().toISOString()
  await sync()
  const { sync_state, sync_error } = await shown()
  assert.deepEqual([sync_state, sync_error], ['failed', `acme/repo-2: ${refusal.message}`])
  const refused = { repository: 'acme/repo-2', status: 451, message: refusal.message, since }
  const lists = ['deployments', 'pull_requests', 'runs']
  const listed = async () => findListed(api.services.sql, source.org_id, source.connection_id)
  assert.deepEqual(
    (await listed())?.refusals,
    lists.map((list) => ({ ...refused, list })),
  )
  assert.equal((await listed())?.refusals_total, 3)
  assert.equal((await keysOf('run')).length, 15)
  api.clock.advance(HOUR_MS)
  await sync()
  assert.deepEqual(
    (await listed())?.refusals.map((shown) => shown.since),
    [since, since, since],
  )
  Object.assign(host.answers, answers)
  api.clock.advance(HOUR_MS)
  await sync()
  assert.deepEqual((await listed())?.refusals, [])
  const after = await shown()
  assert.deepEqual([after.sync_state, after.sync_error], ['idle', null])
})

test('a part that the host refuses is named, and everything else is read', async () => {
  const denied = { items: [], next: null, etag: null, refusal: new HostRefusal(403, 'Dependabot alerts are disabled') }
  const { listAlerts } = host.answers
  assert.ok(listAlerts)
  host.answers.listAlerts = async (repository, type, options) =>
    repository.id === '3' && type === 'dependabot' ? denied : listAlerts(repository, type, options)
  await sync()
  const listed = await findListed(api.services.sql, source.org_id, source.connection_id)
  const { state: shownState, error } = listed?.sync ?? {}
  assert.deepEqual([shownState, error], ['idle', null])
  assert.deepEqual(
    listed?.refusals.map(({ repository, list, status }) => [repository, list, status]),
    [['acme/repo-3', 'dependabot_alerts', 403]],
  )
  assert.equal((await keysOf('run')).length, 15)
})

test('a list that is refused while it is read for the first time is read whole later', async () => {
  const { listRuns } = host.answers
  assert.ok(listRuns)
  let mode: 'ends' | 'refuses' | 'answers' = 'ends'
  const refusal = new HostRefusal(403, 'Resource not accessible by integration')
  host.answers.listRuns = async (repository, options) => {
    if (mode === 'ends' && options.next === '2') throw new HostRefusal(422, 'The cursor has expired')
    if (mode === 'refuses') return { items: [], next: null, etag: null, refusal }
    return listRuns(repository, options)
  }
  for (mode of ['ends', 'refuses', 'answers'] as const) {
    await sync()
    api.clock.advance(HOUR_MS)
  }
  assert.equal((await keysOf('run')).length, 15)
})

test('a list of repositories that the host refuses is named, and no repository is lost', async () => {
  await sync()
  const { listRepositories } = host.answers
  assert.ok(listRepositories)
  const refusal = new HostRefusal(403, 'Resource not accessible by integration')
  host.answers.listRepositories = async () => ({ items: [], next: null, etag: null, refusal })
  await sync()
  const listed = await findListed(api.services.sql, source.org_id, source.connection_id)
  assert.deepEqual(
    listed?.refusals.map(({ repository, list }) => [repository, list]),
    [[null, 'repositories']],
  )
  assert.deepEqual([listed?.sync.state, listed?.sync.error], ['failed', refusal.message])
  assert.equal((await state()).repositories.length, 3)
  host.answers.listRepositories = listRepositories
  await sync()
  assert.deepEqual((await findListed(api.services.sql, source.org_id, source.connection_id))?.refusals, [])
})

/** A synchronization, and the job that it queues for failed deliveries. */
async function syncAndRedeliver(): Promise<boolean> {
  const done = await sync()
  const queued = await listJobs(api.services.sql, redeliverFailedJob.name)
  assert.equal(queued.length, 1)
  await redeliverFailedJob.run(services, { provider: 'github' })
  return done
}

test('failed deliveries are requested again once, and again after the repeated one has failed', async () => {
  const failed = { id: '900', delivery_id: 'guid', event: 'push', delivered_at: api.clock.now() }
  host.state.failedDeliveries = [failed, { ...failed, id: '901', delivery_id: 'old', delivered_at: acme.ago(4) }]
  await syncAndRedeliver()
  await syncAndRedeliver()
  assert.deepEqual(host.redelivered, ['900'])
  host.state.failedDeliveries = [{ ...failed, id: '902' }, failed]
  await syncAndRedeliver()
  await syncAndRedeliver()
  assert.deepEqual(host.redelivered, ['900', '902'])
})

test('a host that does not list its deliveries is synchronized all the same', async () => {
  host.hooks.before = async ({ name }) => {
    if (name === 'listFailedDeliveries') throw new HostRefusal(501, 'Not Implemented')
  }
  assert.equal(await sync(), true)
  assert.equal((await keysOf('run')).length, 15)
})

test('a suspended connection is idle, and resumes when the host says so', async () => {
  await sync()
  await api.services.sql`update codehost_connections set status = 'suspended' where id = ${source.connection_id}`
  host.requests.length = 0
  assert.equal(await sync(), false)
  assert.deepEqual([host.requests.length, (await shown()).sync_state], [0, 'idle'])
  const [connection] = await api.services.sql<{ installation_id: string; account_id: string }[]>`
    select installation_id, account_id from codehost_connections where id = ${source.connection_id}`
  assert.ok(connection)
  const account = { id: connection.account_id, login: 'acme', type: 'Organization' }
  host.setInstallation({ id: connection.installation_id, account, repositories: 'all', suspended: false })
  api.clock.advance(HOUR_MS)
  await workOnSync(services, parts, source)
  assert.equal(await sync(), true)
  assert.notEqual(host.requests.length, 0)
})

test('a suspension that was missed is found', async () => {
  const [connection] = await api.services.sql<{ installation_id: string; account_id: string }[]>`
    select installation_id, account_id from codehost_connections where id = ${source.connection_id}`
  assert.ok(connection)
  const account = { id: connection.account_id, login: 'acme', type: 'Organization' }
  host.setInstallation({ id: connection.installation_id, account, repositories: 'all', suspended: true })
  assert.equal(await sync(), false)
  assert.deepEqual([host.requests.length, (await shown()).sync_state], [0, 'idle'])
})

test('two workers do not work on a connection at the same time, and a request meanwhile is not lost', async () => {
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  host.hooks.before = async ({ name }) => {
    if (name !== 'listRepositories') return
    ask()
    await mayAnswer
  }
  await enqueueSync(api.services.sql, source, api.clock.now())
  const first = synchronizeConnection({ ...services, ...parts }, source)
  await isAsked
  const asked = host.requests.length
  await enqueueSync(api.services.sql, source, api.clock.now())
  await synchronizeConnection({ ...services, ...parts }, source)
  assert.equal(host.requests.length, asked)
  answer()
  await first
  host.requests.length = 0
  assert.equal(await workOnSync(services, parts, source), true)
  assert.notEqual(requestsOf('listRepositories').length, 0, 'another synchronization follows')
})

test('a long synchronization takes turns with other jobs, and shows its progress', async () => {
  host.hooks.before = async () => api.clock.advance(1000)
  const seen = new Set<string>()
  await enqueueSync(api.services.sql, source, api.clock.now())
  let jobs = 0
  for (let open = true; open; open = (await findTiming(api.services.sql, source.connection_id))?.is_open ?? false) {
    await synchronizeConnection({ ...services, ...parts }, source)
    const { sync_phase, sync_done, sync_total } = await shown()
    seen.add(`${sync_phase} ${sync_done}/${sync_total}`)
    jobs += 1
  }
  assert.ok(jobs > 3, `${jobs} jobs`)
  assert.ok(
    [...seen].some((text) => /^objects \d\/3$/.test(text)),
    [...seen].join(),
  )
  assert.equal((await keysOf('run')).length, 15)
})

test('a synchronization is due at the start of a worker and an hour after the last one', async () => {
  const queued = async () => {
    const rows = await listJobs(api.services.sql, 'codehosts.synchronize')
    await clearJobs(api.services.sql)
    return rows.filter(({ payload }) => payload.connection_id === source.connection_id).length
  }
  await enqueueAllSyncs(services)
  assert.equal(await queued(), 1)
  await workOnSync(services, parts, source)
  await queued()
  api.clock.advance(59 * MINUTE_MS)
  await startDueSyncs.run(services, {})
  assert.equal(await queued(), 0)
  api.clock.advance(MINUTE_MS)
  await startDueSyncs.run(services, {})
  assert.equal(await queued(), 1)
})

test('a worker that stops ends between two pages', async () => {
  const stopping = new AbortController()
  host.hooks.before = async ({ name, options }) => {
    if (name === 'listRuns 1' && options.next === '2') stopping.abort(new Error('The worker is stopping'))
  }
  await enqueueSync(api.services.sql, source, api.clock.now())
  await assert.rejects(synchronizeConnection({ ...services, ...parts }, source, stopping.signal), /stopping/)
  assert.equal((await shown()).sync_state, 'running')
  host.hooks.before = async () => {}
  assert.equal(await workOnSync(services, parts, source), true)
  assert.equal((await keysOf('run')).length, 15)
})

test('a list that goes round in a circle ends with an error, and is read from its begin by the next synchronization', async () => {
  host.hooks.next = ({ name, options }, next) => {
    if (!name.startsWith('listRuns 2')) return next
    return options.next === '2' ? '4' : '2'
  }
  assert.equal(await sync(), true)
  const { sync_state, sync_error } = await shown()
  assert.equal(sync_state, 'idle')
  assert.match(sync_error ?? '', /completely: 1\. The first: .*runs: The host repeats a page of runs$/)
  assert.ok(requestsOf('listRuns 2').length <= 6)
  assert.equal((await keysOf('deployment')).length, 9, 'the other lists are read')
  host.hooks.next = (_request, next) => next
  await sync()
  assert.equal((await shown()).sync_error, null)
  assert.equal((await keysOf('run')).length, 15)
})

test('a list of repositories without an end takes none out of the connection', async () => {
  await sync()
  host.hooks.next = ({ name }, next) => (name === 'listRepositories' ? '2' : next)
  const [repository] = host.state.repositories
  assert.ok(repository)
  host.state.runs.push(acme.run(repository, '1500', 0))
  assert.equal(await sync(), true)
  assert.equal((await shown()).sync_error, 'The host repeats a page of repositories')
  assert.equal((await state()).repositories.length, 3)
  assert.ok((await keysOf('run')).includes('1500'))
  host.hooks.next = (_request, next) => next
  await sync()
  assert.equal((await shown()).sync_error, null)
})

test('a list that hangs longer than a job works does not keep the others from being read', async () => {
  host.hooks.before = async ({ name }) => {
    if (!name.startsWith('listRuns 2')) return
    api.clock.advance(MINUTE_MS)
    throw new HostUnavailable('The host did not answer')
  }
  assert.equal(await sync(), true)
  const { sync_state, sync_error } = await shown()
  assert.equal(sync_state, 'idle')
  assert.match(sync_error ?? '', /completely: 1\. The first: .*runs: The host did not answer$/)
  assert.equal(requestsOf('listRuns 2').length, 1)
  assert.equal((await keysOf('deployment')).length, 9)
  host.hooks.before = async () => {}
  await sync()
  assert.equal((await keysOf('run')).length, 15)
})
