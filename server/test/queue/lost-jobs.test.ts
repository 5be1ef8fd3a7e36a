import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { defineJob, enqueue, type GiveUpCause, type Job } from '../../src/platform/queue/job.ts'
import { INTERRUPTIONS_MAX, settleLostJobs } from '../../src/platform/queue/lost-jobs.ts'
import { definePayload, integer } from '../../src/platform/queue/payload.ts'
import { findQueueStatus } from '../../src/platform/queue/queue.store.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { clearJobs, failJobs, listJobs, loseJobs, type StoredJob } from '../support/queue.ts'

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
  await clearJobs(sql)
})

type Recorder = {
  ran: (n: number, stopping: AbortSignal | undefined) => void | Promise<void>
  gaveUp: (n: number, cause: GiveUpCause) => unknown
}

const IDLE: Recorder = { ran() {}, gaveUp() {} }

const count = defineJob<Recorder, { n: number }>('test.count', {
  payload: definePayload({ n: integer }),
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
    address: database.connection,
    context: { ...IDLE, ...context },
    jobs,
    scheduled: [],
    log,
    concurrency: 1,
  })
}

const settle = (context: Partial<Recorder> = {}) => settleLostJobs(sql, { context: { ...IDLE, ...context }, jobs, log })

test('a job of a dead worker is run by the next worker at once', async () => {
  await enqueue(sql, count, { n: 1 })
  await loseJobs(sql)
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
  assert.ok((await listJobs(sql))[0]?.worker_id)
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
  await untilQueue(([job]) => job?.attempts === 1 && job.worker_id === null)
  await worker.stop(STOP_TIMEOUT_MS)
  assert.deepEqual(causes, [{ cause: 'failed' }])
  assert.deepEqual((await findQueueStatus(sql)).failed_names, ['test.count'])
})

test('an interrupted try does not count as failed, no matter how often the worker died', async () => {
  await enqueue(sql, count, { n: 4 })
  for (let times = 1; times < INTERRUPTIONS_MAX; times += 1) {
    await loseJobs(sql)
    await settle()
    const [job] = await listJobs(sql)
    assert.deepEqual([job?.attempts, job?.worker_id, job?.interruptions], [0, null, times])
    const pauseS = 2 ** (times - 1) - 1
    assert.ok(
      job && job.seconds_left <= pauseS * 1.5 && job.seconds_left >= pauseS * 0.5 - 1,
      `${job?.seconds_left} s after ${times}`,
    )
  }
})

test('a job that was interrupted too often is given up, and the log states it', async () => {
  await enqueue(sql, count, { n: 5 })
  await loseJobs(sql, INTERRUPTIONS_MAX - 1)
  const given: unknown[] = []
  await settle({ gaveUp: (n, cause) => given.push([n, cause]) })
  await settle({ gaveUp: (n, cause) => given.push([n, cause]) })
  assert.deepEqual(given, [[5, { cause: 'interrupted', times: INTERRUPTIONS_MAX }]])
  const [job] = await listJobs(sql)
  assert.deepEqual([job?.attempts, job?.worker_id], [count.attemptsMax, null])
})

test('a job that cannot be given up now is given up later, and the others are settled meanwhile', async () => {
  await enqueue(sql, count, { n: 6 })
  await loseJobs(sql, INTERRUPTIONS_MAX - 1)
  await enqueue(sql, count, { n: 7 })
  await loseJobs(sql)
  await settle({
    gaveUp: () => {
      throw new Error('not now')
    },
  })
  assert.deepEqual(
    (await listJobs(sql)).map(({ worker_id }) => worker_id),
    ['worker-that-died', null],
  )
  const given: number[] = []
  await settle({ gaveUp: (n) => given.push(n) })
  assert.deepEqual(given, [6])
})

test('two workers that find the same lost job count one interruption', async () => {
  await enqueue(sql, count, { n: 8 })
  await loseJobs(sql)
  await Promise.all([settle(), settle()])
  const [job] = await listJobs(sql)
  assert.deepEqual([job?.attempts, job?.interruptions], [0, 1])
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
  const [job] = await listJobs(sql)
  assert.deepEqual([job?.attempts, job?.worker_id, job?.interruptions], [0, null, 0])
  assert.ok(job && job.seconds_left <= 0)
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
  const [job] = await listJobs(sql)
  assert.deepEqual([job?.attempts, job?.worker_id], [0, null])
  release.resolve()
  await worker.ended
})

test('a debounced job that was running when its worker died, and was queued again meanwhile, is not a failed job', async () => {
  await enqueue(sql, countOnce, { n: 12 })
  await loseJobs(sql)
  await enqueue(sql, countOnce, { n: 13 })
  await settle()
  assert.equal((await findQueueStatus(sql)).failed, 0)
  const ran: number[] = []
  const worker = await start({ ran: (n) => void ran.push(n) })
  await untilQueue(({ length }) => length === 0)
  await worker.stop(STOP_TIMEOUT_MS)
  assert.ok(ran.includes(13))
})

test('a debounced job that fails after it was queued again is removed; one that failed for good is kept a week', async () => {
  const failed = Promise.withResolvers<void>()
  const worker = await start({
    ran: async (n) => {
      if (n !== 14) return
      await enqueue(sql, countOnce, { n: 16 }, 60_000)
      failed.resolve()
      throw new Error('no luck')
    },
  })
  await enqueue(sql, countOnce, { n: 14 })
  await failed.promise
  await untilQueue(([job, ...others]) => job?.payload.n === 16 && others.length === 0)
  await worker.stop(STOP_TIMEOUT_MS)
  await enqueue(sql, count, { n: 15 })
  await failJobs(sql)
  await settle()
  assert.deepEqual((await findQueueStatus(sql)).failed_names, ['test.count', 'test.count-once'])
  await sql`update jobs set updated_at = now() - interval '8 days'`
  await settle()
  assert.equal((await listJobs(sql)).length, 0)
})

test('a job that has failed and is queued again starts anew', async () => {
  await enqueue(sql, countOnce, { n: 17 })
  await failJobs(sql)
  await enqueue(sql, countOnce, { n: 18 })
  const [job, ...others] = await listJobs(sql)
  assert.deepEqual([job?.payload, job?.state, job?.attempts, job?.last_error], [{ n: 18 }, 'ready', 0, null])
  assert.deepEqual(others, [])
})

async function untilQueue(isReady: (jobs: StoredJob[]) => boolean): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if (isReady(await listJobs(sql))) return
    await nextTurn()
  }
  throw new Error('The queue did not get there.')
}
