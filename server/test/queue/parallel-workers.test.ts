import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, beforeEach, test } from 'node:test'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { enqueue, enqueueRows, formatLoneParty } from '../../src/platform/queue/job.ts'
import { deleteFinishedJob, lockNextJob, SYSTEM_ORGANIZATION } from '../../src/platform/queue/running-jobs.store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { endWithTest } from '../support/end-with-test.ts'
import { listJobs, skipPauses } from '../support/queue.ts'
import { until } from '../support/until.ts'

const PROGRAM = new URL('../support/counting-worker-program.ts', import.meta.url).pathname
const JOBS = 400
const KILLS = 4
const ROUNDS = 5
const WAIT_MS_MAX = 120_000
const JOB = { name: 'test.count', attemptsMax: 3 }

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 4, applicationName: 'test' })
  await sql`create table counted (n int primary key, runs int not null default 0, collisions int not null default 0)`
})
beforeEach(async () => {
  await sql`truncate counted, jobs`
  await sql`insert into counted (n) select generate_series(1, ${JOBS}::int)`
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

async function startCounting(concurrency: number): Promise<ChildProcess> {
  const argument = JSON.stringify({ connection: database.connection, concurrency })
  const child = spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  endWithTest(child, 'SIGKILL')
  await Promise.race([once(child, 'message'), once(child, 'exit')])
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

const queueAll = () => sql`
  ${enqueueRows(sql, JOB, {
    payload: sql`jsonb_build_object('n', number)`,
    once: sql`number::text`,
    from: sql`generate_series(1, ${JOBS}::int) as number`,
  })}`

const untilEmpty = () =>
  until('the queue is empty', WAIT_MS_MAX, async () => {
    await skipPauses(sql)
    return (await listJobs(sql)).length === 0
  })

test('two processes of four slots run each job once', async () => {
  await queueAll()
  const workers = await Promise.all([startCounting(4), startCounting(4)])
  await untilEmpty()
  for (const worker of workers) await end(worker, 'SIGTERM')
  const wrong = await sql`select n, runs, collisions from counted where runs <> 1 or collisions > 0`
  assert.deepEqual([...wrong], [])
})

test('workers that are killed again and again lose no job, and none runs twice at the same time', async () => {
  await queueAll()
  const workers = [await startCounting(4), await startCounting(4)]
  for (let kills = 0; kills < KILLS; kills += 1) {
    await end(workers.shift() as ChildProcess, 'SIGKILL')
    workers.push(await startCounting(4))
  }
  await untilEmpty()
  for (const worker of workers) await end(worker, 'SIGTERM')
  const wrong = await sql`select n, runs, collisions from counted where runs < 1 or collisions > 0`
  assert.deepEqual([...wrong], [])
})

test('a worker that is stopped gives its jobs back, and another one runs them', async () => {
  await queueAll()
  const first = await startCounting(4)
  await end(first, 'SIGTERM')
  assert.deepEqual(
    (await listJobs(sql)).filter(({ state }) => state !== 'ready'),
    [],
  )
  const second = await startCounting(4)
  await untilEmpty()
  await end(second, 'SIGTERM')
  assert.deepEqual([...(await sql`select n from counted where runs <> 1`)], [])
})

test('a job that is queued under its key by many at the same time while workers run it is not lost', async () => {
  const workers = await Promise.all([startCounting(2), startCounting(2)])
  const once = { ...JOB, once: ({ n }: { n: number }) => `${n}` }
  for (let round = 0; round < 25; round += 1)
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sql.begin(async (tx) => {
          await enqueue(tx, once, { n: 1 + (index % 2) })
        }),
      ),
    )
  await untilEmpty()
  for (const worker of workers) await end(worker, 'SIGTERM')
  const [found] = await sql<[{ least: number }]>`select min(runs) as least from counted where n <= 2`
  assert.ok(found.least >= 1)
})

test('workers that look at the same moment start one job of those that ask a lone party', async () => {
  const asking = {
    ...JOB,
    name: 'test.ask',
    once: ({ n }: { n: number }) => `${n}`,
    waitsFor: () => formatLoneParty('host'),
  }
  for (let n = 0; n < ROUNDS * 2; n += 1) await enqueue(sql, asking, { n })
  const workers = Array.from({ length: 6 }, () => openSql(database.connection, { max: 1, applicationName: 'test' }))
  const turn = { afterOrganization: SYSTEM_ORGANIZATION, isSystemFirst: false, afterWaitedFor: '' }
  const opening = { class: 'outside' as const, turn, full: [], fullAwaited: [], fullParties: [] }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const taken = await Promise.all(
        workers.map((worker, place) =>
          lockNextJob(worker, { workerId: `${place}`, names: ['test.ask'], openings: [opening] }),
        ),
      )
      const jobs = taken.flatMap((job, place) => (job ? [{ place, id: job.id }] : []))
      assert.equal(jobs.length, 1, `round ${round}`)
      for (const { place, id } of jobs) await deleteFinishedJob(sql, `${place}`, id)
    }
  } finally {
    for (const worker of workers) await worker.end()
  }
})
