import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Type } from 'typebox'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue } from '../../src/platform/queue/enqueue.ts'
import type { Job } from '../../src/platform/queue/job.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

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

type Recorder = { ran: (n: number) => void; gaveUp: (n: number) => void }

const count: Job<Recorder, { n: number }> = {
  name: 'test.count',
  payload: Type.Object({ n: Type.Integer() }),
  attemptsMax: 2,
  run: async (recorder, { n }) => recorder.ran(n),
  giveUp: async (recorder, { n }) => recorder.gaveUp(n),
}

function start(context: Recorder) {
  return startWorker({
    databaseUrl: database.url,
    address: database.connection,
    context,
    jobs: [count] as Job<Recorder, never>[],
    scheduled: [],
    log: createLog('silent'),
    concurrency: 1,
  })
}

test('a job that a dead worker held is done by the next worker at once, not hours later', async () => {
  await enqueue(sql, count, { n: 1 })
  const held = await sql`update graphile_worker._private_jobs set locked_by = 'worker-that-died', locked_at = now()`
  assert.equal(held.count, 1)
  const { promise: ran, resolve } = Promise.withResolvers<number>()
  const runner = await start({ ran: resolve, gaveUp: () => {} })
  assert.equal(await ran, 1)
  await runner.stop()
})

test('a job of a living worker is left alone', async () => {
  const release = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  let runs = 0
  const slow: Job<Recorder, { n: number }> = {
    ...count,
    run: async () => {
      runs += 1
      started.resolve()
      await release.promise
    },
  }
  const options = { databaseUrl: database.url, address: database.connection, context: { ran() {}, gaveUp() {} } }
  const rest = { jobs: [slow] as Job<Recorder, never>[], scheduled: [], log: createLog('silent'), concurrency: 1 }
  const first = await startWorker({ ...options, ...rest })
  await enqueue(sql, count, { n: 2 })
  await started.promise
  const second = await startWorker({ ...options, ...rest })
  const [job] = await sql`select locked_by from graphile_worker.jobs`
  assert.ok(job?.locked_by)
  release.resolve()
  await Promise.all([first.stop(), second.stop()])
  assert.equal(runs, 1)
})

test('after the last try the job gives up, once', async () => {
  const { promise: gaveUp, resolve } = Promise.withResolvers<number>()
  const runner = await start({
    ran: () => {
      throw new Error('no luck')
    },
    gaveUp: resolve,
  })
  await enqueue(sql, { ...count, attemptsMax: 1 }, { n: 3 })
  assert.equal(await gaveUp, 3)
  await runner.stop()
})
