import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue, type GiveUpCause, type Job, job } from '../../src/platform/queue/job.ts'
import { INTERRUPTIONS_MAX, settleLostJobs } from '../../src/platform/queue/lost-jobs.ts'
import { integer, object } from '../../src/platform/queue/payload.ts'
import { queueStatus } from '../../src/platform/queue/queue.store.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const STOP_TIMEOUT_MS = 10_000
const POLLS_MAX = 20_000

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 2, applicationName: 'test' })
})
after(async () => {
  await sql.end()
  await database.drop()
})
afterEach(async () => {
  await sql`delete from graphile_worker._private_jobs`
})

type Recorder = {
  ran: (n: number, stopping: AbortSignal | undefined) => void | Promise<void>
  gaveUp: (n: number, cause: GiveUpCause) => unknown
}

const IDLE: Recorder = { ran() {}, gaveUp() {} }

const count = job<Recorder, { n: number }>('test.count', {
  payload: object({ n: integer }),
  attemptsMax: 2,
  run: async (recorder, { n }, stopping) => recorder.ran(n, stopping),
  giveUp: async (recorder, { n }, cause) => void recorder.gaveUp(n, cause),
})
/** Debounced: all of them are one while they wait. */
const countOnce = { ...count, name: 'test.count-once', once: () => 'all' }

const jobs: Job<Recorder, never>[] = [count, countOnce]
const log = createLog('silent')

function start(context: Partial<Recorder>) {
  return startWorker({
    databaseUrl: database.url,
    address: database.connection,
    context: { ...IDLE, ...context },
    jobs,
    scheduled: [],
    log,
    concurrency: 1,
  })
}

type Row = { attempts: number; max_attempts: number; locked_by: string | null; flags: object | null; due_s: number }

async function queued(): Promise<Row[]> {
  return sql<Row[]>`
    select attempts, max_attempts, locked_by, flags, extract(epoch from run_at - now())::float as due_s
    from graphile_worker._private_jobs
    order by id`
}

/** Takes the next try of every job for a worker that has died. */
async function dieWithEveryJob(): Promise<void> {
  await sql`
    update graphile_worker._private_jobs
    set attempts = attempts + 1, locked_by = 'pool-that-died', locked_at = now()`
}

const settle = (context: Partial<Recorder> = {}) => settleLostJobs(sql, { context: { ...IDLE, ...context }, jobs, log })

test('a job of a dead worker is run by the next worker at once', async () => {
  await enqueue(sql, count, { n: 1 })
  await dieWithEveryJob()
  const { promise: ran, resolve } = Promise.withResolvers<number>()
  const worker = await start({ ran: resolve })
  assert.equal(await ran, 1)
  await worker.stop(STOP_TIMEOUT_MS)
})

test('a job of a living worker is left alone', async () => {
  const release = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  let runs = 0
  const ran = () => {
    runs += 1
    started.resolve()
    return release.promise
  }
  const first = await start({ ran })
  await enqueue(sql, count, { n: 2 })
  await started.promise
  const second = await start({ ran })
  assert.ok((await queued())[0]?.locked_by)
  release.resolve()
  await Promise.all([first.stop(STOP_TIMEOUT_MS), second.stop(STOP_TIMEOUT_MS)])
  assert.equal(runs, 1)
})

test('after the last failed try the job is given up, once', async () => {
  const causes: GiveUpCause[] = []
  const worker = await start({
    ran: () => {
      throw new Error('no luck')
    },
    gaveUp: (_, cause) => causes.push(cause),
  })
  await enqueue(sql, { ...count, attemptsMax: 1 }, { n: 3 })
  await untilQueue(([job]) => job?.attempts === 1 && job.locked_by === null)
  await worker.stop(STOP_TIMEOUT_MS)
  assert.deepEqual(causes, [{ cause: 'failed' }])
  assert.deepEqual((await queueStatus(sql)).failed_names, ['test.count'])
})

test('an interrupted try does not count as failed, no matter how often the worker died', async () => {
  await enqueue(sql, count, { n: 4 })
  for (let times = 1; times < INTERRUPTIONS_MAX; times += 1) {
    await dieWithEveryJob()
    await settle()
    const [job] = await queued()
    assert.deepEqual([job?.attempts, job?.locked_by, job?.flags], [0, null, { interruptions: times }])
    const pauseS = 2 ** (times - 1) - 1
    assert.ok(job && job.due_s <= pauseS * 1.5 && job.due_s >= pauseS * 0.5 - 1, `${job?.due_s} s after ${times}`)
  }
})

test('a job that was interrupted too often is given up, and the log states it', async () => {
  await enqueue(sql, count, { n: 5 })
  await sql`update graphile_worker._private_jobs set flags = ${sql.json({ interruptions: INTERRUPTIONS_MAX - 1 })}`
  await dieWithEveryJob()
  const given: unknown[] = []
  await settle({ gaveUp: (n, cause) => given.push([n, cause]) })
  await settle({ gaveUp: (n, cause) => given.push([n, cause]) })
  assert.deepEqual(given, [[5, { cause: 'interrupted', times: INTERRUPTIONS_MAX }]])
  const [job] = await queued()
  assert.deepEqual([job?.attempts, job?.locked_by], [count.attemptsMax, null])
})

test('a job that cannot be given up now is given up later, and the others are settled meanwhile', async () => {
  await enqueue(sql, count, { n: 6 })
  await sql`update graphile_worker._private_jobs set flags = ${sql.json({ interruptions: INTERRUPTIONS_MAX - 1 })}`
  await enqueue(sql, count, { n: 7 })
  await dieWithEveryJob()
  await settle({
    gaveUp: () => {
      throw new Error('not now')
    },
  })
  assert.deepEqual(
    (await queued()).map(({ locked_by }) => locked_by),
    ['pool-that-died', null],
  )
  const given: number[] = []
  await settle({ gaveUp: (n) => given.push(n) })
  assert.deepEqual(given, [6])
})

test('two workers that find the same lost job count one interruption', async () => {
  await enqueue(sql, count, { n: 8 })
  await dieWithEveryJob()
  await Promise.all([settle(), settle()])
  const [job] = await queued()
  assert.deepEqual([job?.attempts, job?.flags], [0, { interruptions: 1 }])
})

test('a job that ends because its worker stops keeps its try and its position in the queue', async () => {
  const started = Promise.withResolvers<void>()
  const worker = await start({
    ran: (_, stopping) => {
      started.resolve()
      return new Promise((_, reject) => stopping?.addEventListener('abort', () => reject(new Error('stopped'))))
    },
    gaveUp: () => assert.fail('it was given up'),
  })
  await enqueue(sql, { ...count, attemptsMax: 1 }, { n: 9 })
  await started.promise
  await worker.stop(STOP_TIMEOUT_MS)
  const [job] = await queued()
  assert.deepEqual([job?.attempts, job?.locked_by, job?.flags], [0, null, null])
  assert.ok(job && job.due_s <= 0)
})

test('a job that does not end in time goes back to the queue with its try', async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const worker = await start({
    ran: () => {
      started.resolve()
      return release.promise
    },
  })
  await enqueue(sql, count, { n: 10 })
  await started.promise
  await worker.stop(1)
  const [job] = await queued()
  assert.deepEqual([job?.attempts, job?.locked_by], [0, null])
  release.resolve()
  await worker.ended
})

test('a job that a stopping worker had set aside when it was killed goes back to the queue', async () => {
  await enqueue(sql, count, { n: 11 })
  await dieWithEveryJob()
  await sql`update graphile_worker._private_jobs set locked_by = locked_by || ' stopping'`
  await settle()
  const [job] = await queued()
  assert.deepEqual([job?.attempts, job?.locked_by], [0, null])
})

test('a debounced job that was running when its worker died, and was queued again meanwhile, is not a failed job', async () => {
  await enqueue(sql, countOnce, { n: 12 })
  await dieWithEveryJob()
  await enqueue(sql, countOnce, { n: 13 })
  await settle()
  assert.equal((await queueStatus(sql)).failed, 0)
  const ran: number[] = []
  const worker = await start({ ran: (n) => void ran.push(n) })
  await untilQueue(({ length }) => length === 0)
  await worker.stop(STOP_TIMEOUT_MS)
  assert.ok(ran.includes(13))
})

test('a debounced job that failed after it was queued again is removed; one that failed for good is kept a week', async () => {
  await enqueue(sql, countOnce, { n: 14 })
  await sql`update graphile_worker._private_jobs set key = null, attempts = max_attempts, last_error = 'no luck'`
  await enqueue(sql, count, { n: 15 })
  await enqueue(sql, countOnce, { n: 16 })
  await sql`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'no luck'`
  await settle()
  assert.deepEqual((await queueStatus(sql)).failed_names, ['test.count', 'test.count-once'])
  await sql`update graphile_worker._private_jobs set updated_at = now() - interval '8 days'`
  await settle()
  assert.equal((await queued()).length, 0)
})

async function untilQueue(isReady: (rows: Row[]) => boolean): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if (isReady(await queued())) return
    await nextTurn()
  }
  throw new Error('The queue did not get there.')
}
