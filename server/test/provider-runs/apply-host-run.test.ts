import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { applyRunEvents, applyRuns, completedRun, hostJob, minutes } from '../support/provider-runs.ts'
import { listJobs } from '../support/queue.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function connected(): Promise<{ caller: Caller; source: HostSource }> {
  const caller = await api.caller()
  return { caller, source: await insertConnection(api.services.sql, caller.orgId) }
}

async function read({ key }: Caller, id = 'gh_run_9001'): Promise<Json> {
  return (await api.request('GET', `/v1/runs/${id}`, { key })).body.data
}

/** A run with three attempts, as its host tells of them. */
const STORY: HostEvent[] = [
  { kind: 'run', data: hostRun({ status: 'queued' }) },
  { kind: 'job', data: hostJob() },
  { kind: 'run', data: hostRun({ updated_at: minutes(1) }) },
  { kind: 'job', data: hostJob({ status: 'failure', completed_at: minutes(4) }) },
  { kind: 'run', data: completedRun({ status: 'failure' }, 5) },
  { kind: 'run', data: completedRun({ status: 'failure', completed_at: minutes(6), updated_at: minutes(6) }) },
  { kind: 'run', data: hostRun({ attempt: 2, status: 'queued', started_at: minutes(10), updated_at: minutes(10) }) },
  { kind: 'job', data: hostJob({ attempt: 2, id: '502' }) },
  {
    kind: 'run',
    data: completedRun({ attempt: 2, status: 'cancelled', started_at: minutes(10) }, 12),
  },
  { kind: 'run', data: hostRun({ attempt: 3, status: 'queued', started_at: minutes(20), updated_at: minutes(20) }) },
  {
    kind: 'run',
    data: completedRun({ attempt: 3, started_at: minutes(20), commit: { sha: 'a'.repeat(40), message: null } }, 25),
  },
]

/** Every stored row of an organization's runs, without what differs between organizations. */
async function storedRows(orgId: string): Promise<Json> {
  const { sql } = api.services
  const tables = await Promise.all([
    sql`select * from ci_runs where org_id = ${orgId} order by id`,
    sql`select * from ci_run_attempts where org_id = ${orgId} order by run_id, number`,
    sql`select * from provider_runs where org_id = ${orgId} order by run_id`,
    sql`select * from provider_run_attempts where org_id = ${orgId} order by run_id, number`,
    sql`select * from provider_run_jobs where org_id = ${orgId} order by run_id, attempt, id`,
  ])
  return JSON.parse(JSON.stringify(tables.map((rows) => rows.map(({ org_id, ...row }) => row))))
}

/** An organization that shares the connected repository's ids, without API keys. */
async function newSource(): Promise<HostSource> {
  const { orgId } = await api.caller()
  return insertConnection(api.services.sql, orgId)
}

test('the order and repetition of events have no effect', async () => {
  const inOrder = await newSource()
  await applyRunEvents(api.services, inOrder, STORY)
  const expected = await storedRows(inOrder.org_id)
  const shuffled = fc
    .shuffledSubarray(STORY, { minLength: STORY.length })
    .chain((events) => fc.array(fc.constantFrom(...STORY), { maxLength: 4 }).map((again) => [...events, ...again]))
  await fc.assert(
    fc.asyncProperty(shuffled, async (events) => {
      const source = await newSource()
      await applyRunEvents(api.services, source, events)
      assert.deepEqual(await storedRows(source.org_id), expected)
    }),
    { numRuns: 40 },
  )
})

test('an event that brings nothing new writes nothing', async () => {
  const source = await newSource()
  const versions = async () => {
    const rows = await api.services.sql`
      select xmin::text, ctid::text from provider_runs where org_id = ${source.org_id}
      union all
      select xmin::text, ctid::text from ci_runs where org_id = ${source.org_id}
      union all
      select xmin::text, ctid::text from provider_run_attempts where org_id = ${source.org_id}`
    return [...rows]
  }
  await applyRunEvents(api.services, source, STORY)
  const before = await versions()
  await applyRunEvents(api.services, source, STORY)
  assert.deepEqual(await versions(), before)
})

test('of several pull requests, the one with the lowest number stays', async () => {
  const { caller, source } = await connected()
  const withPulls = (minute: number, ...numbers: number[]) =>
    hostRun({
      updated_at: minutes(minute),
      pull_requests: numbers.map((number) => ({ number, url: `https://h/${number}` })),
    })
  await applyRuns(api.services, source, withPulls(0, 8, 7), withPulls(2), withPulls(1, 9))
  assert.deepEqual((await read(caller)).trigger.pull_request, { number: 7, url: 'https://h/7' })
})

test('events that are applied at the same time end in the same rows', async () => {
  const inOrder = await newSource()
  await applyRunEvents(api.services, inOrder, STORY)
  const source = await newSource()
  await Promise.all([...STORY, ...STORY].map((event) => applyRunEvents(api.services, source, [event])))
  assert.deepEqual(await storedRows(source.org_id), await storedRows(inOrder.org_id))
})

test('the attempts of the story are shown with their own times and actors', async () => {
  const { caller, source } = await connected()
  await applyRunEvents(api.services, source, STORY)
  const run = await read(caller)
  assert.deepEqual([run.status, run.run_attempt, run.trust, run.ci_system], ['success', 3, 'verified', null])
  const at = (count: number) => minutes(count).toISOString()
  assert.deepEqual(
    run.attempts.map(({ number, status, started_at, completed_at, duration_seconds }: Json) => [
      ...[number, status, started_at, completed_at, duration_seconds],
    ]),
    [
      [1, 'failure', at(0), at(5), 300],
      [2, 'cancelled', at(10), at(12), 120],
      [3, 'success', at(20), at(25), 300],
    ],
  )
})

test('a queued run with a started job is in progress, also if the job arrives first', async () => {
  for (const jobFirst of [true, false]) {
    const { caller, source } = await connected()
    const events: HostEvent[] = [
      { kind: 'job', data: hostJob() },
      { kind: 'run', data: hostRun({ status: 'queued' }) },
    ]
    await applyRunEvents(api.services, source, jobFirst ? events : events.reverse())
    assert.equal((await read(caller)).status, 'in_progress')
  }
})

test('runFinished is published when an attempt finishes, unless that was more than a day ago', async () => {
  const { sql } = api.services
  const { source } = await connected()
  const completed = new Date(api.clock.now().getTime() - 3_600_000)
  const times = { created_at: completed, started_at: completed, completed_at: completed, updated_at: completed }
  const run = completedRun({ id: '77', ...times })
  await applyRuns(api.services, source, run, run, completedRun({ id: '78' }))
  const published = await listJobs(sql, 'event run.finished')
  assert.deepEqual(
    published.map(({ payload }) => payload).filter(({ org_id }) => org_id === source.org_id),
    [{ org_id: source.org_id, run_id: 'gh_run_77', attempt: 1, status: 'success' }],
  )
})

test('404 for an update of a verified run by an API key', async () => {
  const { caller, source } = await connected()
  await applyRuns(api.services, source, hostRun())
  const answer = await api.request('PATCH', '/v1/ci/runs/gh_run_9001', { key: caller.key, body: { status: 'failure' } })
  assert.equal(answer.status, 404)
  assert.equal((await read(caller)).status, 'in_progress')
})

test('the same run of two organizations is stored for each', async () => {
  const [one, two] = [await connected(), await connected()]
  await applyRuns(api.services, one.source, hostRun())
  assert.equal(await read(two.caller), undefined)
  await applyRuns(api.services, two.source, completedRun())
  assert.deepEqual([(await read(one.caller)).status, (await read(two.caller)).status], ['in_progress', 'success'])
})

test('a run has no deadline', async () => {
  const { caller, source } = await connected()
  await applyRuns(api.services, source, hostRun({ id: createUuid(minutes(0)).slice(-12) }), hostRun())
  api.clock.advance(100 * 86_400_000)
  assert.equal((await read(caller)).status, 'in_progress')
})

test('of two results in one second, the one that is read later stands, whatever the order of states', async () => {
  const { caller, source } = await connected()
  const at = (ms: number) => new Date(minutes(5).getTime() + ms)
  const told = { ...source, learned: { by: 'told', at: at(100) } } as const
  const asked = (ms: number) => ({ ...source, learned: { by: 'read', at: at(ms) } }) as const
  const success = { kind: 'run', data: completedRun({}, 5) } as const
  const failure = { kind: 'run', data: completedRun({ status: 'failure' }, 5) } as const
  await applyRunEvents(api.services, told, [success])
  await applyRunEvents(api.services, asked(200), [failure])
  await applyRunEvents(api.services, told, [success])
  assert.equal((await read(caller)).status, 'failure')
  await applyRunEvents(api.services, asked(300), [{ kind: 'run', data: hostRun({ updated_at: minutes(5) }) }])
  await applyRunEvents(api.services, asked(200), [failure])
  assert.equal((await read(caller)).status, 'in_progress')
})
