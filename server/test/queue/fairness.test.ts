import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue, enqueueRows, formatLoneParty, type Job } from '../../src/platform/queue/job.ts'
import { definePayload, integer, Optional, text } from '../../src/platform/queue/payload.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { clearJobs, listJobs } from '../support/queue.ts'
import { until } from '../support/until.ts'

const FLOOD = 2000
const STOP_TIMEOUT_MS = 10_000
const WAIT_MS_MAX = 60_000

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 2, applicationName: 'test' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})
afterEach(() => clearJobs(sql))

type Payload = { org_id?: string; n: number; host?: string }
type Start = { name: string; org_id: string | undefined; n: number; end: () => void }

const PAYLOAD = definePayload({ org_id: Optional(text), n: integer, host: Optional(text) })
const run = (starts: Start[], name: string, { org_id, n }: Payload) =>
  new Promise<void>((end) => void starts.push({ name, org_id, n, end }))
const bulk: Job<Start[], Payload> = {
  name: 'test.bulk',
  class: 'bulk',
  payload: PAYLOAD,
  attemptsMax: 1,
  run: (starts, payload) => run(starts, 'bulk', payload),
}
const interactive: Job<Start[], Payload> = {
  name: 'test.interactive',
  payload: PAYLOAD,
  attemptsMax: 1,
  run: (starts, payload) => run(starts, 'interactive', payload),
}

const asking: Job<Start[], Payload> = {
  name: 'test.asking',
  payload: PAYLOAD,
  attemptsMax: 1,
  waitsFor: ({ host }) => host as string,
  run: (starts, payload) => run(starts, `asking ${payload.host}`, payload),
}
const importing: Job<Start[], Payload> = {
  ...asking,
  name: 'test.importing',
  class: 'bulk',
  run: (starts, payload) => run(starts, `importing ${payload.host}`, payload),
}

/** A worker whose jobs run until the test ends them. */
async function startHeld(concurrency: number, more: Job<Start[], Payload>[] = []) {
  const starts: Start[] = []
  const worker = await startWorker({
    ...{ address: database.connection, context: starts, scheduled: [], log: createLog('silent'), concurrency },
    jobs: [bulk, interactive, asking, importing, ...more] as Job<Start[], never>[],
  })
  const untilStarted = (count: number) => until(`${count} starts`, WAIT_MS_MAX, () => starts.length >= count)
  let ended = 0
  /** Ends the job that started first of those that run, and waits until another one has started. */
  const next = async () => {
    const count = starts.length
    starts[ended++]?.end()
    await untilStarted(count + 1)
    return starts.at(-1) as Start
  }
  const close = async () => {
    const stopped = worker.stop(STOP_TIMEOUT_MS)
    for (const { end } of starts) end()
    await stopped
  }
  return { starts, untilStarted, next, [Symbol.asyncDispose]: close }
}

async function flood(job: Job<Start[], Payload>, orgId: string): Promise<void> {
  await sql`
    ${enqueueRows(sql, job, {
      payload: sql`jsonb_build_object('org_id', ${orgId}::text, 'n', number)`,
      once: sql`gen_random_uuid()::text`,
      from: sql`generate_series(1, ${FLOOD}::int) as number`,
    })}`
}

test("beside a flood of one organization, another's interactive job starts next and its bulk job within two turns", async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  await flood(bulk, loud)
  await using worker = await startHeld(2)
  await worker.untilStarted(1)
  await enqueue(sql, bulk, { org_id: quiet, n: 1 })
  await enqueue(sql, interactive, { org_id: quiet, n: 2 })
  await worker.untilStarted(2)
  assert.deepEqual([worker.starts[1]?.name, worker.starts[1]?.org_id], ['interactive', quiet])
  // Two turns of bulk work, beside the interactive job.
  for (const turn of [0, 2]) {
    worker.starts[turn]?.end()
    await worker.untilStarted(turn === 0 ? 3 : 4)
  }
  assert.ok(worker.starts.slice(2).some(({ name, org_id }) => name === 'bulk' && org_id === quiet))
})

test('bulk work never takes the last slot of a worker', async () => {
  for (const orgId of [randomUUID(), randomUUID(), randomUUID()]) await flood(bulk, orgId)
  await using worker = await startHeld(3)
  await worker.untilStarted(2)
  await enqueue(sql, interactive, { n: 1 })
  await worker.untilStarted(3)
  assert.deepEqual(
    worker.starts.map(({ name }) => name),
    ['bulk', 'bulk', 'interactive'],
  )
  assert.equal((await listJobs(sql)).filter(({ state }) => state === 'running').length, 3)
})

test('beside floods of one organization, the jobs of another start at once, with two workers as well', async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  await flood(bulk, loud)
  await flood(interactive, loud)
  await using one = await startHeld(4)
  await using other = await startHeld(4)
  await Promise.all([one.untilStarted(2), other.untilStarted(2)])
  await enqueue(sql, bulk, { org_id: quiet, n: 1 })
  await enqueue(sql, interactive, { org_id: quiet, n: 2 })
  const started = () => [...one.starts, ...other.starts]
  await until('both have started', WAIT_MS_MAX, () => started().length >= 6)
  assert.deepEqual(
    started()
      .filter(({ org_id }) => org_id === quiet)
      .map(({ name }) => name)
      .sort(),
    ['bulk', 'interactive'],
  )
  // Half of the slots of each worker.
  assert.equal(started().filter(({ org_id }) => org_id === loud).length, 4)
})

test("beside a flood of interactive work of one organization and of the system, another's report starts at once", async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  await flood(interactive, loud)
  for (let n = 1; n <= 50; n += 1) await enqueue(sql, interactive, { n })
  await using worker = await startHeld(4)
  await worker.untilStarted(3)
  await enqueue(sql, bulk, { org_id: quiet, n: 0 })
  await worker.untilStarted(4)
  const started = worker.starts.map(({ name, org_id }) => [name, org_id ?? 'system'].join(' '))
  assert.deepEqual(started.slice(0, 3).sort(), [
    ...[`interactive ${loud}`, `interactive ${loud}`, 'interactive system'].sort(),
  ])
  assert.equal(started[3], `bulk ${quiet}`)
})

test('where interactive work of many takes all slots, the next one is for bulk work', async () => {
  const quiet = randomUUID()
  for (const org_id of [randomUUID(), randomUUID()]) await flood(interactive, org_id)
  await using worker = await startHeld(4)
  await worker.untilStarted(4)
  await enqueue(sql, bulk, { org_id: quiet, n: 0 })
  const next = await worker.next()
  assert.deepEqual([next.name, next.org_id], ['bulk', quiet])
  assert.equal((await worker.next()).name, 'interactive')
})

test('a job that is ready keeps its place when it is queued again for later', async () => {
  const once = { ...interactive, once: ({ n }: Payload) => `${n}` }
  await enqueue(sql, once, { n: 1 })
  await enqueue(sql, once, { n: 1 }, 60_000)
  const [job] = await listJobs(sql)
  assert.equal(job?.state, 'ready')
  assert.ok(job && job.seconds_left <= 0)
})

test('a host that hangs holds half of the slots of its organization, and neither local work, other hosts nor other organizations wait', async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  for (let n = 1; n <= 50; n += 1) {
    await enqueue(sql, asking, { org_id: loud, n, host: 'hanging' })
    await enqueue(sql, importing, { org_id: loud, n, host: 'hanging' })
  }
  await using worker = await startHeld(2)
  await worker.untilStarted(4)
  await enqueue(sql, asking, { org_id: loud, n: 0, host: 'well' })
  await enqueue(sql, asking, { org_id: quiet, n: 0, host: 'hanging' })
  await enqueue(sql, importing, { org_id: quiet, n: 0, host: 'hanging' })
  await enqueue(sql, importing, { n: 0, host: 'hanging' })
  await enqueue(sql, interactive, { org_id: loud, n: 0 })
  await enqueue(sql, bulk, { org_id: quiet, n: 0 })
  await worker.untilStarted(10)
  const started = worker.starts.map(({ org_id, name }) => [org_id, name].join(' '))
  assert.deepEqual(started.slice(0, 4), Array(4).fill(`${loud} asking hanging`))
  assert.deepEqual(
    started.slice(4).sort(),
    [
      ...[`${loud} asking well`, `${loud} interactive`, ' importing hanging'],
      ...[`${quiet} asking hanging`, `${quiet} bulk`, `${quiet} importing hanging`],
    ].sort(),
  )
})

test('an import leaves a slot of its host to what people wait for', async () => {
  const org_id = randomUUID()
  for (const n of [1, 2, 3]) await enqueue(sql, importing, { org_id, n, host: 'a' })
  await using worker = await startHeld(1)
  await worker.untilStarted(1)
  await enqueue(sql, asking, { org_id, n: 4, host: 'a' })
  await worker.untilStarted(2)
  assert.deepEqual(
    worker.starts.map(({ n }) => n),
    [1, 4],
  )
})

test('one organization that waits for many hosts leaves the slots of others free', async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  for (let n = 1; n <= 40; n += 1) await enqueue(sql, asking, { org_id: loud, n, host: `host ${n}` })
  await using worker = await startHeld(2)
  await worker.untilStarted(8)
  await enqueue(sql, asking, { org_id: quiet, n: 0, host: 'host 1' })
  await worker.untilStarted(9)
  assert.equal(worker.starts.at(-1)?.org_id, quiet)
})

test('whoever is asked by one job at a time has one slot of an organization, in all workers', async () => {
  const [loud, quiet] = [randomUUID(), randomUUID()]
  const host = formatLoneParty('hanging')
  for (let n = 1; n <= 20; n += 1) {
    await enqueue(sql, asking, { org_id: loud, n, host })
    await enqueue(sql, importing, { org_id: loud, n, host })
  }
  await using one = await startHeld(4)
  await one.untilStarted(1)
  await using other = await startHeld(4)
  await enqueue(sql, asking, { org_id: loud, n: 0, host: formatLoneParty('well') })
  await enqueue(sql, asking, { org_id: quiet, n: 0, host })
  const started = () => [...one.starts, ...other.starts].map(({ org_id, name }) => `${org_id} ${name}`)
  await until('three have started', WAIT_MS_MAX, () => started().length >= 3)
  assert.deepEqual(
    started().sort(),
    [`${loud} asking ${host}`, `${loud} asking ${formatLoneParty('well')}`, `${quiet} asking ${host}`].sort(),
  )
  const running = (await listJobs(sql)).filter(({ state }) => state === 'running')
  assert.equal(running.length, 3)
})

test('imports come to an end although there is always an event of their host', async () => {
  const [org_id, host] = [randomUUID(), formatLoneParty('busy')]
  for (let n = 1; n <= 30; n += 1) await enqueue(sql, asking, { org_id, n, host })
  for (const n of [1, 2]) await enqueue(sql, importing, { org_id, n, host })
  await using worker = await startHeld(1)
  await worker.untilStarted(1)
  for (let started = 1; started < 18; started += 1) await worker.next()
  const imported = worker.starts.filter(({ name }) => name.startsWith('importing')).length
  assert.equal(imported, 2)
})

test('a host that hangs for many organizations leaves half of the slots to other hosts', async () => {
  const host = formatLoneParty('hanging')
  for (let n = 1; n <= 40; n += 1) await enqueue(sql, asking, { org_id: randomUUID(), n, host })
  await using worker = await startHeld(2)
  await worker.untilStarted(8)
  await enqueue(sql, asking, { org_id: randomUUID(), n: 0, host: formatLoneParty('well') })
  await worker.untilStarted(9)
  assert.equal(worker.starts.at(-1)?.name, `asking ${formatLoneParty('well')}`)
  assert.equal(worker.starts.length, 9)
})

test('a job whose error says when trying again can help waits until then in the queue', async () => {
  const retryAt = new Date(Date.now() + 600_000)
  const limited: Job<Start[], Payload> = {
    ...asking,
    name: 'test.limited',
    attemptsMax: 5,
    run: async () => {
      throw Object.assign(new Error('limited'), { retryAt })
    },
  }
  await enqueue(sql, limited, { org_id: randomUUID(), n: 1, host: formatLoneParty('limiting') })
  await using _worker = await startHeld(1, [limited])
  await until('it has failed', WAIT_MS_MAX, async () => (await listJobs(sql))[0]?.state === 'scheduled')
  const [job] = await listJobs(sql)
  assert.ok(job && job.seconds_left > 590 && job.seconds_left < 601, `${job?.seconds_left}`)
})

test('a worker with one slot works on both classes, interactive first', async () => {
  await enqueue(sql, bulk, { n: 1 })
  await enqueue(sql, bulk, { n: 2 })
  await enqueue(sql, interactive, { n: 3 })
  await using worker = await startHeld(1)
  await worker.untilStarted(1)
  await worker.next()
  await worker.next()
  assert.deepEqual(
    worker.starts.map(({ n }) => n),
    [3, 1, 2],
  )
})

test('organizations take turns, the system after each of them; within one, the lowest priority and the oldest come first', async () => {
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()].sort() as [string, string, string]
  for (const org_id of [a, b]) for (const n of [1, 2]) await enqueue(sql, interactive, { org_id, n })
  await enqueue(sql, { ...interactive, priority: -1 }, { org_id: b, n: 3 })
  await enqueue(sql, { ...interactive, priority: 1 }, { org_id: c, n: 4 })
  for (const n of [5, 6]) await enqueue(sql, interactive, { n })
  await using worker = await startHeld(1)
  await worker.untilStarted(1)
  for (let started = 1; started < 8; started += 1) await worker.next()
  assert.deepEqual(
    worker.starts.map(({ org_id, n }) => [org_id, n]),
    [
      [undefined, 5],
      [a, 1],
      [undefined, 6],
      [b, 3],
      [c, 4],
      [a, 2],
      [b, 1],
      [b, 2],
    ],
  )
})

test('jobs of an unknown name are left for workers that know them', async () => {
  const org_id = randomUUID()
  await enqueue(sql, { name: 'test.newer', attemptsMax: 1 }, { org_id, n: 1 })
  await enqueue(sql, interactive, { org_id, n: 2 })
  await using worker = await startHeld(2)
  await worker.untilStarted(1)
  assert.equal(worker.starts[0]?.n, 2)
  assert.deepEqual(
    (await listJobs(sql, 'test.newer')).map(({ state }) => state),
    ['ready'],
  )
})
